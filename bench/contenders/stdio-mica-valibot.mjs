/** Mica over stdio with valibot. */
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { createServer } from "mica-mcp";
import { serveStdio } from "mica-mcp/stdio";
import * as v from "valibot";
import { TOOLS } from "../message.mjs";

const inputs = {
  echo: v.object({
    text: v.string(),
    times: v.optional(v.pipe(v.number(), v.integer())),
    loud: v.optional(v.boolean()),
  }),
  length: v.object({ text: v.string() }),
  work: v.object({}),
};
const server = createServer({ name: "bench", version: "1.0.0" });
for (const [name, { description, run }] of Object.entries(TOOLS)) {
  server.tool(name, { description, input: toStandardJsonSchema(inputs[name]) }, (args, ctx) =>
    run(args, (progress, total) => ctx.progress(progress, total)),
  );
}
serveStdio(server);
