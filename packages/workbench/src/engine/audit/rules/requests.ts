/** How requests and notifications are answered: under their ids, with the right errors, or not at all (basic, Messages). */
import type { Audited, Members } from "../audited.js";
import type { Found, Rule } from "../rule.js";
import { errorOf, isResponse, type RawExchange, sentAndSeen } from "../wire/raw.js";
import { ordinary } from "./ordinary.js";

const IDS: readonly (string | number)[] = [0, -1, "", "0", "a b", "é\u{1f600}", Number.MAX_SAFE_INTEGER];
/** A name that no server has. */
const NO_NAME = "mica_audit_no_such_name";

/** Codes that this revision defines among those that it reserves (basic, Error Codes). */
const DEFINED: readonly number[] = [-32020, -32021, -32022];
/** Codes of earlier revisions that must not be used any more. */
const RETIRED: readonly number[] = [-32002, -32042];

export const REQUESTS: readonly Rule[] = [
  {
    id: "request-ids",
    severity: "error",
    section: "basic, Requests; Responses",
    title: "Every string and integer is an id, and comes back as it was",
    async run(audited) {
      const found: Found[] = [];
      for (const id of IDS) {
        const exchange = await audited.raw({ ...ordinary(audited), id });
        if (exchange.response?.["id"] === id) continue;
        found.push({
          message: `A request with the id ${JSON.stringify(id)} is not answered under that id`,
          evidence: sentAndSeen(exchange),
          fix: "Take the id as it stands in the JSON, and compare ids by type and value; 0 and the empty string are ids.",
        });
      }
      return found;
    },
  },
  {
    id: "notifications-unanswered",
    severity: "error",
    section: "basic, Notifications; patterns/cancellation",
    title: "Notifications are not answered, whatever they are",
    applies: "stdio",
    async run(audited) {
      const found: Found[] = [];
      for (const [what, message] of notifications(audited)) {
        const exchange = await audited.raw(message);
        const answer = exchange.messages.find(isResponse);
        if (answer === undefined && exchange.ended === undefined) continue;
        found.push({
          message: answer ? `${what} is answered` : `After ${lowerFirst(what)} nothing is served any more`,
          evidence: sentAndSeen(exchange),
          fix: "Ignore notifications that mean nothing here; only what has an id is answered.",
        });
      }
      return found;
    },
  },
  {
    id: "error-codes",
    severity: "error",
    section: "basic, Error Codes",
    title: "Of the codes that the protocol reserves, only defined ones are used",
    era: "modern",
    async run(audited) {
      const found: Found[] = [];
      for (const exchange of await provoked(audited)) {
        const code = errorOf(exchange)?.code;
        if (typeof code !== "number") continue;
        const isReserved = code <= -32020 && code >= -32099 && !DEFINED.includes(code);
        const isOld = code <= -32000 && code >= -32019;
        if (!isReserved && !isOld) continue;
        const isRetired = RETIRED.includes(code);
        found.push({
          message: `The error code ${code} is ${isRetired ? "one of earlier revisions" : isReserved ? "reserved and not defined" : "in the range that is not to be used any more"}`,
          evidence: sentAndSeen(exchange),
          fix: "Use a code of JSON-RPC (-32602 for bad parameters), or one outside of -32768 to -32000.",
          severity: isReserved || isRetired ? "error" : "warning",
        });
      }
      return found;
    },
  },
];

/** Requests that can only fail. */
async function provoked(audited: Audited): Promise<RawExchange[]> {
  const { catalogue } = audited;
  const requests: [method: string, params: Members][] = [["mica/no-such-method", {}]];
  if (catalogue.tools) requests.push(["tools/call", { name: NO_NAME, arguments: {} }]);
  if (catalogue.prompts) requests.push(["prompts/get", { name: NO_NAME }]);
  for (const listing of Object.values(catalogue)) {
    if (listing) requests.push([listing.method, { cursor: "mica-audit-no-such-cursor" }]);
  }
  const exchanges: RawExchange[] = [];
  for (const [method, params] of requests) exchanges.push(await audited.request(method, params));
  return exchanges;
}

function notifications(audited: Audited): [what: string, message: Members][] {
  const request = ordinary(audited);
  return [
    ["An unknown notification", { jsonrpc: "2.0", method: "notifications/mica/no-such-notification" }],
    [
      "The cancellation of a request that is not under way",
      {
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: "mica-audit-no-such-request" },
      },
    ],
    ["A notification with the name of a request", { ...request, id: undefined }],
  ];
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);
