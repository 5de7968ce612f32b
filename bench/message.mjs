/** The one call that every contender serves: three arguments, some 400 bytes, an answer of one short line. */
export const VERSION = "2026-07-28";

export const TOOL = {
  name: "echo",
  description: "Repeat a text.",
  inputSchema: {
    type: "object",
    properties: {
      text: { type: "string", description: "What to repeat." },
      times: { type: "integer", description: "How often." },
      loud: { type: "boolean", description: "In capitals." },
    },
    required: ["text"],
  },
};

export function answerOf({ text, times = 1, loud = false }) {
  return (loud ? text.toUpperCase() : text).repeat(times);
}

export function request(
  id,
  method = "tools/call",
  params = { name: "echo", arguments: { text: "hello", times: 2, loud: true } },
) {
  return {
    jsonrpc: "2.0",
    id,
    method,
    params: {
      _meta: {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
        "io.modelcontextprotocol/clientCapabilities": {},
      },
      ...params,
    },
  };
}

export const HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": VERSION,
  "mcp-method": "tools/call",
  "mcp-name": "echo",
};
