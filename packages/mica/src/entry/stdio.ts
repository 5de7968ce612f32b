/** `mica-mcp/stdio`: a server on its own standard streams, and a client of a server process. */
export { DEFAULT_LEGACY_LIMITS, type LegacyLimits, type LegacyStdioOptions } from "../legacy-options.js";
export { type LaunchOptions, launchStdio, type ServerExit } from "../stdio/launch.js";
export { DEFAULT_STDIO_LIMITS, type StdioLimits } from "../stdio/limits.js";
export { type ServeStdioOptions, type StdioService, serveStdio } from "../stdio/serve.js";
