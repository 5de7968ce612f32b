/** Subscriptions (patterns/subscriptions): events, ends, losses, and what they do to the cache. */
import { describe, expect, it } from "vitest";
import type { Client } from "../../src/client/client.js";
import type { SubscriptionEvent } from "../../src/client/listen-reader.js";
import { McpError, ProtocolError } from "../../src/protocol/errors.js";
import { type Act, clientOf, gate, never, type Scene, scripted } from "./scripted.js";

const ID = "io.modelcontextprotocol/subscriptionId";
const LISTS = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
const FAST = { reopenDelayMs: 1, maxReopenDelayMs: 2 };

/** The stream of one listen request, in the hands of the test. */
class Stream {
  readonly scene: Scene;
  readonly filter: Record<string, unknown>;
  readonly settle = gate<{ result?: unknown; error?: unknown }>();

  constructor(params: Record<string, unknown>, scene: Scene) {
    this.scene = scene;
    this.filter = params["notifications"] as Record<string, unknown>;
  }
  acknowledge(notifications: unknown = this.filter) {
    this.scene.notify("notifications/subscriptions/acknowledged", {
      _meta: { [ID]: this.scene.id },
      notifications,
    });
  }
  send(method: string, params: Record<string, unknown> = {}) {
    this.scene.notify(`notifications/${method}`, { _meta: { [ID]: this.scene.id }, ...params });
  }
  end() {
    this.settle.open({ result: { resultType: "complete", _meta: { [ID]: this.scene.id } } });
  }
  lose(error: unknown = new McpError("connection_lost", "the stream broke off")) {
    this.settle.open({ error });
  }
}

function listening(acts: Record<string, Act> = {}) {
  const streams: Stream[] = [];
  const waiting: ((stream: Stream) => void)[] = [];
  let taken = 0;
  const server = scripted({
    ...acts,
    "subscriptions/listen": async (params, scene) => {
      const stream = new Stream(params, scene);
      streams.push(stream);
      waiting.shift()?.(stream);
      const { result, error } = await stream.settle.passed;
      if (error !== undefined) throw error;
      return result;
    },
  });
  /** The next stream that is opened. */
  const next = (): Promise<Stream> => {
    const index = taken++;
    const there = streams[index];
    return there ? Promise.resolve(there) : new Promise((resolve) => waiting.push(resolve));
  };
  return { server, streams, next };
}

async function collectFrom(events: AsyncIterable<SubscriptionEvent>): Promise<SubscriptionEvent[]> {
  const all: SubscriptionEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** Lets everything that is due run. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("events", () => {
  it("are typed, in order, only those asked for; a graceful end ends the loop", async () => {
    const { server, next } = listening();
    const client = await clientOf(server);
    const subscription = client.listen({ toolsListChanged: true, resourceSubscriptions: ["file:///a"] });
    const stream = await next();
    expect(stream.filter).toEqual({ toolsListChanged: true, resourceSubscriptions: ["file:///a"] });
    stream.acknowledge();
    expect(await subscription.acknowledged).toEqual(stream.filter);
    stream.send("tools/list_changed");
    stream.send("prompts/list_changed");
    stream.send("resources/updated", { uri: "file:///a" });
    stream.send("resources/updated", { uri: "file:///a/part" });
    stream.send("resources/updated", { uri: 7 });
    stream.send("com.example/else");
    stream.end();
    expect(await collectFrom(subscription)).toEqual([
      { type: "toolsListChanged" },
      { type: "resourceUpdated", uri: "file:///a" },
      { type: "resourceUpdated", uri: "file:///a/part" },
    ]);
    expect(await subscription.next()).toEqual({ done: true, value: undefined });
    expect(client.warnings).toEqual([]);
    await client.close();
    expect(server.open).toBe(0);
  });

  it("of another subscription are not taken, ids compared by type and value", async () => {
    const { server, next } = listening();
    const client = await clientOf(server);
    const subscription = client.listen(LISTS);
    const stream = await next();
    stream.acknowledge();
    for (const other of [String(stream.scene.id), 0, "", 99, null]) {
      stream.scene.notify("notifications/tools/list_changed", { _meta: { [ID]: other } });
    }
    stream.scene.notify("notifications/prompts/list_changed", { _meta: {} });
    stream.end();
    expect(await collectFrom(subscription)).toEqual([{ type: "promptsListChanged" }]);
    await client.close();
  });

  it("that wait and are equal are one; a taker that waits gets each", async () => {
    const { server, next } = listening();
    const client = await clientOf(server);
    const subscription = client.listen({ ...LISTS, resourceSubscriptions: ["a:1", "a:2"] });
    const stream = await next();
    stream.acknowledge();
    for (let time = 0; time < 1_000; time += 1) {
      stream.send("tools/list_changed");
      stream.send("resources/updated", { uri: `a:${(time % 2) + 1}` });
    }
    const take = async () => (await subscription.next()).value;
    expect(await take()).toEqual({ type: "toolsListChanged" });
    expect(await take()).toEqual({ type: "resourceUpdated", uri: "a:1" });
    expect(await take()).toEqual({ type: "resourceUpdated", uri: "a:2" });
    const pending = [take(), take()];
    stream.send("tools/list_changed");
    stream.send("tools/list_changed");
    expect(await Promise.all(pending)).toEqual([{ type: "toolsListChanged" }, { type: "toolsListChanged" }]);
    await client.close();
  });

  it("beyond the bound become one that says how many there were", async () => {
    const { server, next } = listening();
    const client = await clientOf(server, { limits: { maxQueuedEvents: 3 } });
    const subscription = client.listen({ resourceSubscriptions: ["a:"] });
    const stream = await next();
    stream.acknowledge();
    for (const part of [0, 1, 2, 2, 1, 0]) stream.send("resources/updated", { uri: `a:${part}` });
    expect(await subscription.next()).toMatchObject({ value: { uri: "a:0" } });
    for (const part of [0, 3, 4]) stream.send("resources/updated", { uri: `a:${part}` });
    stream.end();
    expect(await collectFrom(subscription)).toEqual([
      { type: "overflow", dropped: 4 },
      { type: "resourceUpdated", uri: "a:4" },
    ]);
    await client.close();
  });

  it("a server that agrees to less is reported", async () => {
    const { server, next } = listening();
    const client = await clientOf(server);
    const subscription = client.listen({ ...LISTS, resourceSubscriptions: ["a:1", "a:2"] });
    (await next()).acknowledge({ toolsListChanged: true, resourceSubscriptions: ["a:2"] });
    expect(await subscription.acknowledged).toEqual({
      toolsListChanged: true,
      resourceSubscriptions: ["a:2"],
    });
    expect(client.warnings).toMatchObject([
      {
        code: "subscription_reduced",
        message: expect.stringMatching(/promptsListChanged, resourcesListChanged, a:1$/),
      },
    ]);
    await client.close();
  });
});

describe("ends", () => {
  it("leaving the loop cancels on the wire", async () => {
    const { server, next } = listening();
    const client = await clientOf(server);
    const subscription = client.listen(LISTS);
    const stream = await next();
    stream.acknowledge();
    stream.send("tools/list_changed");
    for await (const event of subscription) {
      expect(event.type).toBe("toolsListChanged");
      break;
    }
    expect(server.cancelled).toEqual([stream.scene.id]);
    expect(server.open).toBe(0);
    await client.close();
  });

  it("so does close, also while nobody and while somebody takes", async () => {
    const { server, next } = listening();
    const client = await clientOf(server);
    const idle = client.listen(LISTS);
    (await next()).acknowledge();
    await idle.close();
    await idle[Symbol.asyncDispose]();
    expect(await idle.next()).toEqual({ done: true, value: undefined });

    const waited = client.listen(LISTS);
    (await next()).acknowledge();
    const pending = waited.next();
    await waited.close();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(server.cancelled).toHaveLength(2);
    await client.close();
  });

  it("an abort cancels, and the loop throws", async () => {
    const { server, next } = listening();
    const client = await clientOf(server);
    const controller = new AbortController();
    const subscription = client.listen(LISTS, { signal: controller.signal });
    (await next()).acknowledge();
    const pending = expect(subscription.next()).rejects.toMatchObject({ code: "aborted" });
    controller.abort();
    await pending;
    expect(server.cancelled).toHaveLength(1);
    expect(await subscription.next()).toEqual({ done: true, value: undefined });

    const early = client.listen(LISTS, { signal: controller.signal });
    await expect(early.acknowledged).rejects.toMatchObject({ code: "aborted" });
    await expect(early.next()).rejects.toMatchObject({ code: "aborted" });
    expect(server.sent("subscriptions/listen")).toHaveLength(1);
    await client.close();
  });

  it("closing the client just ends the loop", async () => {
    const { server, next } = listening();
    const client = await clientOf(server);
    const subscription = client.listen(LISTS);
    (await next()).acknowledge();
    const collected = collectFrom(subscription);
    await client.close();
    expect(await collected).toEqual([]);
    expect(server.open).toBe(0);
  });

  it("the server may end it by notifications/cancelled, with or without a response", async () => {
    const { server, next, streams } = listening();
    const client = await clientOf(server);
    const polite = client.listen(LISTS);
    const first = await next();
    first.acknowledge();
    first.send("cancelled", { requestId: String(first.scene.id) });
    first.send("tools/list_changed");
    first.send("cancelled", { requestId: first.scene.id });
    first.end();
    expect(await collectFrom(polite)).toEqual([{ type: "toolsListChanged" }]);
    await settle();
    expect(server.cancelled).toEqual([]);

    const curt = client.listen(LISTS);
    const second = await next();
    second.acknowledge();
    second.send("cancelled", { requestId: second.scene.id });
    expect(await collectFrom(curt)).toEqual([]);
    second.lose();
    await settle();
    expect(streams).toHaveLength(2);
    expect(server.open).toBe(0);
    await client.close();
  });

  it("an end before the acknowledgement rejects it", async () => {
    const { server, next } = listening();
    const client = await clientOf(server);
    const subscription = client.listen(LISTS);
    (await next()).end();
    expect(await collectFrom(subscription)).toEqual([]);
    await expect(subscription.acknowledged).rejects.toMatchObject({ code: "invalid_response" });
    await client.close();
  });

  it.each([
    ["a filter that is none", 7, /filter/],
    ["a flag that is none", { toolsListChanged: "yes" }, /filter\.toolsListChanged/],
    ["URIs that are none", { resourceSubscriptions: "a:" }, /filter\.resourceSubscriptions/],
    ["a URI that is none", { resourceSubscriptions: [1] }, /filter\.resourceSubscriptions/],
  ])("%s is a TypeError", async (_, filter, message) => {
    const client = await clientOf(scripted({}));
    expect(() => client.listen(filter as never)).toThrow(TypeError);
    expect(() => client.listen(filter as never)).toThrow(message);
    await client.close();
  });
});

describe("losses", () => {
  it("a lost stream is opened again, and the loop is told that it may have missed something", async () => {
    const { server, next } = listening();
    const client = await clientOf(server, { limits: FAST });
    const subscription = client.listen(LISTS);
    const first = await next();
    first.acknowledge();
    first.send("tools/list_changed");
    first.lose();
    const second = await next();
    expect(second.scene.id).not.toBe(first.scene.id);
    expect(second.filter).toEqual(first.filter);
    second.acknowledge({ toolsListChanged: true });
    second.send("prompts/list_changed");
    second.end();
    expect(await collectFrom(subscription)).toEqual([
      { type: "toolsListChanged" },
      { type: "reopened", acknowledged: { toolsListChanged: true } },
      { type: "promptsListChanged" },
    ]);
    await client.close();
  });

  it("attempts are counted from the last success, and then the loop throws", async () => {
    const { server, next, streams } = listening();
    const client = await clientOf(server, { limits: FAST });
    const subscription = client.listen(LISTS, { reopenAttempts: 3 });
    const down = new McpError("connect_failed", "ECONNREFUSED");
    (await next()).acknowledge();
    for (let cycle = 0; cycle < 2; cycle += 1) {
      streams.at(-1)?.lose();
      (await next()).lose(down);
      (await next()).lose(down);
      (await next()).acknowledge();
    }
    streams.at(-1)?.lose();
    for (let attempt = 0; attempt < 3; attempt += 1) (await next()).lose(down);
    const events: SubscriptionEvent["type"][] = [];
    const drained = (async () => {
      for await (const { type } of subscription) events.push(type);
    })();
    await expect(drained).rejects.toMatchObject({
      code: "connection_lost",
      message: expect.stringMatching(/3 attempts.*ECONNREFUSED/),
      cause: down,
    });
    // Twice opened again; equal events that wait are one.
    expect(events).toEqual(["reopened"]);
    expect(streams).toHaveLength(10);
    await client.close();
  });

  it.each<[string, unknown]>([
    ["an error response", new ProtocolError(-32603, "no")],
    ["something that is not the protocol", new McpError("invalid_response", "html")],
    [
      "a refusal",
      new McpError("connect_failed", "401", { cause: Object.assign(new Error(), { status: 401 }) }),
    ],
  ])("%s is not a loss", async (_, error) => {
    const { server, next, streams } = listening();
    const client = await clientOf(server, { limits: FAST });
    const subscription = client.listen(LISTS);
    (await next()).acknowledge();
    streams[0]?.lose(error);
    await expect(collectFrom(subscription)).rejects.toBeInstanceOf(McpError);
    expect(streams).toHaveLength(1);
    await client.close();
  });

  it.each([503, 429])("HTTP %i is one", async (status) => {
    const { server, next, streams } = listening();
    const client = await clientOf(server, { limits: FAST });
    const subscription = client.listen(LISTS);
    (await next()).acknowledge();
    streams[0]?.lose();
    const cause = Object.assign(new Error(), { status });
    (await next()).lose(new McpError("connect_failed", "later", { cause }));
    const third = await next();
    third.acknowledge();
    third.end();
    expect(await collectFrom(subscription)).toMatchObject([{ type: "reopened" }]);
    await client.close();
  });

  it("a stream that never opened, reopen: false, and no acknowledgement in time throw at once", async () => {
    const { server, next, streams } = listening();
    const client = await clientOf(server, { limits: FAST });
    const never1 = client.listen(LISTS);
    (await next()).lose();
    await expect(collectFrom(never1)).rejects.toMatchObject({ code: "connection_lost" });
    await expect(never1.acknowledged).rejects.toMatchObject({ code: "connection_lost" });

    const once = client.listen(LISTS, { reopen: false });
    const stream = await next();
    stream.acknowledge();
    stream.lose();
    await expect(collectFrom(once)).rejects.toMatchObject({
      code: "connection_lost",
      message: "the stream broke off",
    });

    const silent = client.listen(LISTS, { timeoutMs: 10 });
    await expect(collectFrom(silent)).rejects.toMatchObject({ code: "timeout" });
    expect(streams).toHaveLength(3);
    expect(server.open).toBe(0);
    await client.close();
  });

  it("once acknowledged a stream may stay quiet for as long as it likes", async () => {
    const { server, next } = listening();
    const client = await clientOf(server);
    const subscription = client.listen(LISTS, { timeoutMs: 10 });
    const stream = await next();
    stream.acknowledge();
    await new Promise((resolve) => setTimeout(resolve, 40));
    stream.send("tools/list_changed");
    expect(await subscription.next()).toEqual({ done: false, value: { type: "toolsListChanged" } });
    await client.close();
  });

  it("closing while waiting to open again ends it", async () => {
    const { server, next, streams } = listening();
    const client = await clientOf(server, { limits: { reopenDelayMs: 60_000, maxReopenDelayMs: 60_000 } });
    const subscription = client.listen(LISTS);
    const stream = await next();
    stream.acknowledge();
    stream.lose();
    await settle();
    await subscription.close();
    const other = client.listen(LISTS);
    const second = await next();
    second.acknowledge();
    second.lose();
    await settle();
    const collected = collectFrom(other);
    await client.close();
    expect(await collected).toEqual([]);
    expect(streams).toHaveLength(2);
  });
});

describe("the cache", () => {
  const hints = { ttlMs: 60_000, cacheScope: "public" };
  const acts: Record<string, Act> = {
    "tools/list": () => ({ tools: [], ...hints }),
    "prompts/list": () => ({ prompts: [], ...hints }),
    "resources/list": () => ({ resources: [], ...hints }),
    "resources/templates/list": () => ({ resourceTemplates: [], ...hints }),
    "resources/read": ({ uri }) => ({ contents: [{ uri, text: "" }], ...hints }),
  };
  const useAll = async (client: Client, server: ReturnType<typeof scripted>) => {
    const before = server.requests.length;
    await client.listTools();
    await client.listPrompts();
    await client.listResources();
    await client.listResourceTemplates();
    await client.readResource("file:///a");
    await client.readResource("file:///b");
    return server.requests
      .slice(before)
      .map(({ method, params }) => (params?.["uri"] as string | undefined) ?? method);
  };

  it("is invalidated by what each notification says, before its event is seen", async () => {
    const { server, next } = listening(acts);
    const client = await clientOf(server);
    const subscription = client.listen({ ...LISTS, resourceSubscriptions: ["file:///a"] });
    const stream = await next();
    stream.acknowledge();
    expect(await useAll(client, server)).toHaveLength(6);
    expect(await useAll(client, server)).toEqual([]);
    const affected: Record<string, string[]> = {};
    for (const [method, params] of [
      ["tools/list_changed", {}],
      ["prompts/list_changed", {}],
      ["resources/list_changed", {}],
      ["resources/updated", { uri: "file:///a" }],
    ] as const) {
      stream.send(method, params);
      await subscription.next();
      affected[method] = await useAll(client, server);
    }
    expect(affected).toEqual({
      "tools/list_changed": ["tools/list"],
      "prompts/list_changed": ["prompts/list"],
      "resources/list_changed": ["resources/list", "resources/templates/list"],
      "resources/updated": ["file:///a"],
    });
    await client.close();
  });

  it("is invalidated by a loss, and again by opening again, for what was subscribed to", async () => {
    const { server, next } = listening(acts);
    const client = await clientOf(server, { limits: FAST });
    const subscription = client.listen({ toolsListChanged: true, resourceSubscriptions: ["file:///a"] });
    const first = await next();
    first.acknowledge();
    await useAll(client, server);
    first.lose();
    const second = await next();
    expect((await useAll(client, server)).filter((what) => what !== "subscriptions/listen")).toEqual([
      "tools/list",
      "file:///a",
    ]);
    second.acknowledge();
    expect(await subscription.next()).toMatchObject({ value: { type: "reopened" } });
    expect(await useAll(client, server)).toEqual(["tools/list", "file:///a"]);
    await client.close();
  });
});

it("several subscriptions are apart", async () => {
  const { server, next } = listening({ "tools/call": never });
  const client = await clientOf(server);
  const tools = client.listen({ toolsListChanged: true });
  const prompts = client.listen({ promptsListChanged: true });
  const [one, two] = [await next(), await next()];
  one.acknowledge();
  two.acknowledge();
  two.send("prompts/list_changed");
  one.send("tools/list_changed");
  one.end();
  expect(await collectFrom(tools)).toEqual([{ type: "toolsListChanged" }]);
  expect(await prompts.next()).toEqual({ done: false, value: { type: "promptsListChanged" } });
  await prompts.close();
  expect(server.open).toBe(0);
  await client.close();
});
