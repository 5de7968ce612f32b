/** `mica-mcp/http`: Streamable HTTP on node:http. */
export type { GuardOptions } from "../http/guard.js";
export { DEFAULT_HTTP_LIMITS, type HttpLimits, type HttpServerLimits } from "../http/limits.js";
export { createNodeHandler, type NodeHandler, type NodeHandlerOptions } from "../http/node.js";
export { type HttpServer, type ServeHttpOptions, serveHttp } from "../http/serve.js";
