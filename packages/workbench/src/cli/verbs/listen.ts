/** `mica listen`: shows what changes on a server, as it says so (patterns/subscriptions). */
import type { LoggingMessageParams, SubscriptionEvent, SubscriptionFilter } from "mica-mcp/client";
import { pause } from "../../engine/pause.js";
import type { ListName } from "../options.js";
import type { Screen } from "../screen.js";
import { safeJson, visibleLine } from "../terminal.js";
import type { Answer, VerbContext } from "../verb.js";

/** Exit code of Ctrl-C, which is how listening ends. */
const INTERRUPTED = 130;
/** Milliseconds before a subscription that has ended is opened again; doubled with each failure in a row. */
const AGAIN_MS = 500;
const MOST_AGAIN_MS = 30_000;
/** Failures in a row before it is given up. */
const ATTEMPTS = 10;

const FLAGS: Readonly<Record<ListName, "toolsListChanged" | "promptsListChanged" | "resourcesListChanged">> =
  {
    tools: "toolsListChanged",
    prompts: "promptsListChanged",
    resources: "resourcesListChanged",
  };

/** What is shown: an event of the subscription, a log message, or what became of the subscription itself. */
type Shown =
  | SubscriptionEvent
  | { readonly type: "listening"; readonly acknowledged: SubscriptionFilter }
  | { readonly type: "log"; readonly message: LoggingMessageParams }
  | { readonly type: "ended"; readonly again: boolean; readonly why?: string };

export async function run({ target, options, screen, signal, open }: VerbContext): Promise<Answer> {
  const { client } = await open();
  const { forMs, count = Number.POSITIVE_INFINITY, timeoutMs, logLevel } = options;
  const over = new AbortController();
  const end = () => over.abort();
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  const timer = forMs === undefined ? undefined : setTimeout(end, forMs);
  // A command that has ended is not started again behind the back of whoever watches it.
  const mayOpenAgain = target.kind === "url";
  let seen = 0;
  let acknowledged: SubscriptionFilter | undefined;
  let writing = Promise.resolve();

  const show = (event: Shown) => {
    writing = writing.then(() => printEvent(screen, event, options.json));
    // It is awaited at the end; nobody reads any more.
    writing.catch(end);
  };
  const take = (event: Shown) => {
    if (seen >= count) return;
    show(event);
    seen += 1;
    if (seen >= count) end();
  };
  /** Listens until the server ends it, or it is lost. */
  const listenOnce = async () => {
    const subscription = client.listen(filterOf(options), {
      signal: over.signal,
      timeoutMs,
      // Done here, so that it can be told when it happens.
      reopen: false,
      ...(logLevel && { logLevel, onLog: (message) => take({ type: "log", message }) }),
    });
    acknowledged = await subscription.acknowledged;
    show({ type: "listening", acknowledged });
    for await (const event of subscription) take(event);
  };

  try {
    for (let failures = 0; !over.signal.aborted; ) {
      const before = acknowledged;
      let why: string | undefined;
      try {
        await listenOnce();
        failures = 0;
      } catch (error) {
        if (over.signal.aborted) break;
        // Of a new subscription, the first loss counts.
        failures = acknowledged === before ? failures + 1 : 1;
        if (acknowledged === undefined || !mayOpenAgain || failures > ATTEMPTS || !isLoss(error)) throw error;
        why = (error as Error).message;
      }
      if (over.signal.aborted) break;
      show({ type: "ended", again: mayOpenAgain, ...(why !== undefined && { why }) });
      if (!mayOpenAgain) break;
      await pause(Math.min(AGAIN_MS * 2 ** Math.max(failures - 1, 0), MOST_AGAIN_MS), over.signal);
    }
    await writing;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
  if (signal.aborted && signal.reason !== INTERRUPTED) throw signal.reason;
  return { result: { acknowledged: acknowledged ?? {}, events: seen }, print: async () => {} };
}

/** Whether to try again may help. */
function isLoss(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: { status?: unknown } };
  const isRefused = typeof cause?.status === "number" && cause.status < 500;
  return !isRefused && ["connect_failed", "connection_lost", "timeout"].includes(String(code));
}

function filterOf({ resources, lists }: VerbContext["options"]): SubscriptionFilter {
  const wanted = lists.length > 0 || resources.length > 0 ? lists : (Object.keys(FLAGS) as ListName[]);
  const flags = wanted.map((list) => [FLAGS[list], true] as const);
  return {
    ...Object.fromEntries(flags),
    ...(resources.length > 0 && { resourceSubscriptions: [...resources] }),
  };
}

async function printEvent({ out, say, err }: Screen, event: Shown, json: boolean): Promise<void> {
  const now = new Date();
  const at = now.toISOString();
  if (json)
    return out.write(`${safeJson(JSON.stringify({ mica: 1, verb: "listen", event: { at, ...event } }))}\n`);
  const line = `${now.toTimeString().slice(0, 8)} ${eventText(event)}`;
  // What became of the subscription is no event of the server.
  if (event.type === "listening" || event.type === "ended" || event.type === "reopened")
    return say(err.paint.dim(line));
  return out.write(`${line}\n`);
}

function eventText(event: Shown): string {
  switch (event.type) {
    case "toolsListChanged":
      return "tools list changed";
    case "promptsListChanged":
      return "prompts list changed";
    case "resourcesListChanged":
      return "resources list changed";
    case "resourceUpdated":
      return `updated ${visibleLine(event.uri)}`;
    case "task":
      return `task ${visibleLine(event.task.taskId)} is ${visibleLine(event.task.status)}`;
    case "overflow":
      return `${event.dropped} events were dropped: they came faster than they could be shown`;
    case "reopened":
      return "the connection was lost and is open again: anything may have changed in between";
    case "ended":
      return `${event.why === undefined ? "the server ended the subscription" : visibleLine(event.why)}${event.again ? "; subscribing again" : ""}`;
    case "listening":
      return `listening for ${agreedText(event.acknowledged) || "nothing: the server offers none of what was asked for"}`;
    case "log": {
      const { level, logger, data } = event.message;
      const from = typeof logger === "string" ? ` ${visibleLine(logger)}` : "";
      return `[${visibleLine(String(level))}${from}] ${visibleLine(typeof data === "string" ? data : (JSON.stringify(data) ?? ""))}`;
    }
  }
}

function agreedText(agreed: SubscriptionFilter): string {
  const lists = (Object.keys(FLAGS) as ListName[]).filter((list) => agreed[FLAGS[list]] === true);
  const uris: unknown[] = Array.isArray(agreed.resourceSubscriptions) ? agreed.resourceSubscriptions : [];
  return [
    ...lists.map((list) => `changes of the ${list} list`),
    ...uris.map((uri) => visibleLine(String(uri))),
  ].join(", ");
}
