/** The floor over HTTP: node:http, one JSON.parse, one JSON.stringify, no checks at all. */
import { createServer } from "node:http";
import { registrations, TOOLS } from "../message.mjs";
import { serve } from "./serve.mjs";

const tools = new Map(registrations.map(([name, tool]) => [name, tool]));
const listed = registrations.map(([name, { description, inputSchema }]) => ({
  name,
  description,
  inputSchema,
}));

function resultOf({ method, params }) {
  if (method === "tools/list") return { resultType: "complete", tools: listed };
  const text = tools.get(params.name).run(params.arguments);
  return { resultType: "complete", content: [{ type: "text", text }] };
}

async function stream({ id, params }, response) {
  const { progressToken } = params._meta;
  response.writeHead(200, { "content-type": "text/event-stream" });
  const text = await TOOLS.work.run({}, (progress, total) => {
    const params = { progressToken, progress, total };
    const notification = JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params });
    response.write(`event: message\ndata: ${notification}\n\n`);
  });
  const result = { resultType: "complete", content: [{ type: "text", text }] };
  response.end(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`);
}

function listen({ id, params }, response) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const method = "notifications/subscriptions/acknowledged";
  const _meta = { "io.modelcontextprotocol/subscriptionId": id };
  const notification = { jsonrpc: "2.0", method, params: { _meta, notifications: params.notifications } };
  response.write(`event: message\ndata: ${JSON.stringify(notification)}\n\n`);
}

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const message = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    if (message.method === "subscriptions/listen") return listen(message, response);
    if (message.params.name === "work") return stream(message, response);
    const body = JSON.stringify({ jsonrpc: "2.0", id: message.id, result: resultOf(message) });
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    });
    response.end(body);
  });
});
server.listen(0, "127.0.0.1", () => serve(server.address().port));
