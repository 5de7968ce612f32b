/** HTTP of the revisions that begin with `initialize`: sessions, the stream of GET, the version in a header (2025-11-25). */
import { type Found, Inapplicable, type Rule } from "../rule.js";
import { initializeRequest } from "../wire/envelope.js";
import { sentAndSeen } from "../wire/raw.js";

export const HTTP_EARLIER: readonly Rule[] = [
  {
    id: "http-get-stream",
    severity: "error",
    section: "2025-11-25, basic/transports, Listening for Messages from the Server",
    title: "GET opens a stream of events, or is answered with 405",
    applies: "http",
    era: "legacy",
    async run(audited) {
      const session = audited.headersOf({}, "legacy");
      const exchange = await audited.raw(
        "",
        { ...session, Accept: "text/event-stream", "Content-Type": undefined },
        { era: "legacy", method: "GET", headOnly: true },
      );
      const status = exchange.http?.status;
      const type = exchange.http?.headers["content-type"] ?? "";
      const isStream = status === 200 && /^text\/event-stream\b/i.test(type);
      if (isStream || status === 405) return [];
      return [
        {
          message: "GET neither opens a stream of events nor is answered with 405",
          evidence: `GET: HTTP ${status}, content-type ${type || "(absent)"}: ${exchange.http?.body.slice(0, 200)}`,
          fix: "Answer with 405 where there is no stream to open.",
        },
      ];
    },
  },
  {
    id: "http-legacy-version",
    severity: "error",
    section: "2025-11-25, basic/transports, Protocol Version Header",
    title: "A version that is not spoken is refused with 400 in the header of earlier revisions too",
    applies: "http",
    era: "legacy",
    async run(audited) {
      const request = audited.message("ping", {}, "legacy");
      const exchange = await audited.raw(
        request,
        { "MCP-Protocol-Version": "1900-01-01" },
        { era: "legacy" },
      );
      if (exchange.http?.status === 400) return [];
      // The header came with 2025-06-18.
      if ((audited.legacy?.revision ?? "") < "2025-06-18")
        throw new Inapplicable("its revision does not have the header");
      return [
        {
          message: "A version that nobody speaks is not refused with 400 in MCP-Protocol-Version",
          evidence: `MCP-Protocol-Version: 1900-01-01\n${sentAndSeen(exchange)}`,
          fix: "Answer 400 where MCP-Protocol-Version is none of the versions that are spoken.",
        },
      ];
    },
  },
  {
    id: "session-ids",
    severity: "error",
    section: "2025-11-25, basic/transports, Session Management",
    title: "A session that was ended is 404, and no two have one id",
    applies: "http",
    era: "legacy",
    async run(audited) {
      const open = () => audited.raw(initializeRequest("mica-session"), {}, { era: "legacy" });
      const ids = [await open(), await open()].map(({ http }) => http?.headers["mcp-session-id"]);
      const [first, second] = ids;
      if (first === undefined || second === undefined) throw new Inapplicable("it has no sessions");
      const found: Found[] = [];
      if (first === second)
        found.push({
          message: "Two sessions have the same id",
          evidence: `mcp-session-id: ${first}, twice`,
          fix: "Make the id of a session of at least 128 random bits.",
          // "SHOULD be globally unique and cryptographically secure".
          severity: "warning",
        });
      if (!/^[\x21-\x7e]+$/.test(first))
        found.push({
          message: "The id of a session has other characters than visible ASCII",
          evidence: `mcp-session-id: ${JSON.stringify(first)}`,
          fix: "Use characters from 0x21 to 0x7E.",
        });
      // To end it would end what everybody is in.
      if (first === second) return found;
      const ended = await audited.raw("", { "Mcp-Session-Id": second }, { era: "legacy", method: "DELETE" });
      const status = ended.http?.status ?? 0;
      // "The server MAY respond to this request with HTTP 405".
      if (status >= 200 && status < 300) {
        const ping = audited.message("ping", {}, "legacy");
        const after = await audited.raw(ping, { "Mcp-Session-Id": second }, { era: "legacy" });
        if (after.http?.status !== 404)
          found.push({
            message: "A session that was ended is not answered with 404",
            evidence: `DELETE: HTTP ${status}, then with the same Mcp-Session-Id\n${sentAndSeen(after)}`,
            fix: "Answer 404, so that the client begins anew.",
          });
      }
      await audited.raw("", { "Mcp-Session-Id": first }, { era: "legacy", method: "DELETE" });
      return found;
    },
  },
];
