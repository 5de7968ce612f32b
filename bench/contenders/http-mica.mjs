/** Mica over HTTP. */
import { serveHttp } from "mica-mcp/http";
import { options } from "../message.mjs";
import { server } from "./mica-server.mjs";
import { serve } from "./serve.mjs";

const { port } = await serveHttp(server, { port: 0, ...options.http });
serve(port);
