/** Mica over stdio with zod. */
import { createServer } from "mica-mcp";
import { serveStdio } from "mica-mcp/stdio";
import { z } from "zod";
import { answerOf } from "../message.mjs";

const server = createServer({ name: "bench", version: "1.0.0" });
const input = z.object({ text: z.string(), times: z.int().optional(), loud: z.boolean().optional() });
server.tool("echo", { description: "Repeat a text.", input }, answerOf);
serveStdio(server);
