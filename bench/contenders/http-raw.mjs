/** The floor over HTTP: node:http, one JSON.parse, one JSON.stringify, no checks at all. */
import { createServer } from "node:http";
import { answerOf } from "../message.mjs";
import { serve } from "./serve.mjs";

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const { id, params } = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    const result = { resultType: "complete", content: [{ type: "text", text: answerOf(params.arguments) }] };
    const body = JSON.stringify({ jsonrpc: "2.0", id, result });
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    });
    response.end(body);
  });
});
server.listen(0, "127.0.0.1", () => serve(server.address().port));
