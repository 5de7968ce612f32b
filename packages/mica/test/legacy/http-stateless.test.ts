/** Earlier clients over HTTP without sessions, which is how they are served unless an option says otherwise. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { requestHeaders } from "../../src/http/headers.js";
import type { JSONRPCRequest } from "../../src/protocol/types.js";
import { createServer, type Server } from "../../src/server/server.js";
import { requestMeta } from "../support/caller.js";
import { everything } from "./everything.js";
import { call, ENDPOINTS, type Endpoint, initialize, notification, request, send } from "./http-fixture.js";
import { assertFits, VERSIONS } from "./legacy-schema.js";

describe.each(Object.keys(ENDPOINTS))("%s", (binding) => {
  let server: Server;
  let endpoint: Endpoint;
  beforeEach(async () => {
    server = everything();
    endpoint = await ENDPOINTS[binding]!(server);
  });
  afterEach(() => endpoint.close());

  const post = (body: unknown, headers: Record<string, string | undefined> = {}) =>
    send(endpoint.url, { body, headers });

  it.each(VERSIONS)("%s is served, every request for itself", async (version) => {
    const headers = version >= "2025-06-18" ? { "mcp-protocol-version": version } : {};
    const opened = await post(initialize(version));
    expect(opened.status).toBe(200);
    expect(opened.headers).not.toHaveProperty("mcp-session-id");
    const hello = await opened.json();
    assertFits(version, hello, "initialize");
    // Nothing is announced that could not be kept.
    expect(hello["result"]).toMatchObject({
      protocolVersion: version,
      capabilities: { tools: {}, resources: {} },
    });
    expect(JSON.stringify(hello["result"])).not.toMatch(/listChanged|subscribe/);
    expect((await post(notification("notifications/initialized"), headers)).status).toBe(202);

    const checkedAs = version === "2024-11-05" ? "2025-03-26" : version;
    for (const [method, params] of [
      ["ping", undefined],
      ["tools/list", {}],
      ["tools/call", { name: "add", arguments: { a: 1, b: 2 } }],
      ["tools/call", { name: "mixed" }],
      ["resources/list", {}],
      ["resources/read", { uri: "note://1" }],
      ["prompts/get", { name: "review", arguments: { code: "x" } }],
      ["logging/setLevel", { level: "debug" }],
    ] as const) {
      const reply = await post(request("a", method, params), headers);
      expect(reply.status).toBe(200);
      expect(reply.headers["content-type"]).toBe("application/json");
      const answer = await reply.json();
      assertFits(checkedAs, answer, method);
      expect(answer).toMatchObject({ id: "a", result: expect.any(Object) });
    }
  });

  it("both eras are served at one endpoint at once", async () => {
    const modern: JSONRPCRequest = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "add", arguments: { a: 1, b: 1 }, _meta: requestMeta() },
    };
    const [old, current] = await Promise.all([
      post(call(1, "add", { arguments: { a: 1, b: 1 } })),
      post(modern, requestHeaders(modern)),
    ]);
    const [oldAnswer, answer] = [await old.json(), await current.json()];
    expect(answer["result"]).toMatchObject({ resultType: "complete", structuredContent: { sum: 2 } });
    expect(oldAnswer["result"]).toEqual({ content: [{ type: "text", text: '{"sum":2}' }] });
  });

  it("a modern request stays modern, whatever its header says or lacks", async () => {
    const body = request(1, "tools/list", { _meta: requestMeta() });
    for (const version of [undefined, "2025-11-25"]) {
      const reply = await post(body, { "mcp-protocol-version": version });
      expect(reply.status).toBe(400);
      expect(await reply.json()).toMatchObject({ id: 1, error: { code: -32020 } });
    }
  });

  it("initialize with the current revision is offered a legacy one (case 6)", async () => {
    for (const headers of [{}, { "mcp-protocol-version": "2026-07-28" }]) {
      const reply = await post(initialize("2026-07-28"), headers);
      expect(await reply.json()).toMatchObject({ result: { protocolVersion: "2025-11-25" } });
    }
  });

  it("progress and logs come on the stream of their request", async () => {
    const reply = await post(call(1, "count", { arguments: { to: 2 }, _meta: { progressToken: 5 } }));
    expect(reply.headers["content-type"]).toBe("text/event-stream");
    await reply.text();
    for (const message of reply.messages) assertFits("2025-03-26", message, "tools/call");
    expect(reply.messages).toMatchObject([
      { method: "notifications/progress", params: { progressToken: 5, progress: 1 } },
      { method: "notifications/progress", params: { progressToken: 5, progress: 2 } },
      { method: "notifications/message" },
      { id: 1, result: { content: [{ text: "counted to 2" }] } },
    ]);
    expect(reply.events.every(({ id }) => id === undefined)).toBe(true);
    const bare = await post(call(1, "count", { arguments: { to: 1 } }), { accept: "application/json" });
    expect(await bare.json()).toMatchObject({ id: 1, result: {} });
  });

  it("a client that takes only a stream gets one", async () => {
    for (const body of [initialize("2025-11-25"), request(0, "tools/list")]) {
      const reply = await post(body, { accept: "text/event-stream" });
      expect(reply.headers["content-type"]).toBe("text/event-stream");
      await reply.text();
      expect(reply.messages).toMatchObject([{ id: 0, result: {} }]);
    }
  });

  it("a question cannot be asked, and says what is missing", async () => {
    const reply = await post(call(1, "where"));
    expect(reply.status).toBe(200);
    expect(await reply.json()).toMatchObject({
      id: 1,
      error: { code: -32603, message: expect.stringContaining("roots") },
    });
    const subscribed = await post(request(2, "resources/subscribe", { uri: "note://1" }));
    expect(await subscribed.json()).toMatchObject({ error: { code: -32601 } });
  });

  it("two clients may use one id at once", async () => {
    let release = (): void => {};
    server.tool("wait", {}, () => new Promise((resolve) => (release = () => resolve("waited"))));
    const slow = post(call(1, "wait"));
    await vi.waitFor(async () => {
      const quick = await post(call(1, "add", { arguments: { a: 1, b: 2 } }));
      expect(await quick.json()).toMatchObject({ id: 1, result: { content: [{ text: '{"sum":3}' }] } });
    });
    await vi.waitFor(() => expect(release).not.toBe(undefined));
    await vi.waitFor(async () => {
      release();
      expect(await (await slow).json()).toMatchObject({ id: 1, result: { content: [{ text: "waited" }] } });
    });
  });

  it("a client that goes away aborts its request: nobody could come back for the response", async () => {
    const signals: AbortSignal[] = [];
    server.tool("hang", {}, (_args, ctx) => {
      signals.push(ctx.signal);
      ctx.log("info", "hanging");
      return new Promise((resolve) => ctx.signal.addEventListener("abort", () => resolve("aborted")));
    });
    const reply = await post(call(1, "hang"));
    await reply.until(({ method }) => method === "notifications/message");
    reply.break();
    await vi.waitFor(() => expect(signals[0]?.aborted).toBe(true));
  });

  describe("batches", () => {
    const batch = [
      request(1, "ping"),
      notification("notifications/initialized"),
      call("two", "add", { arguments: { a: 1, b: 2 } }),
      { jsonrpc: "2.0", id: 3 },
    ];

    it.each([undefined, "2025-03-26"])("are answered under the header %s", async (version) => {
      const reply = await post(batch, { "mcp-protocol-version": version });
      expect(reply.status).toBe(200);
      const answers = (await reply.json()) as unknown as { id: unknown }[];
      expect(answers.map(({ id }) => id).sort()).toEqual([1, 3, "two"]);
    });

    it("are streamed once something is reported", async () => {
      const reply = await post([request(1, "ping"), call(2, "count", { arguments: { to: 1 } })]);
      expect(reply.headers["content-type"]).toBe("text/event-stream");
      await reply.text();
      expect(reply.messages.map(({ id, method }) => id ?? method).sort()).toEqual([
        1,
        2,
        "notifications/message",
      ]);
    });

    it("of notifications alone are accepted", async () => {
      const reply = await post([notification("notifications/initialized"), notification("made/up")]);
      expect(reply).toMatchObject({ status: 202 });
      expect(await reply.text()).toBe("");
    });

    it.each<[string, unknown[], string | undefined, string]>([
      ["of no message", [], undefined, "at least one"],
      ["of too many", Array.from({ length: 101 }, () => request(1, "ping")), undefined, "at most 100"],
      ["in 2025-06-18", [request(1, "ping")], "2025-06-18", "MCP 2025-06-18 has no batches"],
      ["in 2025-11-25", [request(1, "ping")], "2025-11-25", "MCP 2025-11-25 has no batches"],
    ])("%s are refused", async (_, body, version, why) => {
      const reply = await post(body, { "mcp-protocol-version": version });
      expect(reply.status).toBe(400);
      expect(await reply.json()).toMatchObject({
        error: { code: -32600, message: expect.stringContaining(why) },
      });
    });

    it("with an initialize answer that with an error, and the rest", async () => {
      const answers = (await (await post([initialize("2025-03-26"), request(1, "ping")])).json()) as unknown;
      expect(answers).toMatchObject([
        { id: 0, error: { code: -32600 } },
        { id: 1, result: {} },
      ]);
    });
  });

  it.each<[string, number, unknown, Record<string, string | undefined>]>([
    ["a version that is not served", 400, request(1, "ping"), { "mcp-protocol-version": "1999-01-01" }],
    ["a version that is no version", 400, request(1, "ping"), { "mcp-protocol-version": "" }],
    ["no message", 400, { jsonrpc: "2.0", id: 1 }, {}],
    ["no jsonrpc", 400, { id: 1, method: "ping" }, {}],
    ["no JSON", 400, "{", {}],
    ["a number", 400, "5", {}],
    [
      "nesting too deep",
      400,
      `{"jsonrpc":"2.0","id":1,"method":"a","params":{"a":${"[".repeat(200)}${"]".repeat(200)}}}`,
      {},
    ],
    ["another content type", 415, request(1, "ping"), { "content-type": "text/plain" }],
    ["an Accept of neither form", 406, request(1, "ping"), { accept: "text/html" }],
    ["a foreign origin", 403, request(1, "ping"), { origin: "https://evil.example.com" }],
    ["a foreign host", 403, initialize("2025-11-25"), { host: "evil.example.com" }],
  ])("refuses %s: %d", async (_, status, body, headers) => {
    const reply = await post(body, headers);
    expect(reply.status).toBe(status);
    expect(await reply.json()).toMatchObject({ jsonrpc: "2.0", error: { message: expect.any(String) } });
  });

  it("names every revision that it serves to a client of none of them", async () => {
    const reply = await post(request(1, "ping"), { "mcp-protocol-version": "1999-01-01" });
    expect(await reply.json()).toMatchObject({
      error: {
        data: {
          requested: "1999-01-01",
          supported: ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
        },
      },
    });
  });

  it.each(["GET", "DELETE"])("%s is 405", async (method) => {
    const reply = await send(endpoint.url, { method, headers: { "mcp-session-id": "x" } });
    expect(reply).toMatchObject({ status: 405, headers: { allow: "POST" } });
  });

  it("lets an allowed page read the answers", async () => {
    const origin = "http://localhost:5173";
    for (const body of [
      initialize("2025-11-25"),
      call(1, "count", { arguments: { to: 1 } }),
      { id: 1 },
      notification("a"),
    ]) {
      const reply = await post(body, { origin });
      expect(reply.headers).toMatchObject({ "access-control-allow-origin": origin, vary: "Origin" });
      expect(reply.headers["access-control-expose-headers"]).toContain("mcp-session-id");
      await reply.text();
    }
  });

  it("a result that has no JSON is an internal error", async () => {
    const bare = createServer({ name: "a", version: "1.0.0" });
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    const other = await ENDPOINTS[binding]!({
      ...bare,
      handle: async ({ id }) => ({ jsonrpc: "2.0", id, result: { resultType: "complete", size: 1n } }),
    });
    const reply = await send(other.url, { body: request(1, "tools/list") });
    expect(await reply.json()).toMatchObject({ id: 1, error: { code: -32603, message: "Internal error" } });
    expect(logged).toHaveBeenCalledWith(expect.stringContaining("BigInt"));
    logged.mockRestore();
    await other.close();
  });

  it('legacy: "reject" names the versions that are served', async () => {
    const modern = await ENDPOINTS[binding]!(server, { legacy: "reject" });
    for (const [body, headers] of [
      [initialize("2025-11-25"), {}],
      [request(0, "tools/list"), { "mcp-protocol-version": "2025-06-18" }],
    ] as const) {
      const reply = await send(modern.url, { body, headers });
      expect(reply.status).toBe(400);
      expect(await reply.json()).toMatchObject({
        id: 0,
        error: { message: expect.stringContaining("2026-07-28") },
      });
    }
    expect((await send(modern.url, { method: "GET" })).status).toBe(405);
    await modern.close();
  });

  it.each<[unknown, string]>([
    ["sometimes", 'legacy must be "serve", "reject" or an object, got "sometimes"'],
    [{ sessions: true }, "legacy.sessions must be false or an object"],
    [{ sessions: { max: 0 } }, "legacy.sessions.max must be a positive integer, got 0"],
    [{ sessions: { maximum: 1 } }, "legacy.sessions.maximum is unknown; expected max, idleMs"],
    [{ sessions: { eventStore: {} } }, "legacy.sessions.eventStore must have the method append"],
    [{ inputTimeoutMs: 1.5 }, "legacy.inputTimeoutMs must be a positive integer, got 1.5"],
  ])("refuses the option %j by name", async (legacy, message) => {
    await expect(ENDPOINTS[binding]!(server, { legacy: legacy as "reject" })).rejects.toThrow(
      new TypeError(message),
    );
  });
});
