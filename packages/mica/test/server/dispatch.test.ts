/** The pipeline of a request: envelope, version, method, capability, stamp; and `server/discover`. */
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { MetaKey } from "../../src/protocol/meta.js";
import { METHODS } from "../../src/protocol/methods.js";
import type { DiscoverResult, JSONRPCRequest } from "../../src/protocol/types.js";
import { createServer, type Server } from "../../src/server/server.js";
import { memoryTransport } from "../../src/testing/memory.js";
import { callerOf, requestMeta } from "../support/caller.js";
import { checkedServer } from "../support/wire-schema.js";

const build = (options: Partial<Parameters<typeof createServer>[0]> = {}) =>
  checkedServer(createServer({ name: "test", version: "1.2.3", ...options }));

/** A server of which everything can be asked. */
function full(server: Server = build()): Server {
  server.tool("add", { input: z.object({ a: z.number() }) }, ({ a }) => a);
  server.resource("test:a", { name: "a" }, () => "a");
  server.prompt("p", { input: z.object({ x: z.string() }), complete: { x: ["1"] } }, ({ x }) => x);
  return server;
}

/** Sends a request exactly as it is. */
const raw = (server: Server, request: Record<string, unknown>) =>
  memoryTransport(server).exchange({ jsonrpc: "2.0", id: 1, method: "x", ...request } as JSONRPCRequest);

describe("server/discover", () => {
  it("says what the server is and offers", async () => {
    const icons = [{ src: "https://example.com/icon.png", sizes: ["48x48"] }];
    const server = build({
      title: "Test",
      description: "d",
      websiteUrl: "https://example.com",
      icons,
      instructions: "Use add.",
    });
    expect(await callerOf(full(server)).result<DiscoverResult>("server/discover")).toEqual({
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: {
        logging: {},
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        completions: {},
      },
      instructions: "Use add.",
      ttlMs: 3_600_000,
      cacheScope: "public",
      _meta: {
        [MetaKey.serverInfo]: {
          name: "test",
          version: "1.2.3",
          title: "Test",
          description: "d",
          websiteUrl: "https://example.com",
          icons,
        },
      },
    });
  });

  it("offers nothing that is not there, and follows what is added", async () => {
    const server = build();
    const { result } = callerOf(server);
    const capabilities = async () =>
      Object.keys((await result<DiscoverResult>("server/discover")).capabilities);
    expect(await capabilities()).toEqual(["logging"]);
    server.resourceTemplate("x:{a}", { name: "a" }, () => "");
    expect(await capabilities()).toEqual(["logging", "resources"]);
    server.prompt("p", {}, () => "");
    expect(await capabilities()).toEqual(["logging", "resources", "prompts"]);
    server.resourceTemplate("y:{a}", { name: "a", complete: { a: ["1"] } }, () => "");
    expect(await capabilities()).toEqual(["logging", "resources", "prompts", "completions"]);
  });

  it("keeps offering what was offered once: an empty list is not an unknown method", async () => {
    const server = build();
    const registered = server.tool("only", {}, () => 1);
    const { result } = callerOf(server);
    registered.remove();
    expect((await result<DiscoverResult>("server/discover")).capabilities.tools).toEqual({
      listChanged: true,
    });
    expect(await result("tools/list")).toMatchObject({ tools: [] });
  });

  it("takes hints of its own", async () => {
    const server = build({ cache: { discover: { ttlMs: 0, cacheScope: "private" } } });
    expect(await callerOf(server).result("server/discover")).toMatchObject({
      ttlMs: 0,
      cacheScope: "private",
    });
  });
});

describe("the envelope", () => {
  it("serves a request without clientInfo, which is optional", async () => {
    const _meta = { [MetaKey.protocolVersion]: "2026-07-28", [MetaKey.clientCapabilities]: {} };
    expect(await raw(build(), { method: "server/discover", params: { _meta } })).toHaveProperty("result");
  });

  it.each([
    ["no params", undefined, "params._meta must be an object"],
    ["no _meta", {}, "params._meta must be an object"],
    ["no version", { _meta: { [MetaKey.clientCapabilities]: {} } }, MetaKey.protocolVersion],
    ["no capabilities", { _meta: { [MetaKey.protocolVersion]: "2026-07-28" } }, MetaKey.clientCapabilities],
    ["an unknown log level", { _meta: requestMeta({ [MetaKey.logLevel]: "loud" }) }, MetaKey.logLevel],
  ])("answers -32602 to %s, naming the field", async (_, params, field) => {
    const response = await raw(full(), {
      method: "tools/list",
      id: "a",
      ...(params !== undefined && { params }),
    });
    expect(response).toMatchObject({
      id: "a",
      error: { code: -32602, message: expect.stringContaining(field) as string },
    });
  });

  it.each(["2025-11-25", "2099-01-01", "", "DRAFT"])(
    "answers -32022 to the version %j, naming those it speaks",
    async (version) => {
      const params = { _meta: requestMeta({ [MetaKey.protocolVersion]: version }) };
      for (const method of ["server/discover", "tools/list", "no/such"]) {
        expect(await raw(full(), { method, params })).toMatchObject({
          error: {
            code: -32022,
            message: expect.stringContaining("2026-07-28") as string,
            data: { supported: ["2026-07-28"], requested: version },
          },
        });
      }
    },
  );

  it.each([
    [
      "2025-11-25",
      { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "old", version: "1" } },
    ],
    ["2026-07-28", { protocolVersion: "2026-07-28" }],
    ["", {}],
    ["", { protocolVersion: { toString: 1, valueOf: 1 } }],
  ])("names its versions to a handshake that asks for %j", async (requested, params) => {
    expect(await raw(build(), { method: "initialize", id: 0, params })).toMatchObject({
      id: 0,
      error: {
        code: -32022,
        message: expect.stringContaining("speaks 2026-07-28") as string,
        data: { supported: ["2026-07-28"], requested },
      },
    });
  });

  it("knows no method initialize in this revision", async () => {
    expect(await callerOf(build()).error("initialize")).toMatchObject({ code: -32601 });
  });
});

describe("methods and capabilities", () => {
  it.each(["no/such", "", "tools/call ", "__proto__", "constructor", "toString", "TOOLS/LIST"])(
    "answers -32601 to %j",
    async (method) => {
      const error = await callerOf(full()).error(method);
      expect(error).toEqual({ code: -32601, message: `Method not found: ${method}` });
    },
  );

  it.each(
    [...METHODS]
      .filter(([, { capability }]) => capability !== undefined)
      .map(([method, row]) => [method, row.capability]),
  )("answers -32601 to %s where %s is not offered", async (method, capability) => {
    expect(await callerOf(build()).error(method)).toEqual({
      code: -32601,
      message: `Method not found: ${method} (this server does not offer ${capability})`,
    });
  });

  it("serves every method of the table where everything is offered", async () => {
    const { send, transport } = callerOf(full());
    for (const method of METHODS.keys()) {
      if (method === "subscriptions/listen" || METHODS.get(method)?.extension !== undefined) continue;
      const response = await send(method);
      if ("error" in response) expect(response.error.code).toBe(-32602);
    }
    expect(transport.inFlight).toBe(0);
  });
});

describe("answers", () => {
  it.each([0, "", "1", 1, -5, "ümlaut \n"])("carry the id %j of their request", async (id) => {
    const { send } = callerOf(full());
    expect((await send("tools/list", {}, { id })).id).toBe(id);
    expect((await send("no/such", {}, { id })).id).toBe(id);
  });

  it("name the server, without its icons, and the type of the result", async () => {
    const server = full(build({ icons: [{ src: "https://example.com/icon.png" }] }));
    const { result } = callerOf(server);
    const _meta = { [MetaKey.serverInfo]: { name: "test", version: "1.2.3" } };
    const calls: [string, Record<string, unknown>][] = [
      ["tools/list", {}],
      ["tools/call", { name: "add", arguments: { a: 1 } }],
      ["resources/read", { uri: "test:a" }],
      ["prompts/get", { name: "p", arguments: { x: "1" } }],
      ["completion/complete", { ref: { type: "ref/prompt", name: "p" }, argument: { name: "x", value: "" } }],
    ];
    for (const [method, params] of calls) {
      // The second answer comes from what the first one left.
      for (let time = 0; time < 2; time++)
        expect(await result(method, params)).toMatchObject({ resultType: "complete", _meta });
    }
  });

  it("carry hints exactly where the specification wants them", async () => {
    const { result } = callerOf(full());
    const has = async (method: string, params?: Record<string, unknown>) =>
      "ttlMs" in (await result(method, params));
    expect(await has("tools/list")).toBe(true);
    expect(await has("resources/list")).toBe(true);
    expect(await has("resources/templates/list")).toBe(true);
    expect(await has("prompts/list")).toBe(true);
    expect(await has("resources/read", { uri: "test:a" })).toBe(true);
    expect(await has("tools/call", { name: "add", arguments: { a: 1 } })).toBe(false);
    expect(await has("prompts/get", { name: "p", arguments: { x: "" } })).toBe(false);
  });
});

describe("createServer", () => {
  it.each<[string, object, RegExp]>([
    ["no name", { version: "1" }, /name must be a non-empty string/],
    ["an empty name", { name: "", version: "1" }, /name must be a non-empty string/],
    ["no version", { name: "a" }, /version must be a non-empty string/],
    [
      "an unknown hint",
      { name: "a", version: "1", cache: { tool: {} } },
      /cache\.tool is unknown; expected discover, tools/,
    ],
    [
      "a negative time",
      { name: "a", version: "1", cache: { tools: { ttlMs: -1, cacheScope: "public" } } },
      /cache\.tools: ttlMs must be a whole number of milliseconds from 0, got -1/,
    ],
    [
      "a scope that is none",
      { name: "a", version: "1", cache: { read: { ttlMs: 1, cacheScope: "shared" } } },
      /cache\.read: cacheScope must be "public" or "private", got "shared"/,
    ],
    [
      "an unknown limit",
      { name: "a", version: "1", limits: { pagesize: 5 } },
      /limits\.pagesize is unknown; expected pageSize/,
    ],
    [
      "pages of nothing",
      { name: "a", version: "1", limits: { pageSize: 0 } },
      /limits\.pageSize must be a whole number from 1, got 0/,
    ],
    [
      "a limit that is none",
      { name: "a", version: "1", limits: { maxSubscriptions: Number.NaN } },
      /limits\.maxSubscriptions must be a whole number from 1, got NaN/,
    ],
  ])("refuses %s", (_, options, message) => {
    expect(() => createServer(options as never)).toThrow(TypeError);
    expect(() => createServer(options as never)).toThrow(message);
  });

  it("takes options that are undefined as left out", async () => {
    const server = checkedServer(
      createServer({
        name: "a",
        version: "1",
        limits: { pageSize: undefined },
        cache: { tools: undefined },
        instructions: undefined,
      } as never),
    );
    server.tool("t", {}, () => 1);
    expect(await callerOf(server).result("tools/list")).toMatchObject({
      ttlMs: 300_000,
      tools: [{ name: "t" }],
    });
  });
});
