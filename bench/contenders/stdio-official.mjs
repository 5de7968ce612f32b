/** The official SDK over stdio, with zod as its documentation shows. */
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { answerOf } from "../message.mjs";

const inputSchema = z.object({ text: z.string(), times: z.int().optional(), loud: z.boolean().optional() });
serveStdio(() => {
  const server = new McpServer({ name: "bench", version: "1.0.0" });
  server.registerTool("echo", { description: "Repeat a text.", inputSchema }, (args) => ({
    content: [{ type: "text", text: answerOf(args) }],
  }));
  return server;
});
