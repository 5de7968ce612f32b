/** Requests made of anything: each gets a well-formed answer, and none of them finds a fault in the server. */
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { decodeMessage } from "../../src/protocol/jsonrpc.js";
import { METHODS } from "../../src/protocol/methods.js";
import type { JSONRPCRequest } from "../../src/protocol/types.js";
import type { OnError } from "../../src/server/failure.js";
import { createServer } from "../../src/server/server.js";
import { requestMeta } from "../support/caller.js";
import { checkedServer } from "../support/wire-schema.js";

const onError = vi.fn<OnError>();

function build() {
  const server = createServer({ name: "test", version: "1.0.0", onError, state: { keys: "k".repeat(32) } });
  server.tool(
    "zod",
    { input: z.object({ a: z.string().optional(), list: z.array(z.number()).optional() }) },
    (args) => args,
  );
  server.tool(
    "data",
    {
      input: {
        type: "object",
        properties: {
          a: { type: "string", format: "uri" },
          list: { uniqueItems: true },
          region: { type: "string", "x-mcp-header": "R" },
        },
        additionalProperties: { anyOf: [{ type: "number" }, { $ref: "#" }] },
      },
    },
    (args) => args,
  );
  server.tool("none", {}, (args) => args);
  server.tool("asks", {}, async (_, ctx) => {
    if (!ctx.can("elicit")) return "cannot";
    const answer = await ctx.elicit("q", { message: "?", schema: z.object({ a: z.string() }) });
    return ctx.step("s", () => answer.action);
  });
  server.resource("x:a", { name: "a" }, () => "a");
  server.resourceTemplate(
    "file:///{path}{?q*}",
    { name: "file", complete: { path: (value) => [value] } },
    (variables) => variables,
  );
  server.prompt(
    "p",
    { input: z.object({ a: z.string().optional() }), complete: { a: ["1"] } },
    ({ a }) => `${a}`,
  );
  return server;
}

const json = fc.jsonValue({ maxDepth: 4 });
/** Mostly something of the right kind, so that what lies behind the first check is reached. */
const orJson = (arbitrary: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 4, arbitrary }, { weight: 1, arbitrary: json });
const name = fc.constantFrom(
  "zod",
  "data",
  "none",
  "asks",
  "p",
  "a",
  "__proto__",
  "constructor",
  "toString",
  "",
);
const uri = fc.oneof(
  fc.constantFrom("x:a", "file:///a", "file:///%zz", "file:///a?q=1&q=%00", "file:///{path}{?q*}"),
  fc.webUrl(),
  fc.string(),
);
const dictionary = (value: fc.Arbitrary<unknown>) =>
  fc.dictionary(fc.oneof(name, fc.constantFrom("a", "list", "q", "region", "path")), value);

const capabilities = orJson(
  fc.record({ elicitation: orJson(fc.record({ form: orJson(fc.constant({})) })) }, { requiredKeys: [] }),
);
const params = fc.record(
  {
    _meta: orJson(
      capabilities.map((value) =>
        requestMeta({ "io.modelcontextprotocol/clientCapabilities": value }),
      ) as fc.Arbitrary<unknown>,
    ),
    name: orJson(name),
    arguments: orJson(dictionary(orJson(fc.string()))),
    uri: orJson(uri),
    cursor: orJson(fc.oneof(fc.string(), fc.constantFrom("p1", "p2"))),
    ref: orJson(
      fc.oneof(
        fc.record({ type: fc.constant("ref/prompt"), name: orJson(name) }),
        fc.record({ type: fc.constant("ref/resource"), uri: orJson(uri) }),
      ),
    ),
    argument: orJson(
      fc.record({ name: orJson(fc.constantFrom("a", "path", "__proto__")), value: orJson(fc.string()) }),
    ),
    context: orJson(fc.record({ arguments: orJson(dictionary(orJson(fc.string()))) })),
    notifications: orJson(
      fc.record(
        { toolsListChanged: orJson(fc.boolean()), resourceSubscriptions: orJson(fc.array(uri)) },
        { requiredKeys: [] },
      ),
    ),
    inputResponses: orJson(
      fc.record({
        q: orJson(
          fc.record({
            action: orJson(fc.constantFrom("accept", "decline", "cancel")),
            content: orJson(dictionary(json)),
          }),
        ),
      }),
    ),
    requestState: orJson(fc.base64String()),
  },
  { requiredKeys: ["_meta"] },
);
const method = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...METHODS.keys()) },
  {
    weight: 1,
    arbitrary: fc.oneof(fc.constantFrom("initialize", "__proto__", "notifications/cancelled"), fc.string()),
  },
);
const id = fc.oneof(fc.integer(), fc.string());

describe("requests made of anything", () => {
  it("are answered with a result, or with an error that is theirs", async () => {
    const server = checkedServer(build());
    await fc.assert(
      fc.asyncProperty(method, orJson(params), id, async (method, params, id) => {
        // Over the wire, so that keys like __proto__ are what they are there.
        const text = JSON.stringify({ jsonrpc: "2.0", id, method, params });
        let request: JSONRPCRequest;
        try {
          request = decodeMessage(text) as JSONRPCRequest;
        } catch {
          return;
        }
        for (const { header } of server.mirroredHeaders(request)) expect(header).toBe("mcp-param-r");
        const controller = new AbortController();
        const answer = server.handle(request, { signal: controller.signal, notify: () => {} });
        // Subscriptions end here.
        controller.abort();
        const response = await answer;
        expect(response.id).toBe(id);
        if ("error" in response) expect([-32601, -32602, -32021, -32022]).toContain(response.error.code);
      }),
      { numRuns: 5_000 },
    );
    expect(onError).not.toHaveBeenCalled();
  });
});
