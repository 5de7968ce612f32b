/** `mica-mcp/fetch`: Streamable HTTP on web standards, for Node, Bun, Deno and Workers. */
export { createFetchHandler, type FetchHandler, type FetchHandlerOptions } from "../http/fetch.js";
export type { GuardOptions } from "../http/guard.js";
export { DEFAULT_HTTP_LIMITS, type HttpLimits } from "../http/limits.js";
export type { EventStore, StoredEvent } from "../legacy/event-store.js";
export {
  DEFAULT_LEGACY_LIMITS,
  DEFAULT_SESSION_LIMITS,
  type LegacyHttpOptions,
  type LegacyLimits,
  type SessionLimits,
  type SessionOptions,
} from "../legacy-options.js";
