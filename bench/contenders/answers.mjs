/** What a server by hand answers to clients of both eras: the floor for clients, which then differ and not the server. */
import { EARLIER, TOOLS, VERSION } from "../message.mjs";

const tools = Object.entries(TOOLS).map(([name, { description, inputSchema }]) => ({
  name,
  description,
  inputSchema,
}));
const capabilities = { tools: {}, resources: {} };
const serverInfo = { name: "bench", version: "1.0.0" };
const hints = { ttlMs: 0, cacheScope: "private" };

export function resultOf({ method, params }) {
  switch (method) {
    case "server/discover":
      return {
        resultType: "complete",
        supportedVersions: [VERSION],
        capabilities,
        ...hints,
        _meta: { "io.modelcontextprotocol/serverInfo": serverInfo },
      };
    case "initialize":
      return { protocolVersion: EARLIER, capabilities, serverInfo };
    case "tools/list":
      return { resultType: "complete", tools, ...hints };
    case "tools/call":
      return {
        resultType: "complete",
        content: [{ type: "text", text: TOOLS[params.name].run(params.arguments) }],
      };
    case "resources/read":
      return { resultType: "complete", contents: [{ uri: params.uri, text: "Hello" }], ...hints };
    default:
      return { resultType: "complete" };
  }
}
