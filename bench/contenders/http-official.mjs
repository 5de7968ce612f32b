/** The official SDK over HTTP in its best case: schemas made once, the body passed on already parsed. */
import { createServer } from "node:http";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { answerOf } from "../message.mjs";
import { serve } from "./serve.mjs";

const inputSchema = z.object({ text: z.string(), times: z.int().optional(), loud: z.boolean().optional() });
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: "bench", version: "1.0.0" });
  server.registerTool("echo", { description: "Repeat a text.", inputSchema }, (args) => ({
    content: [{ type: "text", text: answerOf(args) }],
  }));
  return server;
});

const { toNodeHandler } = await import("@modelcontextprotocol/node");
const nodeHandler = toNodeHandler(handler);
const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => nodeHandler(request, response, JSON.parse(Buffer.concat(chunks).toString("utf8"))));
});
server.listen(0, "127.0.0.1", () => serve(server.address().port));
