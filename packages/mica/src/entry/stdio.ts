/** `mica-mcp/stdio`: a server on its own standard streams, and a client of a server process. */
export { DEFAULT_LEGACY_LIMITS, type LegacyLimits, type LegacyStdioOptions } from "../legacy-options.js";
export type { ServerExit } from "../stdio/child.js";
export type { LaunchOptions } from "../stdio/launch-options.js";
export { launchStdio } from "../stdio/launch-stdio.js";
export { DEFAULT_STDIO_LIMITS, type StdioLimits } from "../stdio/limits.js";
export { type ServeStdioOptions, type StdioService, serveStdio } from "../stdio/serve.js";
