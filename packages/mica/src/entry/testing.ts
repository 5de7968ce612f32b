/** `mica-mcp/testing`: for the tests of people who write servers and clients. */

export { httpHeaders } from "../http/by-hand.js";
export { METHODS, type Method, type MethodRow } from "../protocol/methods.js";
export type { ServerExit } from "../stdio/child.js";
export { serverEnvironment } from "../stdio/environment.js";
export { type LaunchLinesOptions, type LineChannel, launchLines } from "../stdio/launch-lines.js";
export {
  type FreshProcessOptions,
  type FreshProcessTransport,
  freshProcessPerMessage,
} from "../testing/fresh-process.js";
export { type MemoryTransport, type MemoryTransportOptions, memoryTransport } from "../testing/memory.js";
