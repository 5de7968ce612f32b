/** `mica-mcp/fetch`: Streamable HTTP on web standards, for Node, Bun, Deno and Workers. */
export { createFetchHandler, type FetchHandler, type FetchHandlerOptions } from "../http/fetch.js";
export type { GuardOptions } from "../http/guard.js";
export { DEFAULT_HTTP_LIMITS, type HttpLimits } from "../http/limits.js";
