/** Mica over stdio with plain JSON Schema: no third-party package is loaded. */
import { createServer } from "mica-mcp";
import { serveStdio } from "mica-mcp/stdio";
import { TOOLS } from "../message.mjs";

const server = createServer({ name: "bench", version: "1.0.0" });
for (const [name, { description, inputSchema, run }] of Object.entries(TOOLS)) {
  server.tool(name, { description, input: inputSchema }, (args, ctx) =>
    run(args, (progress, total) => ctx.progress(progress, total)),
  );
}
serveStdio(server);
