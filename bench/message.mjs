/** What every contender serves, and the messages that the load sends: three small tools, and as many more as wanted. */
export const VERSION = "2026-07-28";
/** Spoken by the contenders of the earlier era. */
export const EARLIER = "2025-11-25";

/** Answers are one short line of text, or as long as the text where `echo` is asked to repeat it. */
export const TOOLS = {
  echo: {
    description: "Repeat a text.",
    inputSchema: {
      type: "object",
      properties: {
        text: { type: "string" },
        times: { type: "integer" },
        loud: { type: "boolean" },
      },
      required: ["text"],
    },
    run: ({ text, times = 1, loud = false }) => (loud ? text.toUpperCase() : text).repeat(times),
  },
  length: {
    description: "Count the characters of a text.",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    run: ({ text }) => String(text.length),
  },
  work: {
    description: "Report progress three times.",
    inputSchema: { type: "object", properties: {} },
    /** @param report takes progress and total; may return a promise */
    async run(_args, report) {
      for (let step = 1; step <= STEPS; step++) await report(step, STEPS);
      return "done";
    },
  },
};

export const STEPS = 3;

/** What the bench asks of this process, e.g. `{ tools: 100 }`. */
export const options = JSON.parse(process.env.BENCH_OPTIONS ?? "{}");

/** Names of further tools, which are like `echo`, up to the number that is asked for. */
export const fillers = Array.from(
  { length: Math.max(0, (options.tools ?? 0) - Object.keys(TOOLS).length) },
  (_, at) => `echo_${at + 1}`,
);

/** All tools to register: name, definition and the name under which its input is found. */
export const registrations = [
  ...Object.entries(TOOLS).map(([name, tool]) => [name, tool, name]),
  ...fillers.map((name) => [name, TOOLS.echo, "echo"]),
];

export function request(
  id,
  method = "tools/call",
  params = { name: "echo", arguments: { text: "hello", times: 2, loud: true } },
) {
  const { _meta, ...rest } = params;
  return {
    jsonrpc: "2.0",
    id,
    method,
    params: {
      _meta: {
        ..._meta,
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
        "io.modelcontextprotocol/clientCapabilities": {},
      },
      ...rest,
    },
  };
}

/** The headers under which a request goes to an endpoint of this revision. */
export function headersOf({ method, params }) {
  const name = params.name ?? params.uri;
  return {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": VERSION,
    "mcp-method": method,
    ...(name !== undefined && { "mcp-name": name }),
  };
}

/** The same request as a client of the earlier era sends it. */
export function earlierRequest(id, method, { _meta, ...params }) {
  const given = _meta === undefined ? params : { ...params, _meta };
  return { jsonrpc: "2.0", id, method, params: given };
}

export const EARLIER_HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": EARLIER,
};

/** Opens a conversation of the earlier era. */
export const INITIALIZE = {
  jsonrpc: "2.0",
  id: "hello",
  method: "initialize",
  params: { protocolVersion: EARLIER, capabilities: {}, clientInfo: { name: "bench", version: "1.0.0" } },
};
export const INITIALIZED = { jsonrpc: "2.0", method: "notifications/initialized" };
