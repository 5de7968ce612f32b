/** `mica-mcp/testing`: for the tests of people who write servers and clients. */
export { memoryTransport, type MemoryTransport, type MemoryTransportOptions } from "../testing/memory.js";
