/** The official SDK over HTTP in its best case: schemas made once, the body passed on already parsed. */
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { createOfficial } from "./official-server.mjs";
import { serve } from "./serve.mjs";
import { zodInputs } from "./zod-inputs.mjs";

const inputs = zodInputs();
const handler = toNodeHandler(createMcpHandler(() => createOfficial(inputs)));
const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => handler(request, response, JSON.parse(Buffer.concat(chunks).toString("utf8"))));
});
server.listen(0, "127.0.0.1", () => serve(server.address().port));
