/** mcp-lite over HTTP without sessions, as its documentation shows it, on Node by way of hono's adapter. */
import { createAdaptorServer } from "@hono/node-server";
import { McpServer, StreamableHttpTransport } from "mcp-lite";
import { z } from "zod";
import { serve } from "../contenders/serve.mjs";
import { zodInputs } from "../contenders/zod-inputs.mjs";
import { registrations } from "../message.mjs";

const inputs = zodInputs();
const mcp = new McpServer({
  name: "bench",
  version: "1.0.0",
  schemaAdapter: (schema) => z.toJSONSchema(schema),
});
for (const [name, { description, run }, like] of registrations) {
  mcp.tool(name, {
    description,
    inputSchema: inputs[like],
    handler: async (args, ctx) => ({
      content: [
        { type: "text", text: await run(args, (progress, total) => ctx.progress?.({ progress, total })) },
      ],
    }),
  });
}
const handle = new StreamableHttpTransport().bind(mcp);
const server = createAdaptorServer({ fetch: handle });
server.listen(0, "127.0.0.1", () => serve(server.address().port));
