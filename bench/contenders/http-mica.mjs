/** Mica over HTTP, as the README shows it; the schema is zod's. */
import { createServer } from "mica-mcp";
import { serveHttp } from "mica-mcp/http";
import { z } from "zod";
import { answerOf } from "../message.mjs";
import { serve } from "./serve.mjs";

const server = createServer({ name: "bench", version: "1.0.0" });
server.tool(
  "echo",
  {
    description: "Repeat a text.",
    input: z.object({ text: z.string(), times: z.int().optional(), loud: z.boolean().optional() }),
  },
  answerOf,
);
const { port } = await serveHttp(server, { port: 0 });
serve(Number(port));
