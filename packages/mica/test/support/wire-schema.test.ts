/** The check itself: what does not fit the schema must not pass it. */
import { describe, expect, it } from "vitest";
import type { JSONRPCResponse } from "../../src/protocol/types.js";
import { createServer, type Server } from "../../src/server/server.js";
import { memoryTransport } from "../../src/testing/memory.js";
import { callerOf, requestMeta } from "./caller.js";
import {
  assertValidNotification,
  assertValidRequest,
  assertValidResponse,
  checkedServer,
  checkedTransport,
  problemOf,
} from "./wire-schema.js";

const withHandle = (answer: unknown): Server => ({
  ...createServer({ name: "test", version: "1.0.0" }),
  handle: async ({ id }) => ({ jsonrpc: "2.0", id, ...(answer as object) }) as JSONRPCResponse,
});

describe("the check of what is sent", () => {
  it("finds what does not fit, and knows every definition it is asked for", () => {
    expect(problemOf("TextContent", { type: "text", text: "x" })).toBeUndefined();
    expect(problemOf("TextContent", { type: "text" })).toContain("must have required property 'text'");
    expect(() => problemOf("NoSuchThing", {})).toThrow("the schema defines no NoSuchThing");
  });

  it.each<[string, () => void]>([
    [
      "a request without _meta",
      () => assertValidRequest({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }),
    ],
    [
      "a call without a name",
      () =>
        assertValidRequest({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { _meta: requestMeta() } }),
    ],
    [
      "an unknown notification",
      () => assertValidNotification({ jsonrpc: "2.0", method: "notifications/other" }),
    ],
    [
      "progress without a token",
      () =>
        assertValidNotification({
          jsonrpc: "2.0",
          method: "notifications/progress",
          params: { progress: 1 },
        }),
    ],
    [
      "a list without hints",
      () =>
        assertValidResponse("tools/list", {
          jsonrpc: "2.0",
          id: 1,
          result: { resultType: "complete", tools: [] },
        }),
    ],
    [
      "a result without a type",
      () => assertValidResponse("tools/call", { jsonrpc: "2.0", id: 1, result: { content: [] } }),
    ],
    [
      "an error that lacks its data",
      () => assertValidResponse("x", { jsonrpc: "2.0", id: 1, error: { code: -32022, message: "m" } }),
    ],
    [
      "the result of an unknown method",
      () => assertValidResponse("x/y", { jsonrpc: "2.0", id: 1, result: { resultType: "complete" } }),
    ],
  ])("finds %s", (_, check) => {
    expect(check).toThrow();
  });

  it.fails("fails a test whose server sends a malformed result", async () => {
    await callerOf(checkedServer(withHandle({ result: { resultType: "complete", tools: [{}] } }))).send(
      "tools/list",
    );
  });

  it.fails("fails a test whose server sends a malformed notification, whatever becomes of the request", async () => {
    const server = createServer({ name: "test", version: "1.0.0" });
    const checked = checkedServer({
      ...server,
      handle: async (request, exchange) => {
        exchange.notify({ jsonrpc: "2.0", method: "notifications/progress", params: {} });
        return server.handle(request, exchange);
      },
    });
    await callerOf(checked)
      .send("server/discover")
      .catch(() => {});
  });

  it("lets everything through that fits, and changes nothing", async () => {
    const server = checkedServer(createServer({ name: "test", version: "1.0.0" }));
    const transport = checkedTransport(memoryTransport(server));
    expect(transport.mirrorsArguments).toBe(false);
    expect(transport.inFlight).toBe(0);
    const request = { jsonrpc: "2.0" as const, id: 1, method: "server/discover" };
    expect(await transport.exchange({ ...request, params: { _meta: requestMeta() } })).toHaveProperty(
      "result",
    );
    await expect(transport.exchange(request)).rejects.toThrow(/not a valid DiscoverRequest/);
  });
});
