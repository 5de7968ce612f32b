/** Reads what arrives on a subscription's stream: its acknowledgement, its events, its end (patterns/subscriptions). */
import type { SubscriptionFilter } from "../protocol/features.js";
import { isObject } from "../protocol/jsonrpc.js";
import { MetaKey } from "../protocol/meta.js";
import type { DetailedTask } from "../protocol/tasks.js";
import type { JSONRPCNotification, RequestId } from "../protocol/types.js";
import type { Clock } from "./running.js";
import type { Warn } from "./warnings.js";

/** What a subscription yields. Of equal events that wait to be taken, one is kept. */
export type SubscriptionEvent =
  | { readonly type: "toolsListChanged" }
  | { readonly type: "promptsListChanged" }
  | { readonly type: "resourcesListChanged" }
  /** `uri` may be a part of what was subscribed to. */
  | { readonly type: "resourceUpdated"; readonly uri: string }
  /** The state of a task, in full. */
  | { readonly type: "task"; readonly task: DetailedTask }
  /** The stream was lost and is open again: anything may have changed in between. */
  | { readonly type: "reopened"; readonly acknowledged: SubscriptionFilter }
  /** More events waited than are kept, so that they were dropped: anything may have changed. */
  | { readonly type: "overflow"; readonly dropped: number };

export interface ListenReader {
  readonly observe: (notification: JSONRPCNotification, id: RequestId, clock: Clock) => void;
  /** Settles with the first acknowledgement. */
  readonly acknowledged: Promise<SubscriptionFilter>;
  /** Whether the present stream was acknowledged. */
  readonly open: boolean;
  readonly everOpened: boolean;
  /** Whether the server ended the subscription by a notification. */
  readonly cancelled: boolean;
  /** A new stream is about to be opened. */
  expectAcknowledgement(): void;
  /** Rejects `acknowledged`, where nothing was acknowledged. */
  fail(error: unknown): void;
}

export interface ListenReaderOptions {
  readonly filter: SubscriptionFilter;
  readonly onChange: (event: SubscriptionEvent) => void;
  /** Called once, when the server ends the subscription by a notification. */
  readonly onCancelled: () => void;
  readonly warn: Warn;
}

const LIST_EVENTS = new Map([
  ["notifications/tools/list_changed", { type: "toolsListChanged" }],
  ["notifications/prompts/list_changed", { type: "promptsListChanged" }],
  ["notifications/resources/list_changed", { type: "resourcesListChanged" }],
] as const satisfies [string, SubscriptionEvent & { type: keyof SubscriptionFilter }][]);

export function createListenReader({
  filter,
  onChange,
  onCancelled,
  warn,
}: ListenReaderOptions): ListenReader {
  let open = false;
  let everOpened = false;
  let cancelled = false;
  let resolve!: (agreed: SubscriptionFilter) => void;
  let fail!: (error: unknown) => void;
  const acknowledged = new Promise<SubscriptionFilter>((onResolve, onReject) => {
    resolve = onResolve;
    fail = onReject;
  });
  // Whoever only iterates learns of the failure there.
  acknowledged.catch(() => {});

  const acknowledge = (agreed: SubscriptionFilter, clock: Clock) => {
    clock.stop();
    const reopened = everOpened && !open;
    open = true;
    everOpened = true;
    resolve(agreed);
    warnOfLess(filter, agreed, warn);
    if (reopened) onChange({ type: "reopened", acknowledged: agreed });
  };

  return {
    acknowledged,
    fail,
    get open() {
      return open;
    },
    get everOpened() {
      return everOpened;
    },
    get cancelled() {
      return cancelled;
    },
    expectAcknowledgement() {
      open = false;
    },
    observe({ method, params = {} }, id, clock) {
      // "Server-sent cancellation notifications MUST reference a `subscriptions/listen` request."
      if (method === "notifications/cancelled") {
        if (params["requestId"] !== id || cancelled) return;
        cancelled = true;
        onCancelled();
        return;
      }
      const subscription = isObject(params["_meta"]) ? params["_meta"][MetaKey.subscriptionId] : undefined;
      if (subscription !== undefined && subscription !== id) return;
      if (method === "notifications/subscriptions/acknowledged") {
        const agreed = params["notifications"];
        acknowledge(isObject(agreed) ? agreed : {}, clock);
      } else if (method === "notifications/resources/updated") {
        const uri = params["uri"];
        if (typeof uri === "string") onChange({ type: "resourceUpdated", uri });
      } else if (method === "notifications/tasks") {
        const { _meta, ...task } = params;
        if (filter.taskIds?.includes(task["taskId"] as string)) {
          onChange({ type: "task", task: task as unknown as DetailedTask });
        }
      } else {
        const event = LIST_EVENTS.get(method as never);
        // "The server MUST NOT send notification types the client has not explicitly requested."
        if (event !== undefined && filter[event.type]) onChange(event);
      }
    },
  };
}

/** "The client SHOULD check the acknowledged filter against what it requested." */
function warnOfLess(asked: SubscriptionFilter, agreed: SubscriptionFilter, warn: Warn): void {
  const missing: string[] = [];
  for (const [name, value] of Object.entries(asked)) {
    if (value === true && agreed[name as keyof SubscriptionFilter] !== true) missing.push(name);
  }
  for (const list of ["resourceSubscriptions", "taskIds"] as const) {
    const granted: unknown = agreed[list];
    const values = Array.isArray(granted) ? granted : [];
    missing.push(...(asked[list] ?? []).filter((value) => !values.includes(value)));
  }
  if (missing.length === 0) return;
  warn(
    "subscription_reduced",
    `The server will not notify of everything that was asked for; missing: ${missing.join(", ")}`,
  );
}
