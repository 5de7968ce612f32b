/** What holds for every message of a server: its shape, and that somebody asked for it (basic, Messages). */
import { isObject } from "../../json.js";
import { META } from "../../request-meta.js";
import type { Audited } from "../audited.js";
import type { Found, Rule } from "../rule.js";
import { isResponse, resultOf } from "../wire/raw.js";
import { lifeOf } from "./life.js";
import { exchangesOf, type Observed, observed, quoted } from "./observed.js";

/** The notifications of servers, each of which has to be asked for. */
const ASKED_FOR =
  /^notifications\/(message|progress|(tools|resources|prompts)\/list_changed|resources\/updated|subscriptions\/acknowledged)$/;

export const TRAFFIC: readonly Rule[] = [
  {
    id: "response-shape",
    severity: "error",
    section: "basic, Responses",
    title:
      "A response has jsonrpc, an id, and either a result or an error with an integer code and a message",
    async run(audited) {
      const responses = (await observed(audited)).filter(({ message }) => isResponse(message));
      return first(responses, ({ message }) => shapeProblem(message), "Build every response in one place.");
    },
  },
  {
    id: "server-requests",
    severity: "error",
    section: "transports/stdio, Receiving Messages; transports/streamable-http, Receiving Messages",
    title: "The server sends no requests",
    era: "modern",
    async run(audited) {
      return first(
        await observed(audited),
        ({ message }) =>
          "method" in message && "id" in message
            ? `The server sends a request: ${String(message["method"])}`
            : undefined,
        "Ask for input with an InputRequiredResult (patterns/mrtr).",
      );
    },
  },
  {
    id: "unasked-notifications",
    severity: "error",
    section: "patterns/subscriptions, Opening a Stream; utilities/logging, Per-request log level",
    title: "Notifications are sent only where the client asked for them",
    era: "modern",
    async run(audited) {
      return first(
        await observed(audited),
        ({ message }) => {
          const { method } = message;
          return typeof method === "string" && ASKED_FOR.test(method) && !("id" in message)
            ? `${method} is sent although nobody asked for it`
            : undefined;
        },
        "Send log messages where a request has a logLevel, progress where it has a progressToken, and changes on a subscriptions/listen that asked for them.",
      );
    },
  },
  {
    id: "answered-once",
    severity: "error",
    section: "basic, Result Responses",
    title: "Each request is answered once, and nothing else is",
    applies: "stdio",
    async run(audited) {
      const { asked } = await lifeOf(audited);
      const all = await observed(audited);
      // Requests of the server were answered too, and it may have something to say to that.
      const own = all.flatMap(({ message }) => ("method" in message ? message["id"] : []));
      const known = new Set<unknown>([...asked, ...own]);
      const answered = new Map<unknown, number>();
      return first(
        all.filter(({ message }) => isResponse(message) && (message["id"] ?? null) !== null),
        ({ message: { id } }) => {
          const times = (answered.get(id) ?? 0) + 1;
          answered.set(id, times);
          if (!known.has(id)) return "A response has an id that no request had";
          return times > 1 && asked.includes(id as string | number)
            ? "A request is answered more than once"
            : undefined;
        },
        "Send exactly one response per request, under its id.",
      );
    },
  },
  {
    id: "result-type",
    severity: "error",
    section: "basic, ResultType",
    title: "Every result says its resultType",
    era: "modern",
    run(audited) {
      return results(audited).flatMap(({ method, result, text }) =>
        result["resultType"] === "complete"
          ? []
          : {
              message: `The result of ${method} has ${"resultType" in result ? "an unknown" : "no"} resultType`,
              evidence: quoted(text),
              fix: '"resultType": "complete" belongs into every result that is final.',
            },
      );
    },
  },
  {
    id: "server-info",
    severity: "warning",
    section: "basic, _meta, Per-response protocol fields",
    title: "Every result says which server gave it",
    era: "modern",
    run(audited) {
      const without = results(audited).filter(({ result: { _meta } }) => {
        const info = isObject(_meta) ? _meta[META.server] : undefined;
        return !isObject(info) || typeof info["name"] !== "string" || typeof info["version"] !== "string";
      });
      const [one] = without;
      if (one === undefined) return [];
      return [
        {
          message: `Results have no ${META.server} with a name and a version in _meta`,
          evidence: `${without.map(({ method }) => method).join(", ")}: ${quoted(one.text, 200)}`,
          fix: `Put "${META.server}": { "name", "version" } into the _meta of every result.`,
        },
      ];
    },
  },
];

function results(audited: Audited) {
  return exchangesOf(audited).flatMap((exchange) => {
    const result = resultOf(exchange);
    const method = String((JSON.parse(exchange.sent) as { method?: unknown }).method);
    return result ? [{ method, result, text: JSON.stringify(result) }] : [];
  });
}

/** The first of each kind of problem. */
function first(
  messages: readonly Observed[],
  problemOf: (one: Observed) => string | undefined,
  fix: string,
): Found[] {
  const found = new Map<string, Found>();
  for (const one of messages) {
    const message = problemOf(one);
    if (message !== undefined && !found.has(message))
      found.set(message, { message, evidence: quoted(one.text), fix });
  }
  return [...found.values()];
}

function shapeProblem(response: Observed["message"]): string | undefined {
  if (response["jsonrpc"] !== "2.0") return 'A response has no "jsonrpc": "2.0"';
  const { error, id } = response;
  if ("result" in response && "error" in response) return "A response has both a result and an error";
  if ("result" in response) {
    if (typeof id !== "string" && typeof id !== "number") return "A result has no id";
    return isObject(response["result"]) ? undefined : "A result is no object";
  }
  if (!isObject(error)) return "An error is no object";
  if (!Number.isInteger(error["code"])) return "The code of an error is no integer";
  return typeof error["message"] === "string" ? undefined : "The message of an error is no string";
}
