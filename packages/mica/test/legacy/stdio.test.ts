/** Clients of the initialize era on lines, alone and next to modern ones. */
import { describe, expect, it, vi } from "vitest";
import { createServer } from "../../src/server/server.js";
import { gate, type Message, open } from "../stdio/channel.js";
import { requestMeta } from "../support/caller.js";
import { everything } from "./everything.js";
import { assertFits, VERSIONS, type Version } from "./legacy-schema.js";

const hello = (version: string, capabilities = {}, id: number | string = 0): Message => ({
  id,
  method: "initialize",
  params: { protocolVersion: version, capabilities, clientInfo: { name: "old", version: "1.0.0" } },
});
const initialized: Message = { method: "notifications/initialized" };
const call = (id: number | string, name: string, more = {}): Message => ({
  id,
  method: "tools/call",
  params: { name, ...more },
});
const modern = (id: number | string, method: string, params = {}): Message => ({
  id,
  method,
  params: { _meta: requestMeta(), ...params },
});

async function shake(version: string, capabilities = {}, handler = everything()) {
  const channel = open(handler);
  channel.send(hello(version, capabilities));
  const answer = await channel.next();
  channel.send(initialized);
  return { ...channel, answer };
}

describe.each(VERSIONS)("%s", (version: Version) => {
  it("is served: handshake, ping, lists, calls, levels, subscriptions", async () => {
    const server = everything();
    const { send, next, answer } = await shake(version, {}, server);
    assertFits(version, answer, "initialize");
    const ask = async (method: string, params = {}) => {
      send({ id: method, method, params });
      const response = await next();
      assertFits(version, response, method);
      expect(response).toMatchObject({ id: method, result: expect.any(Object) });
      return response.result;
    };
    expect(await ask("ping")).toEqual({});
    await ask("tools/list");
    await ask("resources/list");
    await ask("prompts/list");
    await ask("logging/setLevel", { level: "error" });
    await ask("resources/subscribe", { uri: "note://1" });
    server.resourceUpdated("note://1");
    expect(await next()).toEqual({
      jsonrpc: "2.0",
      method: "notifications/resources/updated",
      params: { uri: "note://1" },
    });
    server.tool("late", {}, () => "late");
    expect(await next()).toEqual({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
  });
});

it("questions leave as requests, and their answers come in as responses", async () => {
  const { send, next } = await shake("2025-11-25", { elicitation: {}, roots: {} });
  send(call(1, "where"));
  const asked = await next();
  expect(asked).toMatchObject({ method: "roots/list", id: expect.any(Number) });
  send({ id: asked.id, result: { roots: [{ uri: "file:///a" }] } });
  expect(await next()).toMatchObject({ id: 1, result: { content: [{ text: "file:///a" }] } });
});

describe("both eras on one channel", () => {
  it("are told apart by _meta, and each gets what is its own", async () => {
    const { send, next } = await shake("2024-11-05");
    send(modern(1, "tools/list"));
    expect(await next()).toMatchObject({
      id: 1,
      result: { resultType: "complete", ttlMs: expect.any(Number) },
    });
    send({ id: 2, method: "tools/list" });
    const { result } = await next();
    expect(result).not.toHaveProperty("resultType");
    send(modern(3, "server/discover"));
    expect(await next()).toMatchObject({ id: 3, result: { supportedVersions: ["2026-07-28"] } });
    send({ id: 4, method: "server/discover" });
    expect(await next()).toMatchObject({ id: 4, error: { code: -32601 } });
  });

  it("a client that probes first gets a modern answer, and may then shake hands", async () => {
    const { send, next } = open(everything());
    send(modern(1, "server/discover"));
    expect(await next()).toMatchObject({ id: 1, result: { resultType: "complete" } });
    send(hello("2025-06-18"));
    expect(await next()).toMatchObject({ id: 0, result: { protocolVersion: "2025-06-18" } });
  });

  it("before a handshake, a request without _meta is a malformed modern one", async () => {
    const { send, take } = open(everything());
    send({ id: 1, method: "tools/list" });
    send({ id: 2, method: "ping" });
    send({ id: 3, result: {} });
    send(hello("2026-07-28"));
    const answers = await take(3);
    expect(answers).toMatchObject([
      { id: 1, error: { code: -32602 } },
      { id: 2, error: { code: -32602 } },
      { id: 0, result: { protocolVersion: "2025-11-25" } },
    ]);
  });

  it("a cancellation finds the request of either", async () => {
    const signals: AbortSignal[] = [];
    const server = createServer({ name: "a", version: "1.0.0" });
    server.tool("wait", {}, (_args, { signal }) => {
      signals.push(signal);
      return new Promise(() => {});
    });
    const { send, next, arrived } = await shake("2025-11-25", {}, server);
    send(modern("m", "tools/call", { name: "wait" }));
    send(call("l", "wait"));
    await vi.waitFor(() => expect(signals).toHaveLength(2));
    send({ method: "notifications/cancelled", params: { requestId: "l" } });
    await vi.waitFor(() => expect(signals[1]?.aborted).toBe(true));
    expect(signals[0]?.aborted).toBe(false);
    send({ method: "notifications/cancelled", params: { requestId: "m" } });
    await vi.waitFor(() => expect(signals[0]?.aborted).toBe(true));
    send({ id: "p", method: "ping" });
    expect(await next()).toMatchObject({ id: "p", result: {} });
    expect(arrived).toEqual([]);
  });
});

describe("everything in one write", () => {
  const script = [
    hello("2025-06-18"),
    initialized,
    { id: 1, method: "tools/list" },
    call(2, "add", { arguments: { a: 1, b: 2 } }),
  ]
    .map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
    .join("");

  it("is answered, the handshake first", async () => {
    const { send, take } = open(everything());
    send(script);
    const answers = await take(3);
    expect(answers[0]).toMatchObject({ id: 0, result: { protocolVersion: "2025-06-18" } });
    expect(
      answers
        .slice(1)
        .map(({ id }) => id)
        .sort(),
    ).toEqual([1, 2]);
    expect(answers.every(({ result }) => result !== undefined)).toBe(true);
  });

  it("is answered even where the input ends at once", async () => {
    const { input, take, service } = open(everything());
    input.end(script);
    const answers = await take(3);
    expect(answers.map(({ id }) => id).sort()).toEqual([0, 1, 2]);
    await service.closed;
  });
});

describe("batches", () => {
  const line = (messages: unknown[]) => `${JSON.stringify(messages)}\n`;
  const whole = (message: Message) => ({ jsonrpc: "2.0", ...message });

  it("of 2025-03-26 are answered by one array, once all are done", async () => {
    const held = gate();
    const server = createServer({ name: "a", version: "1.0.0" });
    server.tool("wait", {}, async (_args, ctx) => {
      ctx.log("info", "waiting");
      await held.opened;
      return "waited";
    });
    const { send, next } = await shake("2025-03-26", {}, server);
    send(
      line([
        whole(call("slow", "wait")),
        whole({ id: 7, method: "ping" }),
        { jsonrpc: "2.0", id: 8 },
        17,
        whole({ method: "notifications/roots/list_changed" }),
        whole(hello("2025-03-26", {}, "again")),
      ]),
    );
    // What is no response does not wait.
    expect(await next()).toMatchObject({ method: "notifications/message" });
    send({ id: "next", method: "ping" });
    expect(await next()).toMatchObject({ id: "next" });
    held.open();
    const answers = (await next()) as unknown as Message[];
    expect(answers).toHaveLength(5);
    expect(answers).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: "slow", result: { content: [{ type: "text", text: "waited" }] } }),
        expect.objectContaining({ id: 7, result: {} }),
        expect.objectContaining({ id: 8, error: expect.objectContaining({ code: -32600 }) }),
        expect.objectContaining({ id: "again", error: expect.objectContaining({ code: -32600 }) }),
      ]),
    );
  });

  it("of notifications alone are not answered", async () => {
    const { send, next } = await shake("2025-03-26");
    send(line([whole(initialized), whole({ method: "notifications/roots/list_changed" })]));
    send({ id: 1, method: "ping" });
    expect(await next()).toMatchObject({ id: 1, result: {} });
  });

  it("may follow the handshake without waiting for it", async () => {
    const { send, take } = open(everything());
    send(hello("2025-03-26"));
    send(line([whole({ id: 1, method: "ping" })]));
    const [first, second] = await take(2);
    expect(first).toMatchObject({ id: 0 });
    expect(second).toMatchObject([{ id: 1, result: {} }]);
  });

  it.each<[string, string, unknown[], string]>([
    ["2025-03-26", "no message", [], "at least one message"],
    ["2025-03-26", "too many", Array.from({ length: 101 }, () => whole(initialized)), "at most 100"],
    ["2024-11-05", "one", [whole({ id: 1, method: "ping" })], "MCP 2024-11-05 has no batches"],
    ["2025-06-18", "one", [whole({ id: 1, method: "ping" })], "MCP 2025-06-18 has no batches"],
    ["2025-11-25", "one", [whole({ id: 1, method: "ping" })], "MCP 2025-11-25 has no batches"],
  ])("%s: a batch of %s is refused once", async (version, _, messages, why) => {
    const { send, next, arrived } = await shake(version);
    send(line(messages));
    expect(await next()).toMatchObject({ error: { code: -32600, message: expect.stringContaining(why) } });
    send({ id: 2, method: "ping" });
    expect(await next()).toMatchObject({ id: 2 });
    expect(arrived).toEqual([]);
  });

  it("before a handshake are no part of any revision", async () => {
    const { send, next } = open(everything());
    send(line([whole({ id: 1, method: "ping" })]));
    expect(await next()).toMatchObject({ error: { code: -32600 } });
  });
});

describe("the end of the input", () => {
  it("lets work finish, takes questions back, and ends the reports", async () => {
    const held = gate();
    const server = createServer({ name: "a", version: "1.0.0" });
    server.tool("wait", {}, () => held.opened.then(() => "done"));
    server.tool("ask", {}, async (_args, ctx) => (await ctx.roots()).length);
    const { send, take, input, service } = await shake("2025-11-25", { roots: {} }, server);
    send(call(1, "wait"));
    send(call(2, "ask"));
    expect(await take(1)).toMatchObject([{ method: "roots/list" }]);
    input.end();
    expect(await take(1)).toMatchObject([{ id: 2, error: { message: expect.stringContaining("closing") } }]);
    held.open();
    expect(await take(1)).toMatchObject([{ id: 1, result: { content: [{ text: "done" }] } }]);
    await service.closed;
  });

  it("answers with an error what is not done in time", async () => {
    const server = createServer({ name: "a", version: "1.0.0" });
    server.tool("hang", {}, () => new Promise(() => {}));
    const channel = open(server, { drainMs: 20 });
    channel.send(hello("2025-11-25"));
    channel.send(call(1, "hang"));
    await channel.next();
    channel.input.end();
    expect(await channel.next()).toMatchObject({
      id: 1,
      error: { message: expect.stringContaining("shut down") },
    });
    await channel.service.closed;
  });

  it("ends the session's own subscription where the handler is shared", async () => {
    const bare = createServer({ name: "a", version: "1.0.0" });
    bare.tool("a", {}, () => "a");
    const open_ = new Set<string>();
    const handler: typeof bare = {
      ...bare,
      async handle(request, exchange) {
        open_.add(request.method);
        const response = await bare.handle(request, exchange);
        open_.delete(request.method);
        return response;
      },
    };
    const channel = open(handler, { shared: true });
    channel.send(hello("2025-11-25"));
    channel.send(initialized);
    await vi.waitFor(() => expect([...open_]).toEqual(["subscriptions/listen"]));
    channel.input.end();
    await channel.service.closed;
    await vi.waitFor(() => expect(open_.size).toBe(0));
  });

  it("a client that is gone aborts what works for it", async () => {
    const signals: AbortSignal[] = [];
    const server = createServer({ name: "a", version: "1.0.0" });
    server.tool("hang", {}, (_args, { signal }) => {
      signals.push(signal);
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve("aborted")));
    });
    const { send, output, service } = await shake("2025-11-25", {}, server);
    send(call(1, "hang"));
    await vi.waitFor(() => expect(signals).toHaveLength(1));
    output.destroy();
    await service.closed;
    expect(signals[0]?.aborted).toBe(true);
  });
});

describe('legacy: "reject"', () => {
  it("answers initialize with the versions that are served, and nothing else of that era", async () => {
    const { send, take, problems } = open(everything(), { legacy: "reject" });
    send(hello("2025-11-25"));
    send(initialized);
    send({ id: 1, method: "tools/list" });
    send('[{"jsonrpc":"2.0","id":2,"method":"ping"}]\n');
    send({ id: 3, result: {} });
    send(modern(4, "server/discover"));
    const answers = await take(4);
    const order = [0, 1, undefined, 4];
    answers.sort((a, b) => order.indexOf(a.id as number) - order.indexOf(b.id as number));
    expect(answers).toMatchObject([
      {
        id: 0,
        error: {
          code: -32022,
          message: expect.stringContaining("2026-07-28"),
          data: { supported: ["2026-07-28"], requested: "2025-11-25" },
        },
      },
      { id: 1, error: { code: -32602 } },
      { error: { code: -32600 } },
      { id: 4, result: { supportedVersions: ["2026-07-28"] } },
    ]);
    expect(problems).toEqual([expect.stringContaining("ignored a response")]);
  });

  it.each<[unknown, string]>([
    ["never", 'legacy must be "serve", "reject" or an object, got "never"'],
    [false, 'legacy must be "serve", "reject" or an object, got false'],
    [{ maxRounds: 0 }, "legacy.maxRounds must be a positive integer, got 0"],
    [{ rounds: 1 }, "legacy.rounds is unknown; expected maxInFlight, inputTimeoutMs, maxRounds, maxBatch"],
    [{ sessions: {} }, "legacy.sessions must be left out here"],
  ])("another value is refused by name: %j", (legacy, message) => {
    expect(() => open(everything(), { legacy: legacy as "serve" })).toThrow(new TypeError(message));
  });
});

it("other limits may be given", async () => {
  const server = createServer({ name: "a", version: "1.0.0" });
  server.tool("where", {}, async (_args, ctx) => (await ctx.roots()).length);
  const channel = open(server, { legacy: { inputTimeoutMs: 10, maxBatch: 1 } });
  channel.send(hello("2025-03-26", { roots: {} }));
  await channel.next();
  channel.send(call(1, "where"));
  expect(await channel.next()).toMatchObject({ method: "roots/list" });
  expect(await channel.take(2)).toMatchObject([
    { method: "notifications/cancelled" },
    { id: 1, error: { message: expect.stringContaining("within 10 ms") } },
  ]);
});
