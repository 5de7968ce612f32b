/** Decoding, classifying and encoding one message. */
import { describe, expect, it } from "vitest";
import {
  checkMessage,
  DEFAULT_MAX_DEPTH,
  DecodeError,
  decodeMessage,
  encodeMessage,
  encodeOnce,
  errorResponse,
  isErrorResponse,
  isNotification,
  isRequest,
  isRequestId,
  isResponse,
  resultResponse,
} from "../../src/protocol/jsonrpc.js";
import type { JSONRPCMessage, JSONRPCRequest } from "../../src/protocol/types.js";

function refused(text: string, maxDepth?: number): DecodeError {
  try {
    decodeMessage(text, maxDepth);
  } catch (error) {
    if (error instanceof DecodeError) return error;
    throw error;
  }
  throw new Error(`accepted: ${text.slice(0, 200)}`);
}

const kindOf = (message: JSONRPCMessage) =>
  [
    isRequest(message) && "request",
    isNotification(message) && "notification",
    isResponse(message) && "response",
  ].filter(Boolean);

describe("decodeMessage", () => {
  it.each([
    ["a request", '{"jsonrpc":"2.0","id":1,"method":"server/discover"}', "request"],
    ["the id 0", '{"jsonrpc":"2.0","id":0,"method":"a"}', "request"],
    ["the empty id", '{"jsonrpc":"2.0","id":"","method":"a"}', "request"],
    ["a negative id", '{"jsonrpc":"2.0","id":-7,"method":"a"}', "request"],
    ["the largest id", '{"jsonrpc":"2.0","id":9007199254740991,"method":"a"}', "request"],
    ["an id written as 1.0", '{"jsonrpc":"2.0","id":1.0,"method":"a"}', "request"],
    ["an empty method", '{"jsonrpc":"2.0","id":1,"method":""}', "request"],
    ["params", '{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":[1,{"y":null}]}}', "request"],
    ["unknown members", '{"jsonrpc":"2.0","id":1,"method":"a","extra":true}', "request"],
    ["space around it", ' \t\r\n{"jsonrpc":"2.0","id":1,"method":"a"}\n', "request"],
    ["a byte order mark", '\ufeff{"jsonrpc":"2.0","id":1,"method":"a"}', "request"],
    [
      "a notification",
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}',
      "notification",
    ],
    ["a result", '{"jsonrpc":"2.0","id":"","result":{}}', "response"],
    ["an error", '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}', "response"],
    ["an error without an id", '{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}', "response"],
    [
      "an error with the id null",
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}',
      "response",
    ],
  ])("accepts %s", (_, text, kind) => {
    expect(kindOf(decodeMessage(text))).toEqual([kind]);
  });

  it("leaves an id of null out, as the schema has no such id", () => {
    const text = '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}';
    expect(decodeMessage(text)).toEqual({ jsonrpc: "2.0", error: { code: -32700, message: "no" } });
  });

  it.each([
    ["nothing", ""],
    ["half a message", '{"jsonrpc":"2.0","id":1,'],
    ["text", "Server listening on port 3000"],
    ["two messages", '{"jsonrpc":"2.0","id":1,"method":"a"}{"jsonrpc":"2.0","id":2,"method":"a"}'],
    ["two byte order marks", '\ufeff\ufeff{"jsonrpc":"2.0","id":1,"method":"a"}'],
    ["NaN", '{"jsonrpc":"2.0","id":NaN,"method":"a"}'],
    ["single quotes", "{'jsonrpc':'2.0','id':1,'method':'a'}"],
  ])("answers -32700 to %s", (_, text) => {
    const error = refused(text);
    expect(error.code).toBe(-32700);
    expect(error.id).toBeUndefined();
  });

  it.each<[string, string, string | number | undefined, RegExp]>([
    ["no jsonrpc", '{"id":99,"method":"tools/list","params":{}}', 99, /"jsonrpc": "2.0"/],
    ["jsonrpc 1.0", '{"jsonrpc":"1.0","id":"a","method":"tools/list"}', "a", /"jsonrpc": "2.0"/],
    ["jsonrpc as a number", '{"jsonrpc":2.0,"id":1,"method":"tools/list"}', 1, /"jsonrpc": "2.0"/],
    ["a batch", '[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', undefined, /batches/],
    ["an empty batch", "[]", undefined, /batches/],
    ["method_ for method", '{"jsonrpc":"2.0","id":5,"method_":"tools/list"}', 5, /"method"/],
    ["a method that is a number", '{"jsonrpc":"2.0","id":0,"method":7}', 0, /"method" must be a string/],
    ["a method that is null", '{"jsonrpc":"2.0","id":"","method":null}', "", /"method" must be a string/],
    ["the id null", '{"jsonrpc":"2.0","id":null,"method":"tools/list"}', undefined, /"id" must be/],
    [
      "the id null beside an error",
      '{"jsonrpc":"2.0","id":null,"method":"a","error":{"code":1,"message":""}}',
      undefined,
      /"id"/,
    ],
    ["the id 1.5", '{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}', undefined, /"id" must be/],
    ["the id true", '{"jsonrpc":"2.0","id":true,"method":"tools/list"}', undefined, /"id" must be/],
    [
      "an id that is an object",
      '{"jsonrpc":"2.0","id":{"toString":1},"method":"a"}',
      undefined,
      /"id" must be/,
    ],
    [
      "an id too large to be echoed",
      '{"jsonrpc":"2.0","id":9007199254740993,"method":"a"}',
      undefined,
      /2\^53/,
    ],
    ["an infinite id", '{"jsonrpc":"2.0","id":1e999,"method":"a"}', undefined, /"id" must be/],
    [
      "params that are an array",
      '{"jsonrpc":"2.0","id":3,"method":"a","params":[]}',
      3,
      /"params" must be an object/,
    ],
    [
      "params that are null",
      '{"jsonrpc":"2.0","id":3,"method":"a","params":null}',
      3,
      /"params" must be an object/,
    ],
    [
      "params that are a string",
      '{"jsonrpc":"2.0","id":3,"method":"a","params":"x"}',
      3,
      /"params" must be an object/,
    ],
    ["a result without an id", '{"jsonrpc":"2.0","result":{}}', undefined, /with an "id"/],
    ["a result that is a string", '{"jsonrpc":"2.0","id":1,"result":"ok"}', 1, /expected "method"/],
    ["a result that is an array", '{"jsonrpc":"2.0","id":1,"result":[]}', 1, /expected "method"/],
    ["result and error", '{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}', 1, /both/],
    ["an error without a code", '{"jsonrpc":"2.0","id":1,"error":{"message":"x"}}', 1, /expected "method"/],
    [
      "an error with code 1.5",
      '{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"x"}}',
      1,
      /expected "method"/,
    ],
    ["an error that is a string", '{"jsonrpc":"2.0","id":null,"error":"x"}', undefined, /"id" must be/],
    ["a number", "42", undefined, /object/],
    ["null", "null", undefined, /object/],
    ["a string", '"hello"', undefined, /object/],
    ["an empty object", "{}", undefined, /"jsonrpc": "2.0"/],
  ])("answers -32600 to %s, with the id where it can be read", (_, text, id, message) => {
    const error = refused(text);
    expect(error.code).toBe(-32600);
    expect(error.id).toBe(id);
    expect(error.message).toMatch(message);
  });

  it("bounds the nesting, whatever it is made of", () => {
    const nested = (levels: number, open: string, close: string) =>
      `{"jsonrpc":"2.0","id":8,"method":"a","params":{"x":${open.repeat(levels)}1${close.repeat(levels)}}}`;
    // The message, its params, and what is inside of them.
    const most = DEFAULT_MAX_DEPTH - 2;
    for (const [open, close] of [
      ["[", "]"],
      ['{"y":', "}"],
      ['[{"y":', "}]"],
    ] as const) {
      const perLevel = open === '[{"y":' ? 2 : 1;
      expect(() => decodeMessage(nested(most / perLevel, open, close))).not.toThrow();
      const error = refused(nested(most / perLevel + 1, open, close));
      expect([error.code, error.id]).toEqual([-32600, 8]);
      expect(error.message).toContain(`deeper than ${DEFAULT_MAX_DEPTH} levels`);
    }
    expect(refused('{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":{}}}', 2).message).toContain(
      "2 levels",
    );
  });

  it("refuses a million levels before they are parsed", () => {
    const brackets = "[".repeat(1e6);
    for (const text of [
      `{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":${brackets}${"]".repeat(1e6)}}}`,
      brackets,
      `{"jsonrpc":"2.0","id":1,"method":"a","params":${'{"y":'.repeat(1e6)}`,
    ]) {
      const error = refused(text);
      expect([error.code, error.message]).toEqual([-32600, "Invalid request: nested deeper than 128 levels"]);
    }
  });

  it("takes brackets within long strings for what they are", () => {
    const deep = "[{".repeat(50_000);
    for (const text of [deep, `"${deep}`, `\\"${deep}`, `${'"'.repeat(1e4)}${deep}\\`]) {
      const message = { jsonrpc: "2.0", id: 1, method: "a", params: { text, list: [[text]] } };
      expect(decodeMessage(JSON.stringify(message))).toEqual(message);
    }
    const wide = { jsonrpc: "2.0", id: 1, method: "a", params: { list: Array(50_000).fill([{}]) } };
    expect(isRequest(decodeMessage(JSON.stringify(wide)))).toBe(true);
  });

  it("sees where a long string ends, whatever it ends with", () => {
    const nested = `${"[".repeat(200)}${"]".repeat(200)}`;
    for (const ending of ["", "\\\\", '\\"', '\\\\\\"', '\\\\\\"\\\\']) {
      const text = `"${"x".repeat(100_000)}${ending}"`;
      expect(JSON.parse(text)).toHaveLength(100_000 + ending.length / 2);
      const error = refused(
        `{"jsonrpc":"2.0","id":1,"method":"a","params":{"text":${text},"list":${nested}}}`,
      );
      // Known before it is parsed: the id was not read.
      expect([error.message, error.id]).toEqual([
        "Invalid request: nested deeper than 128 levels",
        undefined,
      ]);
    }
  });

  it("keeps keys like __proto__ as data", () => {
    const text =
      '{"jsonrpc":"2.0","id":1,"method":"a","params":{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}}';
    const { params } = decodeMessage(text) as JSONRPCRequest;
    expect(Object.keys(params as object)).toEqual(["__proto__", "constructor"]);
    expect((params as { admin?: boolean }).admin).toBeUndefined();
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
    expect(encodeMessage(decodeMessage(text))).toBe(text);
  });

  it("is not misled by members of Object.prototype", () => {
    expect(refused('{"jsonrpc":"2.0","id":1,"__proto__":{"method":"a"}}').code).toBe(-32600);
    expect(refused('{"__proto__":{"jsonrpc":"2.0","id":1,"method":"a"}}').code).toBe(-32600);
  });

  it("does the same for values that are parsed already", () => {
    expect(checkMessage({ jsonrpc: "2.0", id: "x", method: "a" })).toEqual({
      jsonrpc: "2.0",
      id: "x",
      method: "a",
    });
    expect(() => checkMessage(undefined)).toThrow(DecodeError);
    expect(() => checkMessage([])).toThrow(DecodeError);
  });
});

describe("isRequestId", () => {
  it("takes strings and safe integers, and nothing else", () => {
    for (const id of ["", "1", 0, -1, 2 ** 53 - 1]) expect(isRequestId(id)).toBe(true);
    for (const id of [null, undefined, 1.5, 2 ** 53, Number.NaN, true, {}, [], 1n])
      expect(isRequestId(id)).toBe(false);
  });
});

describe("encodeMessage", () => {
  it.each<JSONRPCMessage>([
    { jsonrpc: "2.0", id: 0, method: "a" },
    { jsonrpc: "2.0", method: "a", params: { text: "line\nbreak \u2028 \ufeff" } },
    resultResponse("", { resultType: "complete", content: [] }),
    errorResponse(undefined, { code: -32700, message: "no" }),
    errorResponse(7, { code: -32602, message: "no", data: { uri: "x:y" } }),
  ])("writes one line that reads back the same: %j", (message) => {
    const line = encodeMessage(message);
    expect(line).not.toContain("\n");
    expect(decodeMessage(line)).toEqual(message);
  });

  it("leaves the id out where there is none", () => {
    expect(encodeMessage(errorResponse(undefined, { code: 1, message: "m" }))).toBe(
      '{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}',
    );
    expect(isErrorResponse(errorResponse(undefined, { code: 1, message: "m" }))).toBe(true);
  });

  it("encodes a result that is marked once for all of its responses", () => {
    let encodings = 0;
    const result = encodeOnce({
      resultType: "complete",
      tools: {
        toJSON() {
          encodings++;
          return [];
        },
      },
    });
    const ids = [1, "1", "", 'quote"and\\slash', 0];
    for (const id of ids) {
      const line = encodeMessage(resultResponse(id, result));
      expect(JSON.parse(line)).toEqual({ jsonrpc: "2.0", id, result: { resultType: "complete", tools: [] } });
    }
    expect(encodings).toBe(1);
  });

  it("encodes a result that is not marked every time", () => {
    const result = { resultType: "complete", count: 1 };
    expect(encodeMessage(resultResponse(1, result))).toContain('"count":1');
    result.count = 2;
    expect(encodeMessage(resultResponse(1, result))).toContain('"count":2');
  });

  it("throws, rather than send half a message, where a value has no JSON", () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    expect(() => encodeMessage(resultResponse(1, { structuredContent: 1n }))).toThrow(TypeError);
    expect(() => encodeMessage(resultResponse(1, cycle))).toThrow(TypeError);
    expect(() => encodeMessage(resultResponse(1, encodeOnce(cycle)))).toThrow(TypeError);
  });
});
