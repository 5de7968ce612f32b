/** What holds in revisions that begin with `initialize`: the handshake, ping, log levels (2025-11-25 and earlier). */
import { isObject } from "../../json.js";
import { LEGACY_REVISION, MODERN_REVISION } from "../../request-meta.js";
import type { Audited } from "../audited.js";
import { type Found, Inapplicable, type Rule } from "../rule.js";
import { initializeRequest } from "../wire/envelope.js";
import { errorOf, resultOf, seen, sentAndSeen } from "../wire/raw.js";

/** The revisions that can be chosen in a handshake. */
const LEGACY_REVISIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const UNKNOWN = "1900-01-01";
const LIFECYCLE = "2025-11-25, basic/lifecycle";

export const HANDSHAKE: readonly Rule[] = [
  {
    id: "initialize-result",
    severity: "error",
    section: `${LIFECYCLE}, Initialization`,
    title: "initialize is answered with a version, the capabilities and who the server is",
    era: "legacy",
    run(audited) {
      const { opening, result } = spoken(audited);
      const { protocolVersion, capabilities, serverInfo } = result;
      const problems: string[] = [];
      if (!LEGACY_REVISIONS.includes(protocolVersion as string))
        problems.push("protocolVersion is no revision that begins with initialize");
      if (!isObject(capabilities)) problems.push("capabilities is no object");
      if (
        !isObject(serverInfo) ||
        typeof serverInfo["name"] !== "string" ||
        typeof serverInfo["version"] !== "string"
      )
        problems.push("serverInfo has no name and version");
      return problems.map((problem) => ({
        message: `The result of initialize: ${problem}`,
        evidence: seen(opening),
        fix: 'Answer { "protocolVersion", "capabilities": {...}, "serverInfo": { "name", "version" } }.',
      }));
    },
  },
  {
    id: "initialize-version",
    severity: "error",
    section: `${LIFECYCLE}, Version Negotiation`,
    title: "A version that is not spoken is answered with one that is",
    era: "legacy",
    async run(audited) {
      const found: Found[] = [];
      for (const requested of [UNKNOWN, MODERN_REVISION]) {
        const answer = await initialize(audited, requested);
        if (answer.version !== requested) continue;
        found.push({
          message: `initialize with the version ${requested} is answered with that version`,
          evidence: answer.evidence,
          fix:
            requested === MODERN_REVISION
              ? `${MODERN_REVISION} has no handshake; answer with the newest revision that has one, ${LEGACY_REVISION}.`
              : "Answer with the newest version that the server speaks.",
        });
      }
      return found;
    },
  },
  {
    id: "handshake-required",
    severity: "note",
    section: `${LIFECYCLE}, Initialization`,
    title: "Nothing but ping is served before the handshake",
    era: "legacy",
    async run(audited) {
      if (audited.modern) throw new Inapplicable("it also speaks a revision without a handshake");
      const [listing] = Object.values(audited.catalogue).filter((one) => one !== undefined);
      if (listing === undefined) throw new Inapplicable("it lists nothing");
      const request = audited.message(listing.method);
      let served: boolean;
      let evidence: string;
      if (audited.binding === "stdio") {
        const response = await audited.spawn().ask(request, audited.answerMs);
        served = response !== undefined && "result" in response;
        evidence = `sent ${JSON.stringify(request)} to a fresh process\ngot  ${JSON.stringify(response)?.slice(0, 300)}`;
      } else {
        if (audited.speaking.opening.http?.headers["mcp-session-id"] === undefined)
          throw new Inapplicable("it has no sessions");
        const exchange = await audited.raw(request, { "Mcp-Session-Id": undefined });
        served = resultOf(exchange) !== undefined;
        evidence = `without Mcp-Session-Id ${sentAndSeen(exchange)}`;
      }
      if (!served) return [];
      return [
        {
          message: `${listing.method} is served before initialize`,
          evidence,
          fix: "Refuse what comes before the handshake: clients of the current revision probe, and take such a server for one of theirs.",
        },
      ];
    },
  },
  {
    id: "ping",
    severity: "error",
    section: "2025-11-25, basic/utilities/ping",
    title: "ping is answered with an empty result",
    era: "legacy",
    async run(audited) {
      const exchange = await audited.raw(audited.message("ping", {}, "legacy"), {}, { era: "legacy" });
      const result = resultOf(exchange);
      // `_meta` may stand in any result.
      if (result && Object.keys(result).every((key) => key === "_meta")) return [];
      return [
        {
          message: "ping is not answered with an empty result",
          evidence: sentAndSeen(exchange),
          fix: 'Answer { "result": {} }.',
        },
      ];
    },
  },
  {
    id: "log-level",
    severity: "error",
    section: "2025-11-25, server/utilities/logging",
    title: "A server that logs takes a log level, and refuses one that is none",
    era: "legacy",
    async run(audited) {
      if (spoken(audited).capabilities["logging"] === undefined)
        throw new Inapplicable("it declares no logging");
      const set = (level: string) =>
        audited.raw(audited.message("logging/setLevel", { level }, "legacy"), {}, { era: "legacy" });
      const taken = await set("warning");
      if (errorOf(taken)?.code === -32601) throw new Inapplicable("logging/setLevel is an unknown method");
      const refused = await set("loudest");
      const found: Found[] = [];
      if (resultOf(taken) === undefined)
        found.push({
          message: "logging/setLevel is refused although logging is declared",
          evidence: sentAndSeen(taken),
          fix: "Implement logging/setLevel, or do not declare logging.",
        });
      if (errorOf(refused)?.code !== -32602)
        found.push({
          message: "logging/setLevel with an unknown level is not answered with -32602",
          evidence: sentAndSeen(refused),
          fix: "Check the level against the eight of RFC 5424.",
          // "Servers SHOULD return standard JSON-RPC errors".
          severity: "warning",
        });
      return found;
    },
  },
];

function spoken({ legacy }: Audited) {
  if (legacy === undefined) throw new Inapplicable("it serves no initialize");
  return legacy;
}

/** A handshake of its own: in a fresh process, or without a session. */
async function initialize(
  audited: Audited,
  requested: string,
): Promise<{ version: unknown; evidence: string }> {
  const request = initializeRequest("mica-initialize", requested);
  if (audited.binding === "stdio") {
    const response = await audited.spawn().ask(request, audited.answerMs);
    const result = response?.["result"];
    const evidence = `sent ${JSON.stringify(request)}\ngot  ${JSON.stringify(response)?.slice(0, 300)}`;
    return { version: isObject(result) ? result["protocolVersion"] : undefined, evidence };
  }
  const exchange = await audited.raw(request, {}, { era: "legacy" });
  return { version: resultOf(exchange)?.["protocolVersion"], evidence: sentAndSeen(exchange) };
}
