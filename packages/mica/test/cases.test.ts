/**
 * Inputs that broke other servers, sent as raw messages over every binding they apply to. The rows that are about a
 * client, or about a process, have their tests beside the code: stdio/, client/, schema/.
 */
import { PassThrough } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { serveHttp } from "../src/entry/http.js";
import { createServer, type Server } from "../src/entry/index.js";
import { serveStdio } from "../src/entry/stdio.js";

const VERSION = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const META = { [VERSION]: "2026-07-28", [CAPABILITIES]: {} };

type Message = { id?: unknown; result?: Record<string, unknown>; error?: { code: number; message: string } };
interface Wire {
  /** Sends a text as it is, and resolves to the answer and, over HTTP, its status. */
  send(text: string, headers?: Record<string, string>): Promise<Message & { status?: number }>;
  close(): Promise<void>;
}

function build(): { server: Server; seen: unknown[] } {
  const seen: unknown[] = [];
  const server = createServer({ name: "cases", version: "1.0.0" });
  server.tool("fast", { input: z.object({ note: z.string().optional() }) }, (args) => {
    seen.push(args);
    return "done";
  });
  server.resourceTemplate("file:///{path}", { name: "file" }, ({ path }) => {
    seen.push(path);
    return String(path);
  });
  return { server, seen };
}

function openStdio(server: Server): Wire {
  const input = new PassThrough();
  const output = new PassThrough();
  const service = serveStdio(server, { input, output });
  const waiting: ((message: Message) => void)[] = [];
  let rest = "";
  output.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop()!;
    for (const line of lines) waiting.shift()!(JSON.parse(line) as Message);
  });
  return {
    send: (text) =>
      new Promise((resolve) => {
        waiting.push(resolve);
        input.write(`${text}\n`);
      }),
    async close() {
      input.end();
      await service.closed;
    },
  };
}

async function openHttp(server: Server): Promise<Wire> {
  const service = await serveHttp(server, { port: 0 });
  return {
    async send(text, headers = {}) {
      const parsed = parse(text);
      const name = parsed?.params?.name ?? parsed?.params?.uri;
      const response = await fetch(service.url, {
        method: "POST",
        body: text,
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          ...(parsed?.method && { "mcp-method": parsed.method }),
          ...(name && { "mcp-name": name }),
          ...headers,
        },
      });
      return { status: response.status, ...((await response.json()) as Message) };
    },
    close: () => service.close(),
  };
}

function parse(text: string): { method?: string; params?: { name?: string; uri?: string } } | undefined {
  try {
    return JSON.parse(text) as { method?: string };
  } catch {
    return undefined;
  }
}

describe.each([
  ["stdio", openStdio],
  ["HTTP", openHttp],
] as const)("over %s", (transport, open) => {
  let wire: Wire | undefined;
  afterEach(async () => {
    await wire?.close();
    wire = undefined;
  });

  async function start(): Promise<Wire & { seen: unknown[] }> {
    const { server, seen } = build();
    wire = await open(server);
    return { ...wire, seen };
  }

  const call = (id: unknown, params: Record<string, unknown> = {}, _meta: unknown = META) =>
    JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "fast", _meta, ...params } });

  it.each([
    ["without jsonrpc", '{"id":99,"method":"tools/list","params":{}}', 99],
    ["that is a batch", '[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', undefined],
    ["with method_ for method", '{"jsonrpc":"2.0","id":"a","method_":"tools/list"}', "a"],
    ["with params that are no object", '{"jsonrpc":"2.0","id":0,"method":"tools/list","params":[1]}', 0],
    ["with a fractional id", '{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}', undefined],
    ["with a null id", '{"jsonrpc":"2.0","id":null,"method":"tools/list"}', undefined],
  ])("row 1: a message %s is -32600, and the next one is served", async (_what, text, id) => {
    const { send } = await start();
    const refused = await send(text);
    expect(refused.error?.code).toBe(-32600);
    expect(refused.id).toBe(id);
    if (transport === "HTTP") expect(refused.status).toBe(400);
    expect((await send(call(2))).result).toMatchObject({ resultType: "complete" });
  });

  it("row 1: a text that is no JSON is -32700, and the next one is served", async () => {
    const { send } = await start();
    const refused = await send('{"jsonrpc":"2.0",');
    expect(refused).toMatchObject({ error: { code: -32700 } });
    expect(refused).not.toHaveProperty("id");
    expect((await send(call(2))).result).toBeDefined();
  });

  it("row 2: after a megabyte in params.data, the next request is answered", async () => {
    const { send } = await start();
    const large = await send(call(1, { data: "A".repeat(1_048_576) }));
    expect(large.id).toBe(1);
    expect((await send(call(2))).result).toMatchObject({ content: [{ type: "text", text: "done" }] });
  });

  it("row 8: clientInfo is optional, clientCapabilities is not", async () => {
    const { send } = await start();
    expect((await send(call(1))).result).toBeDefined();
    const refused = await send(call(2, {}, { [VERSION]: "2026-07-28" }));
    expect(refused).toMatchObject({
      id: 2,
      error: { code: -32602, message: expect.stringContaining(CAPABILITIES) },
    });
    if (transport === "HTTP") expect(refused.status).toBe(400);
    const nothing = await send(JSON.stringify({ jsonrpc: "2.0", id: 3, method: "tools/list", params: {} }));
    expect(nothing).toMatchObject({ id: 3, error: { code: -32602 } });
  });

  it.skipIf(transport !== "HTTP")("row 9: a base64 Mcp-Name is decoded, then compared", async () => {
    const { send } = await start();
    expect(await send(call(1), { "mcp-name": "=?base64?ZmFzdA==?=" })).toMatchObject({ status: 200 });
    expect(await send(call(2), { "mcp-name": "=?base64?c2xvdw==?=" })).toMatchObject({
      status: 400,
      error: { code: -32020 },
    });
  });

  it("row 12: 0 and the empty string are ordinary, distinct ids", async () => {
    const { send } = await start();
    for (const id of [0, "", "0", -1]) expect((await send(call(id))).id).toBe(id);
  });

  it("row 16: without arguments a tool gets an empty object", async () => {
    const { send, seen } = await start();
    expect((await send(call(1))).result).toMatchObject({ content: [{ text: "done" }] });
    expect(seen).toEqual([{}]);
  });

  it("row 18: a template's variable arrives percent-decoded", async () => {
    const { send, seen } = await start();
    const uri = "file:///My%20File.txt";
    const read = await send(
      JSON.stringify({ jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri, _meta: META } }),
    );
    expect(read.result).toMatchObject({ contents: [{ uri, text: "My File.txt" }] });
    expect(seen).toEqual(["My File.txt"]);
  });
});
