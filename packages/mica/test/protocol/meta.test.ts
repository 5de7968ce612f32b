/** The per-request protocol fields: which are required, and what is said of those that are malformed. */
import { describe, expect, it } from "vitest";
import { ErrorCode, ProtocolError } from "../../src/protocol/errors.js";
import { LOGGING_LEVELS, MetaKey, readRequestMeta } from "../../src/protocol/meta.js";

const VERSION = MetaKey.protocolVersion;
const CAPABILITIES = MetaKey.clientCapabilities;
const complete = {
  [VERSION]: "2026-07-28",
  [CAPABILITIES]: {},
  [MetaKey.clientInfo]: { name: "test", version: "1.0.0" },
};

function refused(params: Record<string, unknown> | undefined): string {
  try {
    readRequestMeta(params);
  } catch (error) {
    expect(error).toBeInstanceOf(ProtocolError);
    expect((error as ProtocolError).code).toBe(ErrorCode.InvalidParams);
    return (error as ProtocolError).message;
  }
  throw new Error(`accepted: ${JSON.stringify(params)}`);
}

describe("readRequestMeta", () => {
  it("reads every field", () => {
    const _meta = {
      ...complete,
      [CAPABILITIES]: { elicitation: { form: {} }, extensions: { "com.example/x": {} } },
      [MetaKey.logLevel]: "warning",
      progressToken: 0,
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
    };
    expect(readRequestMeta({ _meta })).toEqual({
      protocolVersion: "2026-07-28",
      clientCapabilities: { elicitation: { form: {} }, extensions: { "com.example/x": {} } },
      clientInfo: { name: "test", version: "1.0.0" },
      logLevel: "warning",
      progressToken: 0,
      all: _meta,
    });
  });

  it("takes a request without the optional fields", () => {
    const read = readRequestMeta({ _meta: { [VERSION]: "2026-07-28", [CAPABILITIES]: {} } });
    expect([read.clientInfo, read.logLevel, read.progressToken]).toEqual([undefined, undefined, undefined]);
  });

  it("leaves the judgement of the version to others", () => {
    expect(readRequestMeta({ _meta: { ...complete, [VERSION]: "1900-01-01" } }).protocolVersion).toBe(
      "1900-01-01",
    );
  });

  it.each([
    ["no params", undefined, /params\._meta must be an object; it is missing/],
    ["no _meta", {}, /params\._meta must be an object; it is missing/],
    ["_meta null", { _meta: null }, /params\._meta must be an object; got null/],
    ["_meta an array", { _meta: [] }, /params\._meta must be an object; got \[\]/],
    ["_meta a string", { _meta: "x" }, /params\._meta must be an object; got "x"/],
  ])("refuses %s", (_, params, message) => {
    expect(refused(params as Record<string, unknown>)).toMatch(message);
  });

  it.each([
    [VERSION, "a string"],
    [CAPABILITIES, "an object"],
  ])("refuses a request without %s", (field, expected) => {
    const { [field]: _, ...rest } = complete as Record<string, unknown>;
    expect(refused({ _meta: rest })).toBe(`Invalid _meta: ${field} must be ${expected}; it is missing`);
  });

  it.each<[string, unknown]>([
    [VERSION, 20260728],
    [VERSION, null],
    [VERSION, ["2026-07-28"]],
    [CAPABILITIES, null],
    [CAPABILITIES, []],
    [CAPABILITIES, "elicitation"],
    [CAPABILITIES, true],
    [MetaKey.clientInfo, null],
    [MetaKey.clientInfo, "client"],
    [MetaKey.clientInfo, { name: "client" }],
    [MetaKey.clientInfo, { version: "1" }],
    [MetaKey.clientInfo, { name: 1, version: "1" }],
    [MetaKey.clientInfo, []],
    [MetaKey.logLevel, "warn"],
    [MetaKey.logLevel, "INFO"],
    [MetaKey.logLevel, 3],
    [MetaKey.logLevel, null],
    [MetaKey.logLevel, "__proto__"],
    ["progressToken", 1.5],
    ["progressToken", null],
    ["progressToken", {}],
    ["progressToken", true],
  ])("refuses %s as %j, naming the field and the value", (field, value) => {
    const message = refused({ _meta: { ...complete, [field]: value } });
    expect(message).toContain(field);
    expect(message).toContain(`got ${JSON.stringify(value)}`);
  });

  it("shortens long values in what it says", () => {
    expect(refused({ _meta: { ...complete, [CAPABILITIES]: "x".repeat(1e6) } }).length).toBeLessThan(250);
  });

  it("takes every level, every kind of token", () => {
    for (const level of LOGGING_LEVELS) {
      expect(readRequestMeta({ _meta: { ...complete, [MetaKey.logLevel]: level } }).logLevel).toBe(level);
    }
    for (const progressToken of ["", "a", 0, -1]) {
      expect(readRequestMeta({ _meta: { ...complete, progressToken } }).progressToken).toBe(progressToken);
    }
  });

  it("looks at own keys only", () => {
    expect(
      refused(JSON.parse(`{"_meta":{"__proto__":${JSON.stringify(complete)}}}`) as Record<string, unknown>),
    ).toMatch(/protocolVersion/);
  });
});
