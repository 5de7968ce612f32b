/** Mica over stdio with valibot. */
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { createServer } from "mica-mcp";
import { serveStdio } from "mica-mcp/stdio";
import * as v from "valibot";

const server = createServer({ name: "bench", version: "1.0.0" });
const text = v.string();
const echo = v.object({
  text,
  times: v.optional(v.pipe(v.number(), v.integer())),
  loud: v.optional(v.boolean()),
});
server.tool(
  "echo",
  { description: "Repeat a text.", input: toStandardJsonSchema(echo) },
  ({ text, times = 1, loud = false }) => (loud ? text.toUpperCase() : text).repeat(times),
);
server.tool(
  "length",
  { description: "Count the characters of a text.", input: toStandardJsonSchema(v.object({ text })) },
  ({ text }) => String(text.length),
);
serveStdio(server);
