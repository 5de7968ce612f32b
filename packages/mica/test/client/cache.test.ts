/** Caching as the server allows (server/utilities/caching). */
import { describe, expect, it } from "vitest";
import { cacheKey, createCache } from "../../src/client/cache.js";
import { clientOf, gate, scripted } from "./scripted.js";

const read = (text: string, ttlMs?: unknown) => ({
  contents: [{ uri: "file:///a", text }],
  ...(ttlMs !== undefined && { ttlMs }),
  cacheScope: "private",
});

describe("freshness", () => {
  it("a result is fresh while now < received + ttlMs, and no longer", async () => {
    let now = 1_000;
    let version = 0;
    const server = scripted({ "resources/read": () => read(`v${++version}`, 500) });
    const client = await clientOf(server, { now: () => now });
    const text = async () => (await client.readResource("file:///a")).contents[0] as { text: string };
    expect((await text()).text).toBe("v1");
    now = 1_499;
    expect((await text()).text).toBe("v1");
    now = 1_500;
    expect((await text()).text).toBe("v2");
    now = 1_999;
    expect((await text()).text).toBe("v2");
    // A clock that was set back proves nothing.
    now = 900;
    expect((await text()).text).toBe("v3");
    await client.close();
  });

  it.each([0, -5, undefined, null, "60000", Number.NaN])("ttlMs %s is stale at once", async (ttlMs) => {
    const server = scripted({ "resources/read": () => read("x", ttlMs) });
    const client = await clientOf(server, { now: () => 0 });
    await client.readResource("file:///a");
    await client.readResource("file:///a");
    expect(server.sent("resources/read")).toHaveLength(2);
    await client.close();
  });

  it("fresh: true asks the server, and what it answers is kept", async () => {
    let version = 0;
    const server = scripted({ "resources/read": () => read(`v${++version}`, 60_000) });
    const client = await clientOf(server);
    await client.readResource("file:///a");
    expect((await client.readResource("file:///a", { fresh: true })).contents).toMatchObject([
      { text: "v2" },
    ]);
    expect((await client.readResource("file:///a")).contents).toMatchObject([{ text: "v2" }]);
    await client.close();
  });

  it("cache: false keeps nothing", async () => {
    const server = scripted({ "resources/read": () => read("x", 60_000) });
    const client = await clientOf(server, { cache: false });
    await client.readResource("file:///a");
    await client.readResource("file:///a");
    expect(server.sent("resources/read")).toHaveLength(2);
    await client.close();
  });
});

describe("what is shared with whom", () => {
  it("other parameters, another page and another client ask for themselves", async () => {
    const page = { prompts: [], nextCursor: "n", ttlMs: 60_000, cacheScope: "public" };
    const server = scripted({
      "resources/read": ({ uri }) => ({ ...read("x", 60_000), contents: [{ uri, text: "x" }] }),
      "prompts/list": () => page,
    });
    const client = await clientOf(server);
    await client.readResource("file:///a");
    await client.readResource("file:///b");
    await client.listPrompts({ cursor: null });
    await client.listPrompts({ cursor: "n" });
    await client.listPrompts({ cursor: "n" });
    expect(server.requests.map(({ method }) => method)).toEqual([
      "server/discover",
      "resources/read",
      "resources/read",
      "prompts/list",
      "prompts/list",
    ]);
    const other = await clientOf(server);
    await other.listPrompts({ cursor: null });
    expect(server.sent("prompts/list")).toHaveLength(3);
    await Promise.all([client.close(), other.close()]);
  });

  it("_meta of the caller's own is part of the key, trace context is not", async () => {
    const server = scripted({ "resources/read": () => read("x", 60_000) });
    const client = await clientOf(server);
    const ask = (_meta: Record<string, unknown>) => client.readResource("file:///a", { _meta });
    await ask({ traceparent: "00-1" });
    await ask({ traceparent: "00-2" });
    expect(server.sent("resources/read")).toHaveLength(1);
    await ask({ "com.example/tenant": "a" });
    await ask({ "com.example/tenant": "b" });
    await ask({ "com.example/tenant": "a" });
    expect(server.sent("resources/read")).toHaveLength(3);
    await client.close();
  });

  it("what a caller does to a result is its own business", async () => {
    const server = scripted({ "resources/read": () => read("x", 60_000) });
    const client = await clientOf(server);
    for (let time = 0; time < 3; time += 1) {
      const result = await client.readResource("file:///a");
      expect(result.contents).toEqual([{ uri: "file:///a", text: "x" }]);
      result.contents.length = 0;
    }
    await client.close();
  });

  it("calls, completions, prompts and raw requests are never cached", async () => {
    const hints = { ttlMs: 60_000, cacheScope: "public" };
    const server = scripted({
      "tools/call": () => ({ content: [], ...hints }),
      "prompts/get": () => ({ messages: [], ...hints }),
      "completion/complete": () => ({ completion: { values: [] }, ...hints }),
      "tools/list": () => ({ tools: [], ...hints }),
    });
    const client = await clientOf(server);
    for (let time = 0; time < 2; time += 1) {
      await client.callTool("a");
      await client.getPrompt("a");
      await client.complete({ type: "ref/prompt", name: "a" }, { name: "a", value: "" });
      await client.request("tools/list");
    }
    expect(server.requests).toHaveLength(9);
    await client.close();
  });

  it("a result that took answers or state is not kept", async () => {
    const server = scripted({
      "resources/read": ({ requestState }) =>
        requestState === undefined
          ? { resultType: "input_required", requestState: "s", ttlMs: 60_000, cacheScope: "public" }
          : read("x", 60_000),
    });
    const client = await clientOf(server);
    await client.readResource("file:///a");
    await client.readResource("file:///a");
    expect(server.sent("resources/read")).toHaveLength(4);
    await client.close();
  });
});

describe("bounds and invalidation", () => {
  const key = (uri: string) => cacheKey("resources/read", { uri }, undefined);

  it("the least recently used goes first, by count and by size", () => {
    const cache = createCache({ maxEntries: 2, maxChars: 200, now: () => 0 });
    const keep = (uri: string, text = "x") => cache.expect(key(uri))({ text, ttlMs: 10 });
    keep("a");
    keep("b");
    expect(cache.get(key("a"))).toEqual({ text: "x", ttlMs: 10 });
    keep("c");
    expect(cache.get(key("b"))).toBeUndefined();
    expect(cache.get(key("a"))).toBeDefined();
    keep("d", "y".repeat(160));
    expect(cache.get(key("a"))).toBeUndefined();
    expect(cache.get(key("d"))).toBeDefined();
    keep("e", "z".repeat(500));
    expect(cache.get(key("e"))).toBeUndefined();
    expect(cache.get(key("d"))).toBeDefined();
  });

  it("parameters are compared by value, whatever their order", () => {
    const cache = createCache({ maxEntries: 9, maxChars: 900, now: () => 0 });
    cache.expect(cacheKey("m", { a: 1, b: { c: [1, { d: 2, e: 3 }] } }, undefined))({ ttlMs: 1 });
    expect(cache.get(cacheKey("m", { b: { c: [1, { e: 3, d: 2 }] }, a: 1 }, undefined))).toBeDefined();
    expect(cache.get(cacheKey("m", { a: "1", b: { c: [1, { e: 3, d: 2 }] } }, undefined))).toBeUndefined();
    expect(cache.get(cacheKey("m2", { a: 1, b: { c: [1, { e: 3, d: 2 }] } }, undefined))).toBeUndefined();
  });

  it("a resource takes what contains it and what it contains with it", () => {
    const cache = createCache({ maxEntries: 9, maxChars: 900, now: () => 0 });
    const uris = ["file:///dir", "file:///dir/a", "file:///dir/a/1", "file:///other"];
    for (const uri of uris) cache.expect(key(uri))({ ttlMs: 1 });
    cache.dropResource("file:///dir/a");
    expect(uris.filter((uri) => cache.get(key(uri)))).toEqual(["file:///other"]);
  });

  it("an answer that was under way when something changed is not kept", async () => {
    const answer = gate<void>();
    const asked = gate();
    const server = scripted({
      "tools/list": async () => {
        asked.open();
        await answer.passed;
        return { tools: [], ttlMs: 60_000, cacheScope: "public" };
      },
      "subscriptions/listen": async (_, { id, notify }) => {
        const _meta = { "io.modelcontextprotocol/subscriptionId": id };
        notify("notifications/subscriptions/acknowledged", {
          _meta,
          notifications: { toolsListChanged: true },
        });
        await asked.passed;
        notify("notifications/tools/list_changed", { _meta });
        return { _meta };
      },
    });
    const client = await clientOf(server);
    const listing = client.listTools();
    for await (const event of client.listen({ toolsListChanged: true }))
      expect(event.type).toBe("toolsListChanged");
    answer.open();
    await listing;
    await client.listTools();
    expect(server.sent("tools/list")).toHaveLength(2);
    await client.close();
  });
});
