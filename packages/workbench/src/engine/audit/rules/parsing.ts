/** What is no message, or none that is known: the error for it (JSON-RPC 2.0; transports). */
import { isObject } from "../../json.js";
import type { Audited, Members } from "../audited.js";
import { type Found, Inapplicable, type Rule } from "../rule.js";
import { errorOf, isRefused, isResponse, type RawExchange, sentAndSeen } from "../wire/raw.js";
import { ordinary } from "./ordinary.js";

/** JSON that is no request, although it wants to be one. */
function notRequests(audited: Audited): [what: string, message: Members][] {
  const proper = ordinary(audited);
  const { method, ...withoutMethod } = proper;
  return [
    ["A request without jsonrpc", { ...proper, jsonrpc: undefined, id: 9901 }],
    ["A request without a method", { ...withoutMethod, id: 9902, method_: method }],
    ["A request with a method that is no string", { ...proper, id: 9903, method: 7 }],
  ];
}

export const PARSING: readonly Rule[] = [
  {
    id: "unknown-method",
    severity: "error",
    section: "JSON-RPC 2.0, 5.1",
    title: "A method that the server does not have is error -32601",
    async run(audited) {
      const exchange = await audited.request("mica/no-such-method");
      if (errorOf(exchange)?.code === -32601) return [];
      return [
        {
          message: "A request for an unknown method is not answered with -32601",
          evidence: sentAndSeen(exchange),
          fix: 'Answer { "code": -32601, "message": "Method not found" } under the id of the request.',
        },
      ];
    },
  },
  {
    id: "parse-error",
    severity: "warning",
    section: "JSON-RPC 2.0, 5.1",
    title: "What is no JSON is error -32700",
    // Over HTTP the body of a refusal is up to the server; see http-body for its status.
    applies: "stdio",
    async run(audited) {
      const exchange = await audited.raw('{"jsonrpc":"2.0","id":1,"method":"tools/l');
      return errorOf(exchange)?.code === -32700
        ? []
        : [refusalWanted("Text that is no JSON", -32700, exchange)];
    },
  },
  {
    id: "invalid-request",
    severity: "warning",
    section: "JSON-RPC 2.0, 5.1; basic, Messages",
    title: "JSON that is no request is error -32600",
    async run(audited) {
      const found: Found[] = [];
      for (const [what, message] of notRequests(audited)) {
        const exchange = await audited.raw(message, audited.headersOf(ordinary(audited)));
        const code = errorOf(exchange)?.code ?? ownError(exchange, message["id"]);
        // Over HTTP the headers may be found wanting before, and the body is up to the server.
        const isFine = code === -32600 || (exchange.http !== undefined && isRefused(exchange));
        if (!isFine) found.push(refusalWanted(what, -32600, exchange));
      }
      return found;
    },
  },
  {
    id: "batch",
    severity: "note",
    section: "transports/stdio; transports/streamable-http, Sending Messages; changelog of 2025-06-18",
    title: "A batch is not served: the revision has none",
    async run(audited) {
      const { era, speaking } = audited;
      if (era === "legacy" && speaking.revision <= "2025-03-26")
        throw new Inapplicable("its revision has batches");
      const batch = [ordinary(audited), ordinary(audited)];
      const exchange = await audited.raw(JSON.stringify(batch), audited.headersOf(batch[0]));
      if (!exchange.messages.some((message) => isResponse(message) && "result" in message)) return [];
      return [
        {
          message: "A batch is served, which this revision does not have",
          evidence: sentAndSeen(exchange),
          fix: "Answer an array with -32600.",
        },
      ];
    },
  },
];

/** The code of an error under this id. */
function ownError({ messages }: RawExchange, id: unknown): unknown {
  const error = messages.find((message) => message["id"] === id)?.["error"];
  return isObject(error) ? error["code"] : undefined;
}

function refusalWanted(what: string, code: number, exchange: RawExchange): Found {
  return {
    message: `${what} is not answered with ${code}`,
    evidence: sentAndSeen(exchange),
    fix: `Answer an error ${code}, with the id where it can be read and without one where not, and serve on.`,
  };
}
