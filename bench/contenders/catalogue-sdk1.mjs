/** The three tools of the seeds in `@modelcontextprotocol/sdk`. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { seedTools } from "./seed-tools.mjs";

const server = new McpServer({ name: "incidents", version: "1.0.0" });
for (const [name, { input: inputSchema, ...rest }] of Object.entries(seedTools)) {
  server.registerTool(name, { ...rest, inputSchema }, () => ({ content: [] }));
}
await server.connect(new StdioServerTransport());
