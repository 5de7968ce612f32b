/** `mica-mcp/http`: Streamable HTTP on node:http. */
export type { GuardOptions } from "../http/guard.js";
export { DEFAULT_HTTP_LIMITS, type HttpLimits, type HttpServerLimits } from "../http/limits.js";
export { createNodeHandler, type NodeHandler, type NodeHandlerOptions } from "../http/node.js";
export { type HttpServer, type ServeHttpOptions, serveHttp } from "../http/serve.js";
export type { EventStore, StoredEvent } from "../legacy/event-store.js";
export {
  DEFAULT_LEGACY_LIMITS,
  DEFAULT_SESSION_LIMITS,
  type LegacyHttpOptions,
  type LegacyLimits,
  type SessionLimits,
  type SessionOptions,
} from "../legacy-options.js";
