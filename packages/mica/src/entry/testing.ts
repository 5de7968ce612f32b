/** `mica-mcp/testing`: for the tests of people who write servers and clients. */
export {
  type FreshProcessOptions,
  type FreshProcessTransport,
  freshProcessPerMessage,
} from "../testing/fresh-process.js";
export { type MemoryTransport, type MemoryTransportOptions, memoryTransport } from "../testing/memory.js";
