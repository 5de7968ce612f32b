/** The first official SDK over stdio. */
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { createSdk1 } from "./sdk1-server.mjs";

await createSdk1().connect(new StdioServerTransport());
