/** Mica over stdio with zod, small enough to compare starts. */
import { createServer } from "mica-mcp";
import { serveStdio } from "mica-mcp/stdio";
import { z } from "zod";

const server = createServer({ name: "bench", version: "1.0.0" });
server.tool(
  "echo",
  {
    description: "Repeat a text.",
    input: z.object({ text: z.string(), times: z.int().optional(), loud: z.boolean().optional() }),
  },
  ({ text, times = 1, loud = false }) => (loud ? text.toUpperCase() : text).repeat(times),
);
server.tool(
  "length",
  { description: "Count the characters of a text.", input: z.object({ text: z.string() }) },
  ({ text }) => String(text.length),
);
serveStdio(server);
