/** Whatever a client mirrors, the server's comparison of headers and body accepts, and nothing else. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { checkHeaders } from "../../src/http/check.js";
import { requestHeaders } from "../../src/http/headers.js";
import type { JSONRPCRequest } from "../../src/protocol/types.js";
import { headerParams, readPath } from "../../src/schema/header-params.js";
import type { RequestHandler } from "../../src/transport.js";

const schema = {
  type: "object",
  properties: {
    text: { type: "string", "x-mcp-header": "Text" },
    count: { type: "integer", "x-mcp-header": "Count" },
    deep: { type: "object", properties: { dry: { type: "boolean", "x-mcp-header": "Dry-Run" } } },
  },
};
const params = headerParams(schema).params ?? [];

/** A client's headers for a call, as a server reads them: lower case, outer whitespace gone. */
function overTheWire(request: JSONRPCRequest, args: unknown) {
  const mirrored = params.map(({ header, type, path }) => ({ header, type, value: readPath(args, path) }));
  const sent = Object.entries(requestHeaders(request, mirrored));
  return new Map(sent.map(([name, value]) => [name.toLowerCase(), value.trim()]));
}

const handler = (args: unknown): RequestHandler => ({
  supportedVersions: ["2026-07-28"],
  handle: () => Promise.reject(new Error("not called")),
  mirroredHeaders: () =>
    params.map(({ header, type, path }) => ({ header, type, value: readPath(args, path) })),
  endSubscriptions: () => {},
});

const call = (name: string, args: unknown): JSONRPCRequest => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name, arguments: args, _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } },
});

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const awkward = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string(),
  fc.constantFrom(
    "",
    " ",
    "\t",
    "a\r\nb: c",
    "=?base64?",
    "=?base64??=",
    "=?base64?ZmFzdA==?=",
    "=?BASE64?x?=",
    "\0",
    "ÿ",
  ),
);
const args = fc.record({
  text: fc.oneof(optional(awkward), fc.constant(null)),
  count: optional(
    fc.oneof(fc.maxSafeInteger(), fc.constantFrom(0, -0, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER)),
  ),
  deep: optional(fc.record({ dry: optional(fc.boolean()) })),
});

it("what is sent is accepted", () => {
  fc.assert(
    fc.property(awkward, args, (name, given) => {
      const parsed = JSON.parse(JSON.stringify(given)) as unknown;
      const request = call(name, parsed);
      const headers = overTheWire(request, parsed);
      for (const value of headers.values()) expect(value).toMatch(/^[\x20-\x7e]*$/);
      expect(checkHeaders((header) => headers.get(header), request, handler(parsed))).toBeUndefined();
    }),
    { numRuns: 2_000 },
  );
});

it("headers of other arguments are not", () => {
  fc.assert(
    fc.property(args, args, (one, other) => {
      const [mine, theirs] = [one, other].map(
        (given) => JSON.parse(JSON.stringify(given)) as Record<string, unknown>,
      );
      const seen = (given: unknown) => params.map(({ path }) => readPath(given, path));
      fc.pre(JSON.stringify(seen(mine)) !== JSON.stringify(seen(theirs)));
      const headers = overTheWire(call("t", theirs), theirs);
      expect(checkHeaders((header) => headers.get(header), call("t", mine), handler(mine))).toMatchObject({
        code: -32020,
      });
    }),
    { numRuns: 1_000 },
  );
});
