/** `subscriptions/listen`: acknowledged first, under its id, and silent once it is cancelled (patterns/subscriptions). */
import { isObject } from "../../json.js";
import { META } from "../../request-meta.js";
import type { Audited, Members, Request } from "../audited.js";
import { type Found, Inapplicable, type Rule } from "../rule.js";
import { isResponse, messagesIn, type RawExchange } from "../wire/raw.js";
import { quoted } from "./observed.js";

const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";
const SECTION = "patterns/subscriptions";
/** Milliseconds in which nothing may come any more. */
const SILENCE_MS = 400;

export const SUBSCRIBING: readonly Rule[] = [
  {
    id: "listen-acknowledged",
    severity: "error",
    section: `${SECTION}, Acknowledgment`,
    title: "subscriptions/listen is acknowledged first, under its id",
    era: "modern",
    async run(audited) {
      const { request, texts } = await listen(audited);
      const messages = messagesIn(texts);
      const [first] = messages;
      const evidence = `sent ${JSON.stringify(request)}\ngot  ${texts.length > 0 ? quoted(texts.join("\n")) : "nothing"}`;
      const problem = (message: string, fix: string): Found => ({ message, evidence, fix });
      if (first === undefined || first["method"] !== ACKNOWLEDGED) {
        const isRefusal = first !== undefined && isResponse(first) && "error" in first;
        return [
          problem(
            isRefusal
              ? "Changes are declared, and subscriptions/listen is refused"
              : `The first message of a subscription is not ${ACKNOWLEDGED}`,
            `Send ${ACKNOWLEDGED} before anything else, with the part of the filter that is honoured.`,
          ),
        ];
      }
      const params = isObject(first["params"]) ? first["params"] : {};
      const found: Found[] = [];
      if (subscriptionIn(first) !== request.id)
        found.push(
          problem(
            `The acknowledgment of a subscription lacks the id of its request in ${META.subscription}`,
            "Put the id of the listen request, as it is, into the _meta of every notification of the subscription.",
          ),
        );
      const asked = Object.keys(filterOf(audited));
      const more = Object.entries(isObject(params["notifications"]) ? params["notifications"] : {})
        .filter(
          ([name, on]) => on !== false && !asked.includes(name) && !(Array.isArray(on) && on.length === 0),
        )
        .map(([name]) => name);
      if (more.length > 0)
        found.push(
          problem(
            `The acknowledgment names what was not asked for: ${more.join(", ")}`,
            "Acknowledge at most what the filter of the request asks for.",
          ),
        );
      return found;
    },
  },
  {
    id: "sse-buffering",
    severity: "warning",
    section: "transports/streamable-http, Receiving Messages",
    title: "A stream of events tells proxies not to buffer it",
    applies: "http",
    era: "modern",
    async run(audited) {
      const { http } = await listen(audited);
      if (!/^text\/event-stream\b/i.test(http?.headers["content-type"] ?? ""))
        throw new Inapplicable("no stream of events was opened");
      if (http?.headers["x-accel-buffering"] === "no") return [];
      return [
        {
          message: "A stream of events has no X-Accel-Buffering: no",
          evidence: `HTTP ${http?.status} with ${JSON.stringify(http?.headers)}`,
          fix: 'Send "X-Accel-Buffering: no" with every text/event-stream.',
        },
      ];
    },
  },
  {
    id: "cancelled-silent",
    severity: "error",
    section: "transports/stdio, Cancellation",
    title: "Nothing more is sent for a request that was cancelled",
    applies: "stdio",
    era: "modern",
    async run(audited) {
      const request = listenRequest(audited);
      const { child, texts } = await openOnLines(audited, request);
      if (messagesIn(texts()).some(isResponse)) throw new Inapplicable("its subscriptions end by themselves");
      const open = texts().length;
      child.write({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: request.id } });
      const isOfRequest = (text: string) =>
        messagesIn([text]).some(
          (message) => message["id"] === request.id || subscriptionIn(message) === request.id,
        );
      const late = await child.until(() => texts().slice(open).find(isOfRequest), SILENCE_MS);
      if (late === undefined) return [];
      return [
        {
          message: "After its cancellation something is sent for a request",
          evidence: `sent notifications/cancelled for ${JSON.stringify(request.id)}\ngot  ${quoted(late)}`,
          fix: "Forget a cancelled request: no response, and no notification either.",
        },
      ];
    },
  },
];

/** The id of the subscription that a notification belongs to. */
function subscriptionIn({ params }: Members): unknown {
  const meta = isObject(params) ? params["_meta"] : undefined;
  return isObject(meta) ? meta[META.subscription] : undefined;
}

/** What can be subscribed to here. */
function filterOf({ speaking: { capabilities } }: Audited): Members {
  const declares = (capability: string) =>
    isObject(capabilities[capability]) && capabilities[capability]["listChanged"] === true;
  return {
    ...(declares("tools") && { toolsListChanged: true }),
    ...(declares("prompts") && { promptsListChanged: true }),
    ...(declares("resources") && { resourcesListChanged: true }),
  };
}

function listenRequest(audited: Audited): Request {
  const notifications = filterOf(audited);
  if (Object.keys(notifications).length === 0) throw new Inapplicable("it declares no changes of its lists");
  return audited.message("subscriptions/listen", { notifications });
}

interface Listening {
  readonly request: Request;
  readonly texts: readonly string[];
  readonly http: RawExchange["http"];
}

/** Opens a subscription, reads what comes first, and closes it. */
async function listen(audited: Audited): Promise<Listening> {
  const request = listenRequest(audited);
  if (audited.binding === "http") {
    const { texts, http } = await audited.raw(request, {}, { isEnough: (data) => data.length > 0 });
    return { request, texts, http };
  }
  const { child, texts } = await openOnLines(audited, request);
  await child.kill();
  return { request, texts: texts(), http: undefined };
}

/** Opens a subscription in a process of its own, and waits for what comes first; `texts` are the lines since. */
async function openOnLines(audited: Audited, request: ReturnType<typeof listenRequest>) {
  const child = await audited.spawnSpoken("modern");
  const before = child.lines().length;
  child.write(request);
  const texts = () =>
    child
      .lines()
      .slice(before)
      .map(({ text }) => text);
  await child.until(() => (messagesIn(texts()).length > 0 ? true : undefined), audited.answerMs);
  return { child, texts };
}
