/** `mica listen`: shows what changes on a server, as it says so (patterns/subscriptions). */
import type { LoggingMessageParams, SubscriptionEvent, SubscriptionFilter } from "mica-mcp/client";
import { pause } from "../../engine/pause.js";
import type { ListName } from "../options.js";
import type { Screen } from "../screen.js";
import { safeJson, visibleLine } from "../terminal.js";
import type { Answer, VerbContext } from "../verb.js";

/** Exit code of Ctrl-C, which is how listening ends. */
const INTERRUPTED = 130;
/** Milliseconds before a subscription that the server ended is opened again. */
const AGAIN_MS = 1_000;

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
  | { readonly type: "ended"; readonly again: boolean };

export async function run({ target, options, screen, signal, open }: VerbContext): Promise<Answer> {
  const { client } = await open();
  const { forMs, count = Number.POSITIVE_INFINITY, timeoutMs, logLevel } = options;
  const over = new AbortController();
  const end = () => over.abort();
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  const timer = forMs === undefined ? undefined : setTimeout(end, forMs);
  const mayOpenAgain = target.kind === "url";
  let seen = 0;
  let acknowledged: SubscriptionFilter = {};
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

  try {
    while (!over.signal.aborted) {
      const subscription = client.listen(filterOf(options), {
        signal: over.signal,
        timeoutMs,
        // A command that has ended is gone; it is not started again behind the back of whoever watches it.
        reopen: mayOpenAgain,
        ...(logLevel && { logLevel, onLog: (message) => take({ type: "log", message }) }),
      });
      acknowledged = await subscription.acknowledged;
      show({ type: "listening", acknowledged });
      for await (const event of subscription) take(event);
      if (over.signal.aborted) break;
      show({ type: "ended", again: mayOpenAgain });
      if (!mayOpenAgain) break;
      await pause(AGAIN_MS, over.signal);
    }
  } catch (error) {
    const isOver = over.signal.aborted && (!signal.aborted || signal.reason === INTERRUPTED);
    if (!isOver) throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
  await writing;
  if (signal.aborted && signal.reason !== INTERRUPTED) throw signal.reason;
  return { result: { acknowledged, events: seen }, print: async () => {} };
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
  const at = new Date().toISOString();
  if (json)
    return out.write(`${safeJson(JSON.stringify({ mica: 1, verb: "listen", event: { at, ...event } }))}\n`);
  const line = `${at.slice(11, 23)} ${eventText(event)}`;
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
    case "overflow":
      return `${event.dropped} events were dropped: they came faster than they could be shown`;
    case "reopened":
      return "the connection was lost and is open again: anything may have changed in between";
    case "ended":
      return `the server ended the subscription${event.again ? "; subscribing again" : ""}`;
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
