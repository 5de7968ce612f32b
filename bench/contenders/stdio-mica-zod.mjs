/** Mica over stdio with zod. */
import { serveStdio } from "mica-mcp/stdio";
import { server } from "./mica-server.mjs";

serveStdio(server);
