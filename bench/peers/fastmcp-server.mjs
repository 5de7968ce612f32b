/** The server of the bench in fastmcp. */
import { FastMCP } from "fastmcp";
import { zodInputs } from "../contenders/zod-inputs.mjs";
import { registrations } from "../message.mjs";

const inputs = zodInputs();
export const server = new FastMCP({ name: "bench", version: "1.0.0", logger: quiet() });
for (const [name, { description, run }, like] of registrations) {
  server.addTool({
    name,
    description,
    parameters: inputs[like],
    execute: (args, { reportProgress }) =>
      Promise.resolve(run(args, (progress, total) => reportProgress({ progress, total }))),
  });
}

function quiet() {
  const nothing = () => {};
  return { debug: nothing, error: nothing, info: nothing, log: nothing, warn: nothing };
}
