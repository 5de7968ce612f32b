/** The memory transport: like a wire, with nothing in between. */
import { describe, expect, it, vi } from "vitest";
import { content } from "../../src/protocol/content.js";
import { McpError } from "../../src/protocol/errors.js";
import type { JSONRPCNotification } from "../../src/protocol/types.js";
import { createServer } from "../../src/server/server.js";
import { memoryTransport } from "../../src/testing/memory.js";
import { callerOf, requestMeta } from "../support/caller.js";

function build() {
  const server = createServer({ name: "test", version: "1.0.0" });
  server.tool("bigint", {}, () => content("x", { structured: 1n }));
  server.tool("deep", {}, () => {
    let value: unknown = 1;
    for (let level = 0; level < 200; level++) value = [value];
    return content("x", { structured: value });
  });
  server.tool("same", {}, () =>
    content("x", { structured: { undefined: undefined, date: new Date(0), nan: Number.NaN } }),
  );
  server.tool("forever", {}, () => new Promise(() => {}));
  server.tool("log", {}, (_, ctx) => {
    ctx.log("info", { secret: 1n });
    ctx.log("info", "fine");
  });
  return server;
}

const call = (name: string) => ({
  jsonrpc: "2.0" as const,
  id: 1,
  method: "tools/call",
  params: { name, _meta: requestMeta({ "io.modelcontextprotocol/logLevel": "info" }) },
});

describe("memoryTransport", () => {
  it("passes everything through JSON", async () => {
    const response = await memoryTransport(build()).exchange(call("same"));
    expect(response).toMatchObject({
      result: { structuredContent: { date: "1970-01-01T00:00:00.000Z", nan: null } },
    });
    expect(
      (response as unknown as { result: { structuredContent: object } }).result.structuredContent,
    ).not.toHaveProperty("undefined");
  });

  it("answers with an error where a result has no JSON, as a wire does", async () => {
    const stderr = vi.spyOn(console, "error").mockImplementation(() => {});
    expect(await memoryTransport(build()).exchange(call("bigint"))).toEqual({
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32603, message: "Internal error" },
    });
    expect(stderr).toHaveBeenCalledOnce();
    stderr.mockRestore();
  });

  it("leaves out a notification that has no JSON", async () => {
    const stderr = vi.spyOn(console, "error").mockImplementation(() => {});
    const sent: JSONRPCNotification[] = [];
    await memoryTransport(build()).exchange(call("log"), {
      onNotification: (notification) => sent.push(notification),
    });
    expect(sent.map(({ params }) => params?.["data"])).toEqual(["fine"]);
    expect(stderr).toHaveBeenCalledOnce();
    stderr.mockRestore();
  });

  it("rejects a response that cannot be read", async () => {
    const error = await memoryTransport(build())
      .exchange(call("deep"))
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(McpError);
    expect(error).toMatchObject({
      code: "invalid_response",
      message: expect.stringContaining("deeper than 128") as string,
    });
  });

  it("throws where a request has no JSON", async () => {
    const { send } = callerOf(build());
    await expect(send("tools/call", { name: 1n as never })).rejects.toThrow(TypeError);
  });

  it("refuses a request whose signal has fired already", async () => {
    const transport = memoryTransport(build());
    const reason = new Error("too late");
    await expect(transport.exchange(call("same"), { signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
    expect(transport.inFlight).toBe(0);
  });

  it("ends what is under way when it is closed, and takes nothing more", async () => {
    const transport = memoryTransport(build());
    const pending = [transport.exchange(call("forever")), transport.exchange(call("forever"))];
    expect(transport.inFlight).toBe(2);
    await transport.close();
    await transport.close();
    for (const each of pending) await expect(each).rejects.toMatchObject({ code: "closed" });
    await expect(transport.exchange(call("same"))).rejects.toMatchObject({ code: "closed" });
    expect(transport.inFlight).toBe(0);
  });
});
