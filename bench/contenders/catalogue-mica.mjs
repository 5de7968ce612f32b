/** The three tools of the seeds in Mica. */
import { createServer } from "mica-mcp";
import { serveStdio } from "mica-mcp/stdio";
import { seedTools } from "./seed-tools.mjs";

const server = createServer({ name: "incidents", version: "1.0.0" });
for (const [name, definition] of Object.entries(seedTools)) server.tool(name, definition, () => "");
serveStdio(server);
