import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeHeaderValue, encodeHeaderValue, requestHeaders, sameValue } from "../../src/http/headers.js";
import { call, request, VERSION } from "./fixture.js";

const unicode = fc.string({ unit: "binary" }).filter((text) => text.isWellFormed());

describe("encodeHeaderValue", () => {
  it.each([
    ["us-west1", "us-west1"],
    ["Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="],
    [" padded ", "=?base64?IHBhZGRlZCA=?="],
    ["line1\nline2", "=?base64?bGluZTEKbGluZTI=?="],
    ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="],
    // The two markers may share their question mark and still look like the sentinel.
    ["=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="],
    ["", "=?base64??="],
    ["tab\tinside", "tab\tinside"],
    ["\ttab outside", "=?base64?CXRhYiBvdXRzaWRl?="],
    ["=?base64?literal", "=?base64?literal"],
    [42, "42"],
    [-7, "-7"],
    [-0, "0"],
    [Number.MAX_SAFE_INTEGER, "9007199254740991"],
    [true, "true"],
    [false, "false"],
  ])("encodes %j as %j", (value, header) => {
    expect(encodeHeaderValue(value)).toBe(header);
  });

  it.each([1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])("refuses the number %d", (value) => {
    expect(() => encodeHeaderValue(value)).toThrow(TypeError);
  });

  it("refuses half a surrogate pair, which UTF-8 cannot carry", () => {
    expect(() => encodeHeaderValue("a\ud800b")).toThrow(/well-formed Unicode, got "a\\ud800b"/);
  });

  it("gives every well-formed string a plain header that decodes to it", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          unicode,
          unicode.map((text) => `=?base64?${text}?=`),
          fc.string(),
        ),
        (text) => {
          const header = encodeHeaderValue(text);
          expect(header).toMatch(/^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/);
          expect(decodeHeaderValue(header)).toBe(text);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("handles a value longer than one piece", () => {
    const text = "é".repeat(50_000);
    expect(decodeHeaderValue(encodeHeaderValue(text))).toBe(text);
  });
});

describe("decodeHeaderValue", () => {
  it.each([
    ["plain", "plain"],
    ["=?base64?ZmFzdA==?=", "fast"],
    ["=?BASE64?ZmFzdA==?=", "=?BASE64?ZmFzdA==?="],
    ["SGVsbG8=", "SGVsbG8="],
    ["=?base64?SGVsbG8=", "=?base64?SGVsbG8="],
    ["SGVsbG8=?=", "SGVsbG8=?="],
    ["=?base64?77u/YQ==?=", "\ufeffa"],
    ["", ""],
  ])("reads %j as %j", (header, value) => {
    expect(decodeHeaderValue(header)).toBe(value);
  });

  it.each([
    ["no padding", "=?base64?SGVsbG8?="],
    ["characters outside the alphabet", "=?base64?SGVs!!!bG8=?="],
    ["the URL alphabet", "=?base64?__8=?="],
    ["bits that no encoder leaves set", "=?base64?SGVsbG9=?="],
    ["spaces in the base64", "=?base64?SGVs bG8=?="],
    ["bytes that are not UTF-8", "=?base64?/w==?="],
    ["an encoded surrogate", "=?base64?7aCA?="],
    ["markers that share a question mark", "=?base64?="],
    ["a character beyond ASCII", "café"],
    ["a control character", "a\u0001b"],
    ["a line break", "a\nb"],
    ["DEL", "a\u007fb"],
  ])("refuses %s", (_, header) => {
    expect(decodeHeaderValue(header)).toBeUndefined();
  });

  it("never throws, whatever the payload", () => {
    fc.assert(
      fc.property(fc.string(), (payload) => {
        const decoded = decodeHeaderValue(`=?base64?${payload}?=`);
        expect(decoded === undefined || encodeHeaderValue(decoded).length > 0).toBe(true);
      }),
    );
  });
});

describe("sameValue", () => {
  it.each([
    ["a", "a", true],
    ["a", "A", false],
    ["42", "42.0", false],
    [42, "42", true],
    [42, "42.0", true],
    [42, "42.000", true],
    [1_000_000, "1e+06", true],
    [1_000_000, "1E6", true],
    [0, "-0", true],
    [42, "042", false],
    [42, "0x2A", false],
    [42, "42.1", false],
    [42, " 42", false],
    [42, "42.00000000000000001", false],
    [0, "", false],
    [9007199254740991, "9007199254740991", true],
    // Beyond the safe range, two different numbers would be one.
    [9007199254740992, "9007199254740993", false],
    [9007199254740992, "9007199254740992", false],
    [1.5, "1.5", true],
    [true, "true", true],
    [true, "True", false],
    [true, "1", false],
    [false, "false", true],
    [null, "null", false],
    [undefined, "undefined", false],
    [{}, "[object Object]", false],
    [["a"], "a", false],
  ])("compares body %j with header %j: %s", (body, header, same) => {
    expect(sameValue(body, header)).toBe(same);
  });

  it("equates every safe integer with its decimal string, and with no neighbour's", () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.integer({ min: 1, max: 9 }), (value, step) => {
        expect(sameValue(value, encodeHeaderValue(value))).toBe(true);
        expect(sameValue(value, `${BigInt(value) + BigInt(step)}`)).toBe(false);
      }),
    );
  });
});

describe("requestHeaders", () => {
  it("mirrors version, method and the name of a tool", () => {
    expect(requestHeaders(call("get_weather"))).toEqual({
      "MCP-Protocol-Version": VERSION,
      "Mcp-Method": "tools/call",
      "Mcp-Name": "get_weather",
    });
  });

  it("mirrors a uri, encoded where it must be", () => {
    const headers = requestHeaders(request("resources/read", { uri: "file:///Übersicht.md" }));
    expect(headers["Mcp-Name"]).toBe("=?base64?ZmlsZTovLy/DnGJlcnNpY2h0Lm1k?=");
  });

  it("gives no name to methods that have none, even if they have a parameter of that name", () => {
    expect(requestHeaders(request("tools/list", { name: "x" }))).not.toHaveProperty("Mcp-Name");
  });

  it("mirrors arguments that are there, and leaves out the others", () => {
    const headers = requestHeaders(call("sql"), [
      { header: "mcp-param-region", type: "string", value: "us-west1" },
      { header: "mcp-param-limit", type: "integer", value: 10 },
      { header: "mcp-param-dry", type: "boolean", value: false },
      { header: "mcp-param-absent", type: "string", value: undefined },
      { header: "mcp-param-null", type: "string", value: null },
      { header: "mcp-param-object", type: "string", value: { a: 1 } },
    ]);
    expect(headers).toMatchObject({
      "mcp-param-region": "us-west1",
      "mcp-param-limit": "10",
      "mcp-param-dry": "false",
    });
    expect(Object.keys(headers)).toHaveLength(6);
  });

  it("refuses a method that cannot stand in a header", () => {
    expect(() => requestHeaders(request("tools/lïst"))).toThrow(/plain ASCII over HTTP, got "tools\/lïst"/);
  });

  it("sends no version where the request has none", () => {
    expect(requestHeaders({ jsonrpc: "2.0", id: 1, method: "server/discover" })).toEqual({
      "Mcp-Method": "server/discover",
    });
  });
});
