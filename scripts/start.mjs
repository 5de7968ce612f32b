/**
 * Serves the incident log at http://127.0.0.1:8931/mcp and prints what to try next. Further arguments are those of
 * `incidents-mcp`: `npm start -- --database log.sqlite --http 127.0.0.1:0`, or `npm start -- --auth dev`.
 */
import { fileURLToPath } from "node:url";

/** What to try, as commands for another terminal; `authorization` is there where the log asks for access tokens. */
export function nextSteps(url, database, authorization) {
  if (authorization !== undefined) return stepsWithTokens(url, database, authorization);
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { _meta: meta, name: "search_incidents", arguments: { state: "open" } };
  const request = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  return `
Incident log at ${url}
Kept in ${database}

Try, in another terminal:

  npx mica tools ${url}
  npx mica call ${url} open_incident title="Queue backed up" severity=sev2
  npx mica call ${url} search_incidents text=queue

Or speak the protocol by hand:

  curl -s ${url} \\
    -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \\
    -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: search_incidents' \\
    -d '${JSON.stringify(request)}'

Ctrl+C stops it.
`;
}

function stepsWithTokens(url, database, { issuer, tokenCommand }) {
  const byHand =
    tokenCommand === undefined
      ? ""
      : `
Or be a script, of the tenant acme (person=NAME, tenant=NAME, scope=incidents:read, expires_in=-60 or resource=URL make
other tokens of it):

  TOKEN=$(${tokenCommand} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
  npx mica call ${url} open_incident title="Queue backed up" severity=sev2 --header "Authorization: Bearer $TOKEN"
`;
  return `
Incident log at ${url}
Kept in ${database}
Asks for access tokens of ${issuer}

Try, in another terminal:

  curl -si ${url} -H 'Content-Type: application/json' -d '{}'
  npx mica auth ${url}
  npx mica login ${url}
  npx mica whoami ${url}
  npx mica call ${url} search_incidents state=open

Writing takes another scope: this is refused, signing in again asks for it, and then it works.

  npx mica call ${url} open_incident title="Queue backed up" severity=sev2
  npx mica login ${url}
  npx mica logout ${url}
${byHand}
Ctrl+C stops it.
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { main } = await import("../servers/incidents/dist/index.js");
  await main(["--http", "127.0.0.1:8931", ...process.argv.slice(2)], nextSteps);
}
