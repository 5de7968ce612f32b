/** The server of the bench in Mica, written as the README shows it; its schemas are zod's. */
import { createServer } from "mica-mcp";
import { registrations } from "../message.mjs";
import { zodInputs } from "./zod-inputs.mjs";

const inputs = zodInputs();
export const server = createServer({ name: "bench", version: "1.0.0" });
for (const [name, { description, run }, like] of registrations) {
  server.tool(name, { description, input: inputs[like] }, (args, ctx) =>
    run(args, (progress, total) => ctx.progress(progress, total)),
  );
}
server.resource("bench://greeting", { name: "greeting" }, () => "Hello");
