/** `_meta` of requests: what has to be there, and what has not (basic, _meta). */
import { isObject } from "../../json.js";
import { CLIENT_INFO, META } from "../../request-meta.js";
import type { Audited, Members } from "../audited.js";
import { type Found, Inapplicable, type Rule } from "../rule.js";
import { errorOf, isRefused, type RawExchange, sentAndSeen } from "../wire/raw.js";
import { ordinary } from "./ordinary.js";

const SECTION = "basic, _meta, Per-request protocol fields";

export const ENVELOPE: readonly Rule[] = [
  {
    id: "meta-required",
    severity: "error",
    section: SECTION,
    title: "A request without the required fields of _meta is error -32602",
    era: "modern",
    async run(audited) {
      const { revision } = audited.speaking;
      const without: [what: string, params: Members][] = [
        ["_meta", {}],
        [META.version, { _meta: { [META.client]: CLIENT_INFO, [META.capabilities]: {} } }],
        [META.capabilities, { _meta: { [META.client]: CLIENT_INFO, [META.version]: revision } }],
      ];
      const found: Found[] = [];
      for (const [what, params] of without) {
        const exchange = await sendAs(audited, params);
        // Without the version it may be taken for a message of an earlier revision, where the server speaks such.
        const isEitherEra = audited.legacy !== undefined && what !== META.capabilities;
        const code = errorOf(exchange)?.code;
        const isFine = code === -32602 || (isEitherEra && isRefused(exchange));
        if (!isFine) {
          found.push({
            message: `A request without ${what} is not answered with -32602`,
            evidence: sentAndSeen(exchange),
            fix: `Answer -32602 naming ${what}${exchange.http ? ", with HTTP status 400" : ""}.`,
          });
        } else if (code === -32602 && exchange.http && exchange.http.status !== 400) {
          found.push({
            message: `A request without ${what} is not answered with HTTP status 400`,
            evidence: sentAndSeen(exchange),
            fix: "Answer with HTTP status 400.",
          });
        }
      }
      return found;
    },
  },
  {
    id: "meta-optional",
    severity: "error",
    section: SECTION,
    title: "A request needs no clientInfo, and may have keys of its own in _meta",
    era: "modern",
    async run(audited) {
      const { revision } = audited.speaking;
      const required = { [META.version]: revision, [META.capabilities]: {} };
      const fine: [what: string, meta: Members][] = [
        [`without ${META.client}`, required],
        ["with a key of its own in _meta", { ...required, "com.example/mica": "audit" }],
        [
          "with an unknown client capability",
          { ...required, [META.capabilities]: { experimental: { "com.example/x": {} } } },
        ],
      ];
      const found: Found[] = [];
      for (const [what, _meta] of fine) {
        const exchange = await sendAs(audited, { _meta });
        if (isObject(exchange.response?.["result"])) continue;
        found.push({
          message: `A request ${what} is refused`,
          evidence: sentAndSeen(exchange),
          fix: "Require the protocol version and the client capabilities, and nothing else.",
        });
      }
      return found;
    },
  },
  {
    id: "log-level-invalid",
    severity: "warning",
    section: "utilities/logging, Error Handling",
    title: "An unknown log level is error -32602",
    era: "modern",
    async run(audited) {
      if (audited.speaking.capabilities["logging"] === undefined)
        throw new Inapplicable("it declares no logging");
      const exchange = await audited.raw(
        ordinary(audited, {
          _meta: { "io.modelcontextprotocol/logLevel": "loudest" },
        }),
      );
      if (errorOf(exchange)?.code === -32602) return [];
      return [
        {
          message: "A request with an unknown log level is not answered with -32602",
          evidence: sentAndSeen(exchange),
          fix: "Check io.modelcontextprotocol/logLevel against the eight levels of RFC 5424.",
        },
      ];
    },
  },
];

/** An ordinary request with exactly these params, and the headers of a proper one. */
function sendAs(audited: Audited, params: Members): Promise<RawExchange> {
  const proper = ordinary(audited);
  return audited.raw({ ...proper, params }, audited.headersOf(proper));
}
