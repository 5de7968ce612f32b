/** The first official SDK over HTTP without sessions, as its documentation shows it; JSON answers where nothing streams. */
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { createSdk1 } from "./sdk1-server.mjs";
import { serve } from "./serve.mjs";

const app = createMcpExpressApp();
app.post("/mcp", async (request, response) => {
  const server = createSdk1();
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: undefined,
    enableJsonResponse: request.body.params?._meta?.progressToken === undefined,
  });
  response.on("close", () => {
    transport.close();
    server.close();
  });
  await server.connect(transport);
  await transport.handleRequest(request, response, request.body);
});
const server = app.listen(0, "127.0.0.1", () => serve(server.address().port));
