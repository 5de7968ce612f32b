/** The three tools of the seeds in fastmcp. */
import { FastMCP } from "fastmcp";
import { seedTools } from "../contenders/seed-tools.mjs";

const server = new FastMCP({ name: "incidents", version: "1.0.0" });
for (const [name, { input: parameters, ...rest }] of Object.entries(seedTools)) {
  server.addTool({ name, ...rest, parameters, execute: async () => "" });
}
await server.start({ transportType: "stdio" });
