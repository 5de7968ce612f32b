/** The rungs that a request climbs before it is served: the same table on node:http and on web standards. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { JSONRPCRequest } from "../../src/protocol/types.js";
import {
  BINDINGS,
  call,
  eventsOf,
  headersOf,
  META,
  type Reply,
  request,
  type Sender,
  type TestHandler,
  testHandler,
  VERSION,
} from "./fixture.js";

const without = (key: string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(META).filter(([name]) => !name.endsWith(key)));

describe.each(Object.keys(BINDINGS))("%s", (name) => {
  let handler: TestHandler;
  let sender: Sender;

  beforeEach(async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    handler = testHandler();
    sender = await BINDINGS[name]!(handler, { maxBodyBytes: 10_000 });
  });
  afterEach(async () => {
    await sender.close();
    vi.restoreAllMocks();
  });

  const post = (
    of: JSONRPCRequest | string | unknown[],
    change: Record<string, string | undefined> = {},
    base: JSONRPCRequest = request("tools/list"),
  ): Promise<Reply> => {
    const from = typeof of === "object" && !Array.isArray(of) ? of : base;
    const headers: Record<string, string> = {};
    for (const [key, value] of Object.entries({ ...lower(headersOf(from)), ...change })) {
      if (value !== undefined) headers[key] = value;
    }
    return sender.send("POST", headers, typeof of === "string" ? of : JSON.stringify(of));
  };
  const lower = (headers: Record<string, string>): Record<string, string> =>
    Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value]));

  it("answers with one JSON document of known length", async () => {
    const reply = await post(call("echo", { a: "é" }));
    expect(reply.status).toBe(200);
    expect(reply.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(reply.text)).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: { resultType: "complete", args: { a: "é" } },
    });
    if (name === "node:http")
      expect(reply.headers["content-length"]).toBe(`${Buffer.byteLength(reply.text)}`);
  });

  it.each([0, "", "1", -1])("gives back the id %j", async (id) => {
    expect(JSON.parse((await post(call("echo", {}, id))).text).id).toBe(id);
  });

  it("serves two requests with the same id at once: ids of different clients may coincide", async () => {
    let release = (): void => {};
    handler.tools["wait"] = () =>
      new Promise((resolve) => {
        release = () => resolve({ resultType: "complete", waited: true });
      });
    const slow = post(call("wait", {}, 1));
    while (handler.served.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    const quick = await post(call("echo", {}, 1));
    expect(quick.status).toBe(200);
    release();
    expect(JSON.parse((await slow).text).result.waited).toBe(true);
  });

  describe("statuses", () => {
    it.each<[string, number, number | undefined, () => Promise<Reply>]>([
      ["text that is not JSON", 400, -32700, () => post("{")],
      ["an empty body", 400, -32700, () => post("")],
      ["a batch", 400, -32600, () => post([request("tools/list"), request("tools/list")])],
      ["a message without jsonrpc", 400, -32600, () => post('{"id":1,"method":"tools/list"}')],
      ["a JSON string", 400, -32600, () => post('"hello"')],
      ["an id of null", 400, -32600, () => post('{"jsonrpc":"2.0","id":null,"method":"tools/list"}')],
      ["a result", 400, -32600, () => post('{"jsonrpc":"2.0","id":1,"result":{}}')],
      ["an error", 400, -32600, () => post('{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}')],
      [
        "nesting too deep",
        400,
        -32600,
        () =>
          post(
            `${'{"jsonrpc":"2.0","id":1,"method":"a","params":{"a":'}${"[".repeat(500)}${"]".repeat(500)}}}`,
          ),
      ],
      ["a header that differs", 400, -32020, () => post(call("echo"), { "mcp-name": "other" })],
      ["no version header", 400, -32020, () => post(call("echo"), { "mcp-protocol-version": undefined })],
      ["no method header", 400, -32020, () => post(call("echo"), { "mcp-method": undefined })],
      ["no name header", 400, -32020, () => post(call("echo"), { "mcp-name": undefined })],
      ["two name headers in one", 400, -32020, () => post(call("echo"), { "mcp-name": "echo, echo" })],
      [
        "a method header in other case",
        400,
        -32020,
        () => post(request("tools/list"), { "mcp-method": "TOOLS/LIST" }),
      ],
      ["a missing capability", 400, -32021, () => post(call("needy"))],
      ["an unknown method", 404, -32601, () => post(request("unknown/method"))],
      ["a removed method", 404, -32601, () => post(request("ping"))],
      ["bad params under a good envelope", 200, -32602, () => post(call("picky"))],
      ["an internal error", 200, -32603, () => post(call("broken"))],
      ["a result that has no JSON", 200, -32603, () => post(call("unencodable"))],
      ["a body over the limit", 413, -32600, () => post(call("echo", { text: "x".repeat(20_000) }))],
      ["another content type", 415, -32600, () => post(call("echo"), { "content-type": "text/plain" })],
      [
        "another JSON type",
        415,
        -32600,
        () => post(call("echo"), { "content-type": "application/json-patch+json" }),
      ],
      [
        "another charset",
        415,
        -32600,
        () => post(call("echo"), { "content-type": 'application/json; a=b; Charset="utf-16"' }),
      ],
      ["an encoded body", 415, -32600, () => post(call("echo"), { "content-encoding": "gzip" })],
      ["an Accept of neither form", 406, -32600, () => post(call("echo"), { accept: "text/html" })],
      [
        "an Accept that refuses both",
        406,
        -32600,
        () => post(call("echo"), { accept: "application/json;q=0, text/event-stream;q=0.0, text/html" }),
      ],
      ["a foreign host", 403, -32600, () => post(call("echo"), { host: "evil.example.com" })],
      ["a foreign origin", 403, -32600, () => post(call("echo"), { origin: "https://evil.example.com" })],
      ["the origin null", 403, -32600, () => post(call("echo"), { origin: "null" })],
      ["GET", 405, -32600, () => sender.send("GET", { accept: "text/event-stream" })],
      ["DELETE", 405, -32600, () => sender.send("DELETE", { "mcp-session-id": "x" })],
      ["PUT", 405, -32600, () => sender.send("PUT", { "content-type": "application/json" }, "{}")],
      ["OPTIONS without an origin", 405, -32600, () => sender.send("OPTIONS", {})],
    ])("%s: %d, %d", async (_, status, code, act) => {
      const reply = await act();
      expect(reply.status).toBe(status);
      expect(reply.headers["content-type"]).toBe("application/json");
      expect(JSON.parse(reply.text)).toMatchObject({
        jsonrpc: "2.0",
        error: { code, message: expect.any(String) },
      });
    });

    it("HEAD: 405 without a body", async () => {
      const reply = await sender.send("HEAD", {});
      expect(reply).toMatchObject({ status: 405, headers: { allow: "POST" } });
      if (name === "node:http") expect(reply.text).toBe("");
    });

    it("GET and DELETE name the method that is allowed and the revisions that are served", async () => {
      const reply = await sender.send("GET", {});
      expect(reply.headers["allow"]).toBe("POST");
      expect(JSON.parse(reply.text).error.message).toContain(VERSION);
      expect(JSON.parse(reply.text)).not.toHaveProperty("id");
    });

    it.each(["notifications/cancelled", "notifications/initialized", "made/up"])(
      "a notification, %s: 202 without a body",
      async (method) => {
        const reply = await post(JSON.stringify({ jsonrpc: "2.0", method, params: { requestId: 1 } }), {
          "mcp-method": undefined,
          "mcp-protocol-version": undefined,
        });
        expect(reply).toMatchObject({ status: 202, text: "" });
        expect(handler.served).toEqual([]);
      },
    );

    it("errors carry the id where it can be read", async () => {
      expect(JSON.parse((await post('{"id":"a","method":"x"}')).text).id).toBe("a");
      expect(JSON.parse((await post(call("echo", {}, 0), { "mcp-name": "other" })).text).id).toBe(0);
      expect(JSON.parse((await post("{")).text)).not.toHaveProperty("id");
    });

    it("a handler that rejects against its contract is answered as an internal error", async () => {
      handler.handle = () => Promise.reject(new Error("secret"));
      const reply = await post(call("echo"));
      expect(reply.status).toBe(200);
      expect(JSON.parse(reply.text)).toEqual({
        jsonrpc: "2.0",
        id: 1,
        error: { code: -32603, message: "Internal error" },
      });
    });
  });

  describe("_meta and its header", () => {
    const version = { "mcp-protocol-version": VERSION, "mcp-method": "server/discover" };
    const discover = (params?: Record<string, unknown>): string =>
      JSON.stringify({ jsonrpc: "2.0", id: 7, method: "server/discover", ...(params && { params }) });
    const other = { ...META, "io.modelcontextprotocol/protocolVersion": "v999" };

    it.each<[string, string, Record<string, string | undefined>, number, number | undefined]>([
      ["complete", discover({ _meta: META }), version, 200, undefined],
      ["no params", discover(), version, 400, -32602],
      ["no _meta", discover({}), version, 400, -32602],
      ["no protocolVersion", discover({ _meta: without("/protocolVersion") }), version, 400, -32602],
      ["no clientCapabilities", discover({ _meta: without("/clientCapabilities") }), version, 400, -32602],
      [
        "no clientInfo, which is optional",
        discover({ _meta: without("/clientInfo") }),
        version,
        200,
        undefined,
      ],
      ["header and body differ", discover({ _meta: other }), version, 400, -32020],
      [
        "neither is supported",
        discover({ _meta: other }),
        { ...version, "mcp-protocol-version": "v999" },
        400,
        -32022,
      ],
      [
        "another era's header, no _meta",
        discover(),
        { ...version, "mcp-protocol-version": "2025-11-25" },
        400,
        -32022,
      ],
      ["no header, no _meta", discover(), { ...version, "mcp-protocol-version": undefined }, 400, -32020],
    ])("%s", async (_, body, headers, status, code) => {
      const reply = await post(body, headers);
      const answer = JSON.parse(reply.text);
      expect(reply.status).toBe(status);
      expect(answer.id).toBe(7);
      expect(answer.error?.code).toBe(code);
    });

    it("an initialize-era client is told the revisions of a server that refuses it", async () => {
      await sender.close();
      sender = await BINDINGS[name]!(handler, { legacy: "reject" });
      const body = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}';
      const reply = await post(body, { "mcp-protocol-version": undefined, "mcp-method": undefined });
      expect(reply.status).toBe(400);
      expect(JSON.parse(reply.text)).toMatchObject({
        id: 0,
        error: { message: expect.stringContaining(VERSION) },
      });
    });

    it("ignores a session id and a last event id, and gives out none", async () => {
      const reply = await post(call("echo"), { "mcp-session-id": "abc", "last-event-id": "9" });
      expect(reply.status).toBe(200);
      expect(reply.headers).not.toHaveProperty("mcp-session-id");
    });
  });

  describe("headers that are accepted", () => {
    it.each<[string, Record<string, string | undefined>]>([
      ["a charset", { "content-type": "application/json; charset=utf-8" }],
      ["a type in capitals", { "content-type": "Application/JSON" }],
      ["an encoded name", { "mcp-name": "=?base64?ZWNobw==?=" }],
      ["space around a name", { "mcp-name": "  echo  " }],
      ["no Accept", { accept: undefined }],
      ["any Accept", { accept: "*/*" }],
      ["Accept in another order", { accept: "text/event-stream;q=0.5, application/json" }],
      ["no origin", { origin: undefined }],
      ["the origin of a local page", { origin: "http://localhost:5173" }],
      ["an identity encoding", { "content-encoding": "identity" }],
    ])("%s", async (_, change) => {
      const headers: Record<string, string> = {};
      for (const [key, value] of Object.entries({ ...lower(headersOf(call("echo"))), ...change })) {
        if (value !== undefined) headers[key] = value;
      }
      const reply = await sender.send("POST", headers, JSON.stringify(call("echo")));
      expect(reply.status).toBe(200);
    });

    it("compares mirrored arguments", async () => {
      handler.mirrored = [{ header: "mcp-param-region", type: "string", argument: "region" }];
      const eu = call("echo", { region: "eu" });
      expect((await post(eu, { "mcp-param-region": "eu" })).status).toBe(200);
      expect((await post(eu)).status).toBe(400);
      expect((await post(eu, { "MCP-PARAM-REGION": "us" })).status).toBe(400);
    });

    it("reads a body with a byte order mark and with characters of every length", async () => {
      const reply = await post(
        `\ufeff${JSON.stringify(call("echo", { text: "aé世🎉\ufffd" }))}`,
        {},
        call("echo"),
      );
      expect(JSON.parse(reply.text).result.args.text).toBe("aé世🎉\ufffd");
    });
  });

  describe("event streams", () => {
    it("carries notifications in order, then the response, and ends", async () => {
      const reply = await post(call("count", { to: 3 }));
      expect(reply.status).toBe(200);
      expect(reply.headers).toMatchObject({
        "content-type": "text/event-stream",
        "cache-control": "no-store, no-transform",
        "x-accel-buffering": "no",
      });
      expect(
        eventsOf(reply.text).map(
          (event) => (event["params"] as { progress: number })?.progress ?? event["id"],
        ),
      ).toEqual([1, 2, 3, 1]);
    });

    it("sends JSON alone to a client that takes only that", async () => {
      const reply = await post(call("count", { to: 3 }), { accept: "application/json" });
      expect(reply.headers["content-type"]).toBe("application/json");
      expect(JSON.parse(reply.text).result.counted).toBe(3);
    });

    it("sends a stream to a client that takes only that, and errors under their status", async () => {
      const reply = await post(call("echo"), { accept: "text/event-stream" });
      expect(reply.headers["content-type"]).toBe("text/event-stream");
      expect(eventsOf(reply.text)).toHaveLength(1);
      expect((await post(request("ping"), { accept: "text/event-stream" })).status).toBe(404);
    });

    it("refuses a subscription of a client that takes no stream", async () => {
      const reply = await post(request("subscriptions/listen", { notifications: {} }, 5), {
        accept: "application/json",
      });
      expect(reply.status).toBe(406);
      expect(JSON.parse(reply.text).id).toBe(5);
      expect(handler.open.size).toBe(0);
    });

    it("drops what is notified after the response, and a notification that has no JSON", async () => {
      handler.tools["late"] = (_, exchange) => {
        exchange.notify({ jsonrpc: "2.0", method: "notifications/message", params: { size: 1n } });
        setTimeout(() => exchange.notify({ jsonrpc: "2.0", method: "notifications/progress" }), 0);
        return { resultType: "complete" };
      };
      const reply = await post(call("late"));
      expect(reply.headers["content-type"]).toBe("application/json");
      expect(console.error).toHaveBeenCalledWith(
        "notifications/message cannot be encoded as JSON:",
        expect.any(TypeError),
      );
    });
  });

  describe("pages of other origins", () => {
    const origin = "http://localhost:5173";

    it("may read answers, good and bad, where they are allowed", async () => {
      for (const reply of [
        await post(call("echo"), { origin }),
        await post("{", { origin }),
        await sender.send("GET", { origin }),
      ]) {
        expect(reply.headers).toMatchObject({ "access-control-allow-origin": origin, vary: "Origin" });
      }
      const stream = await post(call("count", { to: 1 }), { origin });
      expect(stream.headers).toMatchObject({
        "access-control-allow-origin": origin,
        "content-type": "text/event-stream",
      });
    });

    it("may not read answers otherwise", async () => {
      for (const reply of [
        await post(call("echo"), { origin: "https://evil.example.com" }),
        await post(call("echo")),
      ]) {
        expect(Object.keys(reply.headers).filter((header) => header.startsWith("access-control"))).toEqual(
          [],
        );
      }
      expect(handler.served).toHaveLength(1);
    });

    it("are answered before they POST", async () => {
      const reply = await sender.send("OPTIONS", {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "Content-Type, mcp-method, Mcp-Param-Region, x-evil, mcp-param-a b",
      });
      expect(reply).toMatchObject({
        status: 204,
        text: "",
        headers: {
          "access-control-allow-origin": origin,
          "access-control-allow-methods": "POST",
          "access-control-allow-headers": "content-type, mcp-method, mcp-param-region",
        },
      });
    });

    it("are refused before they POST where they are not allowed", async () => {
      const reply = await sender.send("OPTIONS", {
        origin: "https://evil.example.com",
        "access-control-request-method": "POST",
      });
      expect(reply.status).toBe(403);
      expect(reply.headers).not.toHaveProperty("access-control-allow-origin");
      expect(JSON.parse(reply.text).error.message).toContain("allowedOrigins");
    });
  });

  it("answers 503 beyond the requests that may be in flight, and recovers", async () => {
    await sender.close();
    sender = await BINDINGS[name]!(handler, { maxInFlight: 1 });
    let release = (): void => {};
    handler.tools["wait"] = () =>
      new Promise((resolve) => {
        release = () => resolve({ resultType: "complete" });
      });
    const slow = post(call("wait"));
    while (handler.served.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    const refused = await post(call("echo"));
    expect(refused).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    expect(JSON.parse(refused.text).error.message).toContain("maxInFlight");
    release();
    expect((await slow).status).toBe(200);
    // Refusals of every kind count as well, and are let go as well.
    for (const body of ["{", "[]", JSON.stringify({ jsonrpc: "2.0", method: "notifications/x" })])
      await post(body);
    expect((await post(call("count", { to: 2 }))).status).toBe(200);
    expect((await post(call("echo"))).status).toBe(200);
  });
});
