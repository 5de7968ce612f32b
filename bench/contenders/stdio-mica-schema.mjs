/** Mica over stdio with plain JSON Schema: no third-party package is loaded. */
import { createServer } from "mica-mcp";
import { serveStdio } from "mica-mcp/stdio";

const server = createServer({ name: "bench", version: "1.0.0" });
server.tool(
  "echo",
  {
    description: "Repeat a text.",
    input: {
      type: "object",
      properties: { text: { type: "string" }, times: { type: "integer" }, loud: { type: "boolean" } },
      required: ["text"],
    },
  },
  ({ text, times = 1, loud = false }) => (loud ? text.toUpperCase() : text).repeat(times),
);
server.tool(
  "length",
  {
    description: "Count the characters of a text.",
    input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  },
  ({ text }) => String(text.length),
);
serveStdio(server);
