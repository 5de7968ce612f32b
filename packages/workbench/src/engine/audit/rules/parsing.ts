/** What is no message, or none that is known: the error for it, and that the next one is served. */
import type { Rule } from "../rule.js";
import { errorOf, seen } from "../wire/raw.js";

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
          evidence: `mica/no-such-method was answered with ${seen(exchange)}`,
          fix: 'Answer { "code": -32601, "message": "Method not found" } under the id of the request.',
        },
      ];
    },
  },
];
