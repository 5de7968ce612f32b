/** The server of the bench in `@modelcontextprotocol/server`; `inputs` are given where they are made only once. */
import { McpServer } from "@modelcontextprotocol/server";
import { registrations } from "../message.mjs";
import { zodInputs } from "./zod-inputs.mjs";

export function createOfficial(inputs = zodInputs()) {
  const server = new McpServer({ name: "bench", version: "1.0.0" });
  for (const [name, { description, run }, like] of registrations) {
    server.registerTool(name, { description, inputSchema: inputs[like] }, async (args, ctx) => {
      const progressToken = ctx.mcpReq._meta?.progressToken;
      const report = (progress, total) => {
        if (progressToken === undefined) return undefined;
        const params = { progressToken, progress, total };
        return ctx.mcpReq.notify({ method: "notifications/progress", params });
      };
      return { content: [{ type: "text", text: await run(args, report) }] };
    });
  }
  const uri = "bench://greeting";
  server.registerResource("greeting", uri, {}, () => ({ contents: [{ uri, text: "Hello" }] }));
  return server;
}
