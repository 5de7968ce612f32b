import { describe, expect, it } from "vitest";
import { checkHeaders } from "../../src/http/check.js";
import type { JSONRPCRequest } from "../../src/protocol/types.js";
import { call, headersOf, META, request, testHandler, VERSION } from "./fixture.js";

const handler = testHandler();

function check(of: JSONRPCRequest, change: Record<string, string | undefined> = {}, on = handler) {
  const headers: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(headersOf(of))) headers[name.toLowerCase()] = value;
  Object.assign(headers, change);
  return checkHeaders((name) => headers[name], of, on);
}

const mismatch = (message: string | RegExp) => ({
  code: -32020,
  message: typeof message === "string" ? `Header mismatch: ${message}` : expect.stringMatching(message),
});

describe("MCP-Protocol-Version", () => {
  it("passes where header and body agree, supported or not", () => {
    expect(check(request("tools/list"))).toBeUndefined();
    const meta = { ...META, "io.modelcontextprotocol/protocolVersion": "v999" };
    expect(check(request("tools/list", { _meta: meta }))).toBeUndefined();
  });

  it("names the revisions of the server where the header is missing", () => {
    expect(check(request("initialize"), { "mcp-protocol-version": undefined })).toEqual(
      mismatch("the MCP-Protocol-Version header is missing; this server speaks 2026-07-28"),
    );
  });

  it("names both values where they differ", () => {
    expect(check(request("tools/list"), { "mcp-protocol-version": "2025-11-25" })).toEqual(
      mismatch("MCP-Protocol-Version header value '2025-11-25' does not match body value '2026-07-28'"),
    );
  });

  it.each([
    [{}],
    [{ _meta: null }],
    [{ _meta: 7 }],
    [{ _meta: {} }],
    [{ _meta: { ...META, [Object.keys(META)[0]!]: 1 } }],
  ])("leaves a body without its version to the handler: params %j", (params) => {
    const bare: JSONRPCRequest = { jsonrpc: "2.0", id: 1, method: "server/discover", params };
    expect(check(bare, { "mcp-protocol-version": VERSION })).toBeUndefined();
  });

  it("lists the revisions for a header of another era without a version in the body", () => {
    const bare: JSONRPCRequest = { jsonrpc: "2.0", id: 1, method: "initialize" };
    expect(check(bare, { "mcp-protocol-version": "2025-11-25" })).toEqual({
      code: -32022,
      message: expect.stringContaining("2026-07-28"),
      data: { supported: [VERSION], requested: "2025-11-25" },
    });
  });
});

describe("Mcp-Method", () => {
  it.each([
    [undefined, "the Mcp-Method header is missing; the body value is 'tools/list'"],
    ["prompts/list", "Mcp-Method header value 'prompts/list' does not match body value 'tools/list'"],
    ["TOOLS/LIST", "Mcp-Method header value 'TOOLS/LIST' does not match body value 'tools/list'"],
    ["=?base64?dG9vbHMvbGlzdA==?=", /does not match body value 'tools\/list'/],
  ])("refuses %j", (value, message) => {
    expect(check(request("tools/list"), { "mcp-method": value })).toEqual(mismatch(message));
  });
});

describe("Mcp-Name", () => {
  it("is decoded, then compared", () => {
    expect(check(call("fast"), { "mcp-name": "=?base64?ZmFzdA==?=" })).toBeUndefined();
    expect(check(call("slow"), { "mcp-name": "=?base64?ZmFzdA==?=" })).toEqual(
      mismatch("Mcp-Name header value 'fast' does not match body value 'slow'"),
    );
  });

  it.each([
    ["tools/call", { name: "a" }],
    ["prompts/get", { name: "a" }],
    ["resources/read", { uri: "a" }],
  ])("is required for %s", (method, params) => {
    expect(check(request(method, params))).toBeUndefined();
    expect(check(request(method, params), { "mcp-name": undefined })).toEqual(
      mismatch("the Mcp-Name header is missing; the body value is 'a'"),
    );
    expect(check(request(method, params), { "mcp-name": "b" })).toEqual(
      mismatch("Mcp-Name header value 'b' does not match body value 'a'"),
    );
  });

  it("says what is malformed", () => {
    expect(check(call("é"), { "mcp-name": "é" })).toEqual(
      mismatch("Mcp-Name header value 'é' is neither plain ASCII nor valid =?base64?...?="),
    );
    expect(check(call("Hello"), { "mcp-name": "=?base64?SGVsbG8?=" })).toEqual(
      mismatch(/neither plain ASCII/),
    );
  });

  it("is not looked at for methods that have no name", () => {
    expect(check(request("tools/list"), { "mcp-name": "whatever" })).toBeUndefined();
    expect(check(request("tasks/get", { taskId: "7" }), { "mcp-name": "7" })).toBeUndefined();
  });

  it("leaves a request without its name to the handler, unless the header claims one", () => {
    expect(check(request("tools/call"))).toBeUndefined();
    expect(check(request("tools/call"), { "mcp-name": "a" })).toEqual(
      mismatch("Mcp-Name header value 'a' mirrors a value that the body does not have"),
    );
  });
});

describe("Mcp-Param-*", () => {
  const mirroring = testHandler();
  mirroring.mirrored = [
    { header: "mcp-param-region", type: "string", argument: "region" },
    { header: "mcp-param-limit", type: "integer", argument: "limit" },
    { header: "mcp-param-dry", type: "boolean", argument: "dry" },
  ];
  const judge = (args: Record<string, unknown>, headers: Record<string, string>) =>
    check(call("sql", args), headers, mirroring);

  it("passes where every argument that is there has its header", () => {
    expect(judge({}, {})).toBeUndefined();
    expect(judge({ region: null }, {})).toBeUndefined();
    expect(judge({ region: "eu" }, { "mcp-param-region": "eu" })).toBeUndefined();
    expect(judge({ region: "" }, { "mcp-param-region": "=?base64??=" })).toBeUndefined();
    expect(judge({ region: "" }, { "mcp-param-region": "" })).toBeUndefined();
    expect(judge({ limit: 42 }, { "mcp-param-limit": "42.0" })).toBeUndefined();
    expect(judge({ limit: 0 }, { "mcp-param-limit": "0" })).toBeUndefined();
    expect(judge({ dry: false }, { "mcp-param-dry": "false" })).toBeUndefined();
    expect(judge({}, { "mcp-param-unknown": "é" })).toBeUndefined();
  });

  it.each<[Record<string, unknown>, Record<string, string>, string | RegExp]>([
    [{ region: "eu" }, {}, "the mcp-param-region header is missing; the body value is 'eu'"],
    [{ region: "" }, {}, "the mcp-param-region header is missing; the body value is ''"],
    [{ dry: false }, {}, "the mcp-param-dry header is missing; the body value is false"],
    [{ region: { a: 1 } }, {}, 'the mcp-param-region header is missing; the body value is {"a":1}'],
    [
      {},
      { "mcp-param-region": "eu" },
      "mcp-param-region header value 'eu' mirrors a value that the body does not have",
    ],
    [{ region: null }, { "mcp-param-region": "null" }, /mirrors a value that the body does not have/],
    [
      { region: "eu" },
      { "mcp-param-region": "us" },
      "mcp-param-region header value 'us' does not match body value 'eu'",
    ],
    [{ region: "Hello" }, { "mcp-param-region": "=?base64?SGVs!!!bG8=?=" }, /neither plain ASCII/],
    [
      { limit: 42 },
      { "mcp-param-limit": "43" },
      "mcp-param-limit header value '43' does not match body value 42",
    ],
    [
      { limit: 2 ** 53 },
      { "mcp-param-limit": "9007199254740993" },
      /mirrors 9007199254740992, an integer beyond/,
    ],
    [{ region: "eu", limit: 1 }, { "mcp-param-region": "eu" }, /mcp-param-limit header is missing/],
  ])("refuses arguments %j with headers %j", (args, headers, message) => {
    expect(judge(args, headers)).toEqual(mismatch(message));
  });

  it("shortens long values in its message", () => {
    const error = judge({ region: "x".repeat(10_000) }, { "mcp-param-region": "y".repeat(10_000) });
    expect(error?.message.length).toBeLessThan(400);
  });
});
