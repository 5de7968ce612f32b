/** Mica over stdio with a plain JSON Schema: no third-party package is loaded. */
import { createServer } from "mica-mcp";
import { serveStdio } from "mica-mcp/stdio";
import { answerOf, TOOL } from "../message.mjs";

const server = createServer({ name: "bench", version: "1.0.0" });
server.tool("echo", { description: TOOL.description, input: TOOL.inputSchema }, answerOf);
serveStdio(server);
