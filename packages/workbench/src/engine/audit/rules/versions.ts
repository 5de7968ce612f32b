/** Which revision is spoken, and how that is found out (basic/versioning, server/discover). */
import { isObject } from "../../json.js";
import { META } from "../../request-meta.js";
import { type Found, Inapplicable, type Rule } from "../rule.js";
import { initializeRequest } from "../wire/envelope.js";
import { errorOf, seen, sentAndSeen } from "../wire/raw.js";
import { ordinary } from "./ordinary.js";

const UNKNOWN = "1900-01-01";

export const VERSIONS: readonly Rule[] = [
  {
    id: "discover-missing",
    severity: "error",
    section: "basic/versioning, Protocol Version Negotiation; server/discover",
    title: "server/discover is there",
    era: "modern",
    run({ speaking }) {
      if (speaking.discovered) return [];
      return [
        {
          message: "Requests are served without a handshake, and server/discover is not",
          evidence: seen(speaking.opening),
          fix: "Implement server/discover: clients tell the era of a server by it.",
        },
      ];
    },
  },
  {
    id: "discover-result",
    severity: "error",
    section: "server/discover, Data Types",
    title: "server/discover names the versions and the capabilities",
    era: "modern",
    run({ speaking: { discovered, result, opening, revision } }) {
      if (!discovered) throw new Inapplicable("it has no server/discover");
      const { supportedVersions: versions, capabilities } = result;
      const problems: string[] = [];
      if (!Array.isArray(versions) || !versions.every((one) => typeof one === "string"))
        problems.push("supportedVersions is no array of strings");
      else if (!versions.includes(revision))
        problems.push(`supportedVersions lacks the ${revision} that is served`);
      if (!isObject(capabilities)) problems.push("capabilities is no object");
      return problems.map((problem) => ({
        message: `The result of server/discover: ${problem}`,
        evidence: seen(opening),
        fix: 'Answer { "supportedVersions": [...], "capabilities": {...} }, with every version that is served.',
      }));
    },
  },
  {
    id: "unsupported-version",
    severity: "error",
    section: "basic/versioning, Protocol Version Negotiation",
    title: "A version that is not spoken is error -32022, which lists those that are",
    era: "modern",
    async run(audited) {
      const exchange = await audited.raw(ordinary(audited, { _meta: { [META.version]: UNKNOWN } }));
      const error = errorOf(exchange);
      const data = isObject(error?.data) ? error.data : {};
      const supported = data["supported"];
      const fix = `Answer { "code": -32022, "data": { "supported": [...], "requested": "${UNKNOWN}" } }.`;
      const problem = (message: string): Found => ({ message, evidence: sentAndSeen(exchange), fix });
      if (error?.code !== -32022)
        return [problem("A version that nobody speaks is not answered with -32022")];
      const found: Found[] = [];
      const lists =
        Array.isArray(supported) && supported.length > 0 && supported.every((one) => typeof one === "string");
      if (!lists)
        found.push(problem("The error for an unsupported version lists no versions in data.supported"));
      if (data["requested"] !== UNKNOWN)
        found.push(problem("The error for an unsupported version does not say data.requested"));
      if (exchange.http && exchange.http.status !== 400)
        found.push({
          ...problem("An unsupported version is not answered with HTTP status 400"),
          fix: "Answer with HTTP status 400.",
        });
      return found;
    },
  },
  {
    id: "initialize-refusal",
    severity: "warning",
    section: "basic/versioning, Backward Compatibility with Initialization-Based Versions",
    title: "The refusal of initialize names the versions that are spoken",
    era: "modern",
    async run(audited) {
      if (audited.legacy) throw new Inapplicable("it serves initialize");
      const exchange = await audited.raw(initializeRequest("mica-initialize"), {
        "MCP-Protocol-Version": undefined,
        "Mcp-Method": undefined,
      });
      const error = JSON.stringify(exchange.response?.["error"] ?? "");
      if (/\b20\d\d-\d\d-\d\d\b/.test(error)) return [];
      return [
        {
          message: "The error for initialize names no version that the server speaks",
          evidence: sentAndSeen(exchange),
          fix: "Name the supported versions in the message of the error: it is all that people with an older client see.",
        },
      ];
    },
  },
];
