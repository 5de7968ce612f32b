/** Subscriptions: one stream of change notifications, opened again when it is lost (patterns/subscriptions). */
import { McpError } from "../protocol/errors.js";
import type { LoggingMessageParams, SubscriptionFilter } from "../protocol/features.js";
import { isObject } from "../protocol/jsonrpc.js";
import type { LoggingLevel, MetaObject } from "../protocol/types.js";
import { linkSignals, pause } from "./deadline.js";
import { createEventQueue } from "./event-queue.js";
import { type Send, shown } from "./exchange.js";
import { createListenReader, type SubscriptionEvent } from "./listen-reader.js";
import { type ClientLimits, checkAmount } from "./options.js";
import { resultType } from "./result.js";
import type { Warn } from "./warnings.js";

export interface ListenOptions {
  /** Ends the subscription; the loop then throws `McpError` `aborted`. */
  signal?: AbortSignal | undefined;
  /** Milliseconds in which the server must acknowledge. Default 60,000. */
  timeoutMs?: number | undefined;
  /** Whether a stream that was lost is opened again. Default true. */
  reopen?: boolean | undefined;
  /** Attempts in a row before the loop throws. Default 10. */
  reopenAttempts?: number | undefined;
  /** Receives the log messages of the subscription, and, of earlier revisions, all that belong to no request. */
  onLog?: ((message: LoggingMessageParams) => void) | undefined;
  /** Least severity asked for. */
  logLevel?: LoggingLevel | undefined;
  /** Added to the request's `_meta`. */
  _meta?: MetaObject | undefined;
}

/**
 * An open subscription. Iterate it once; leaving the loop ends it. Where the server ends it, the loop just ends;
 * where it cannot be opened (again), the loop throws.
 */
export interface Subscription extends AsyncIterableIterator<SubscriptionEvent, undefined>, AsyncDisposable {
  /** What the server agreed to notify of, as soon as it says so. */
  readonly acknowledged: Promise<SubscriptionFilter>;
  /** Ends the subscription. Safe to call twice. */
  close(): Promise<void>;
}

export interface ListenDependencies {
  readonly send: Send;
  readonly limits: ClientLimits;
  /** Aborts when the client is closed: then the loop just ends. */
  readonly closing: AbortSignal;
  /** Called for every change, before its event can be taken. */
  readonly onChange: (event: SubscriptionEvent) => void;
  /** Called when notifications may have been missed. */
  readonly onGap: (filter: SubscriptionFilter) => void;
  readonly warn: Warn;
}

/** How long a stream must have been open for its loss not to lengthen the next delay, in milliseconds. */
const STEADY_MS = 10_000;
/** How long the response may take after the server's `notifications/cancelled`, in milliseconds. */
const GRACE_MS = 1_000;

export function listen(
  given: SubscriptionFilter,
  options: ListenOptions,
  { send, limits, closing, onChange, onGap, warn }: ListenDependencies,
): Subscription {
  const filter = readFilter(given);
  const reopenAttempts = options.reopen === false ? 0 : (options.reopenAttempts ?? limits.reopenAttempts);
  checkAmount("reopenAttempts", reopenAttempts);
  const queue = createEventQueue<SubscriptionEvent>(limits.maxQueuedEvents, (dropped) => ({
    type: "overflow",
    dropped,
  }));
  const stop = linkSignals("subscriptions/listen", options.signal, closing);
  let overdue: NodeJS.Timeout | undefined;
  const reader = createListenReader({
    filter,
    warn,
    onChange: (event) => {
      if (event.type === "reopened") onGap(filter);
      else onChange(event);
      queue.push(keyOf(event), event);
    },
    onCancelled: () => {
      queue.end();
      overdue = setTimeout(stop.abort, GRACE_MS);
    },
  });
  const request = {
    signal: stop.signal,
    timeoutMs: options.timeoutMs,
    maxTimeoutMs: Number.POSITIVE_INFINITY,
    onLog: options.onLog,
    logLevel: options.logLevel,
    _meta: options._meta,
    observe: reader.observe,
  };

  const keepOpen = async () => {
    let attempts = 0;
    let delays = 0;
    for (;;) {
      const sentAt = performance.now();
      reader.expectAcknowledgement();
      try {
        resultType(
          "subscriptions/listen",
          await send("subscriptions/listen", { notifications: filter }, request),
        );
        return;
      } catch (error) {
        if (reader.cancelled) return;
        if (stop.signal.aborted) throw stop.signal.reason;
        if (!reader.everOpened || !isLoss(error)) throw error;
        onGap(filter);
        if (reader.open) attempts = 0;
        if (reader.open && performance.now() - sentAt > STEADY_MS) delays = 0;
        if (attempts >= reopenAttempts) throw lost(error as McpError, attempts);
        attempts += 1;
        delays += 1;
        await pause(delayBefore(delays, limits), stop.signal);
      }
    }
  };

  const finished = keepOpen().then(
    () => {
      reader.fail(
        new McpError("invalid_response", "subscriptions/listen ended before the server acknowledged it"),
      );
      queue.end();
    },
    (error: unknown) => {
      reader.fail(error);
      if (closing.aborted) queue.discard();
      else queue.fail(error);
    },
  );
  void finished.then(() => {
    clearTimeout(overdue);
    stop.release();
  });

  const close = () => {
    queue.discard();
    stop.abort(new McpError("closed", "The subscription was closed"));
    return finished;
  };
  const subscription: Subscription = {
    acknowledged: reader.acknowledged,
    close,
    next: queue.next,
    return: async () => {
      await close();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => subscription,
    [Symbol.asyncDispose]: close,
  };
  return subscription;
}

/** Of events with the same key that wait, the newest is kept. */
function keyOf(event: SubscriptionEvent): string {
  if (event.type === "resourceUpdated") return `${event.type} ${event.uri}`;
  return event.type === "task" ? `${event.type} ${event.task.taskId}` : event.type;
}

/** Whether opening the stream again may help: it was lost, or the server was not there. */
export function isLoss(error: unknown): boolean {
  if (!(error instanceof McpError)) return false;
  const status = (error.cause as { status?: unknown } | undefined)?.status;
  // Refusals do not go away by themselves; 408, 425 and 429 say that they do.
  if (typeof status === "number" && status < 500 && ![408, 425, 429].includes(status)) return false;
  return error.code === "connection_lost" || error.code === "connect_failed" || error.code === "timeout";
}

function lost(error: McpError, attempts: number): McpError {
  if (attempts === 0) return error;
  const again = `it could not be opened again in ${attempts} attempts`;
  return new McpError(
    "connection_lost",
    `subscriptions/listen: the stream was lost, and ${again}: ${error.message}`,
    {
      cause: error,
    },
  );
}

/** Doubling, with up to half of it taken off at random, so that clients do not return all at once. */
function delayBefore(delay: number, { reopenDelayMs, maxReopenDelayMs }: ClientLimits): number {
  return Math.min(maxReopenDelayMs, reopenDelayMs * 2 ** Math.min(delay - 1, 30)) * (1 - Math.random() / 2);
}

const FLAGS = ["toolsListChanged", "promptsListChanged", "resourcesListChanged"] as const;

const LISTS = [
  ["resourceSubscriptions", "URIs"],
  ["taskIds", "task ids"],
] as const;

/** @throws TypeError naming the field. */
function readFilter(given: SubscriptionFilter): SubscriptionFilter {
  if (!isObject(given)) throw new TypeError(`filter: expected an object, got ${shown(given)}`);
  const filter: SubscriptionFilter = {};
  for (const flag of FLAGS) {
    const value: unknown = given[flag];
    if (value !== undefined && typeof value !== "boolean") {
      throw new TypeError(`filter.${flag}: expected a boolean, got ${shown(value)}`);
    }
    if (value === true) filter[flag] = true;
  }
  for (const [list, what] of LISTS) {
    const values: unknown = given[list];
    if (values === undefined) continue;
    if (!Array.isArray(values) || values.some((value) => typeof value !== "string")) {
      throw new TypeError(`filter.${list}: expected an array of ${what}, got ${shown(values)}`);
    }
    filter[list] = [...(values as string[])];
  }
  return filter;
}
