/** HTTP requests as such: methods, statuses, content types, notifications, sessions (transports/streamable-http). */
import type { Found, Rule } from "../rule.js";
import { Inapplicable } from "../rule.js";
import { errorOf, isRefused, isResponse, resultOf, seen, sentAndSeen } from "../wire/raw.js";
import { exchangesOf } from "./observed.js";
import { ordinary } from "./ordinary.js";

const EARLIER = "transports/streamable-http, Earlier Streamable HTTP Revisions";
const SENDING = "transports/streamable-http, Sending Messages";

export const HTTP_REQUESTS: readonly Rule[] = [
  {
    id: "http-other-methods",
    severity: "warning",
    section: EARLIER,
    title: "GET and DELETE are answered with 405",
    applies: "http",
    era: "modern",
    async run(audited) {
      if (audited.legacy) throw new Inapplicable("it also speaks revisions that have GET and DELETE");
      const found: Found[] = [];
      for (const method of ["GET", "DELETE"]) {
        const exchange = await audited.raw(
          "",
          { Accept: "text/event-stream", "Content-Type": undefined },
          { method, headOnly: true },
        );
        if (exchange.http?.status === 405) continue;
        found.push({
          message: `${method} is not answered with 405`,
          evidence: `${method}: ${seen(exchange)}`,
          fix: 'Answer with 405 and "Allow: POST".',
        });
      }
      return found;
    },
  },
  {
    id: "http-unknown-method",
    severity: "error",
    section: "transports/streamable-http, Protocol Version Header",
    title: "An unknown method has HTTP status 404",
    applies: "http",
    era: "modern",
    async run(audited) {
      const exchange = await audited.request("mica/no-such-method");
      if (errorOf(exchange)?.code !== -32601) throw new Inapplicable("it does not answer with -32601");
      if (exchange.http?.status === 404) return [];
      return [
        {
          message: "An unknown method is not answered with HTTP status 404",
          evidence: sentAndSeen(exchange),
          fix: "Answer -32601 with HTTP status 404.",
        },
      ];
    },
  },
  {
    id: "http-notification",
    severity: "error",
    section: SENDING,
    title: "A notification is accepted with 202 and no body, or refused with an error status",
    applies: "http",
    async run(audited) {
      const method = "notifications/mica/no-such-notification";
      const notification = { jsonrpc: "2.0", method, params: audited.message(method)["params"] };
      const exchange = await audited.raw(notification);
      const { status, body } = exchange.http ?? { status: 0, body: "" };
      const isRefusal =
        status >= 400 &&
        status < 500 &&
        !exchange.messages.some((one) => isResponse(one) && (one["id"] ?? null) !== null);
      if ((status === 202 && body === "") || isRefusal) return [];
      return [
        {
          message:
            status === 202
              ? "An accepted notification is answered with a body"
              : "A notification is neither accepted with 202 nor refused",
          evidence: sentAndSeen(exchange),
          fix: "Answer a notification with 202 and no body, whatever it is.",
        },
      ];
    },
  },
  {
    id: "http-answer-type",
    severity: "error",
    section: SENDING,
    title: "A request is answered with application/json or text/event-stream",
    applies: "http",
    run(audited) {
      const wrong = exchangesOf(audited).find(
        ({ http }) =>
          !/^(application\/json|text\/event-stream)\s*(;|$)/i.test(http?.headers["content-type"] ?? ""),
      );
      if (wrong === undefined) return [];
      return [
        {
          message: "A request is answered with another content type than JSON or a stream of events",
          evidence: `content-type: ${wrong.http?.headers["content-type"] ?? "(absent)"}\n${sentAndSeen(wrong)}`,
          fix: "Answer with Content-Type: application/json.",
        },
      ];
    },
  },
  {
    id: "http-body",
    severity: "error",
    section: SENDING,
    title: "A body that is no message has an error status, and does no harm",
    applies: "http",
    async run(audited) {
      const found: Found[] = [];
      for (const [what, body] of [
        ["that is no JSON", '{"jsonrpc":"2.0","id":1,"method":"tools/l'],
        ["that is empty", ""],
        ["of deeply nested JSON", `${"[".repeat(20_000)}${"]".repeat(20_000)}`],
      ] as const) {
        const exchange = await audited.raw(body, audited.headersOf(ordinary(audited)));
        const status = exchange.http?.status ?? 0;
        if (status >= 400 && status < 500) continue;
        found.push({
          message: `A body ${what} is not answered with a status from 400 to 499`,
          evidence: sentAndSeen(exchange),
          fix: "Answer with 400, and error -32700 or -32600 without an id.",
        });
      }
      const after = await audited.raw(ordinary(audited));
      if (resultOf(after) === undefined)
        found.push({
          message: "After bodies that are no messages nothing is served any more",
          evidence: sentAndSeen(after),
          fix: "Catch what fails in reading a body.",
        });
      return found;
    },
  },
  {
    id: "http-request-type",
    severity: "note",
    section: "transports/streamable-http, Security & Endpoint",
    title: "A body that says to be text is not served",
    applies: "http",
    async run(audited) {
      const exchange = await audited.raw(ordinary(audited), { "Content-Type": "text/plain" });
      if (isRefused(exchange)) return [];
      return [
        {
          message: "A request with Content-Type: text/plain is served",
          evidence: sentAndSeen(exchange),
          fix: "Answer with 415: any page may send text/plain to any address without asking, application/json not.",
        },
      ];
    },
  },
  {
    id: "http-ids-independent",
    severity: "error",
    section: "basic, Statelessness",
    title: "Two callers may use the same id at the same time",
    applies: "http",
    era: "modern",
    async run(audited) {
      const methods = Object.values(audited.catalogue).flatMap((listing) => listing?.method ?? []);
      const [first, second] = [...(audited.speaking.discovered ? ["server/discover"] : []), ...methods];
      if (first === undefined || second === undefined)
        throw new Inapplicable("it has too few methods to tell apart");
      const ask = (method: string) => audited.raw({ ...audited.message(method), id: 1 });
      const [alone, otherAlone] = [await ask(first), await ask(second)];
      const [together, otherTogether] = await Promise.all([ask(first), ask(second)]);
      for (const [before, after] of [
        [alone, together],
        [otherAlone, otherTogether],
      ] as const) {
        if (keys(before) === keys(after)) continue;
        return [
          {
            message: "Two requests with the same id at the same time get in each other's way",
            evidence: `${sentAndSeen(after)}\nwhile another request with the id 1 was under way; alone: ${seen(before, 200)}`,
            fix: "Keep what is under way by request, not by id: ids are unique for one sender only.",
          },
        ];
      }
      return [];
    },
  },
  {
    id: "http-no-session",
    severity: "warning",
    section: EARLIER,
    title: "Session ids are ignored, and none are given",
    applies: "http",
    era: "modern",
    async run(audited) {
      const found: Found[] = [];
      const plain = await audited.raw(ordinary(audited));
      const given = await audited.raw(ordinary(audited), {
        "Mcp-Session-Id": "mica-audit-no-such-session",
      });
      for (const { http } of [plain, given]) {
        const session = http?.headers["mcp-session-id"];
        if (session === undefined || found.length > 0) continue;
        found.push({
          message: "An answer carries an Mcp-Session-Id",
          evidence: `HTTP ${http?.status}, mcp-session-id: ${session}`,
          fix: "Send no Mcp-Session-Id: there are no sessions since 2026-07-28.",
        });
      }
      if (resultOf(given) === undefined && resultOf(plain) !== undefined)
        found.push({
          message: "A request with an Mcp-Session-Id is refused",
          evidence: `Mcp-Session-Id: mica-audit-no-such-session\n${sentAndSeen(given)}`,
          fix: "Ignore Mcp-Session-Id in requests of this revision.",
        });
      return found;
    },
  },
];

/** What a result is about: its members. */
function keys(exchange: Parameters<typeof resultOf>[0]): string {
  return Object.keys(resultOf(exchange) ?? {})
    .sort()
    .join(",");
}
