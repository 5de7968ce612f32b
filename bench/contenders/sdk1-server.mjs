/** The server of the bench in `@modelcontextprotocol/sdk`, the first line of the official SDK. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { registrations } from "../message.mjs";
import { zodInputs } from "./zod-inputs.mjs";

const inputs = zodInputs();

export function createSdk1() {
  const server = new McpServer({ name: "bench", version: "1.0.0" });
  for (const [name, { description, run }, like] of registrations) {
    server.registerTool(name, { description, inputSchema: inputs[like] }, async (args, extra) => {
      const progressToken = extra._meta?.progressToken;
      const report = (progress, total) => {
        if (progressToken === undefined) return undefined;
        const params = { progressToken, progress, total };
        return extra.sendNotification({ method: "notifications/progress", params });
      };
      return { content: [{ type: "text", text: await run(args, report) }] };
    });
  }
  return server;
}
