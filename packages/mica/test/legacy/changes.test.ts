/** Changes: lists without asking, resources by subscription, all of it through one modern subscription at a time. */
import { describe, expect, it } from "vitest";
import type { ChangeBus } from "../../src/bus/bus.js";
import { memoryBus } from "../../src/bus/memory.js";
import type { JSONRPCRequest } from "../../src/protocol/types.js";
import { createServer, type Server } from "../../src/server/server.js";
import type { RequestHandler } from "../../src/transport.js";
import { type LegacyClient, legacyClient } from "./everything.js";
import { VERSIONS } from "./legacy-schema.js";

interface Watched {
  readonly server: Server;
  readonly handler: RequestHandler;
  /** Subscriptions that are open. */
  readonly open: Set<JSONRPCRequest>;
  /** All that were ever opened. */
  readonly all: JSONRPCRequest[];
}

function watched(bus: ChangeBus = memoryBus(), limits = {}): Watched {
  const server = createServer({ name: "changing", version: "1.0.0", bus, limits });
  server.tool("a", {}, () => "a");
  server.prompt("p", {}, () => "p");
  server.resource("note://1", { name: "one" }, () => "1");
  server.resourceTemplate("note://n/{n}", { name: "n" }, ({ n }) => String(n));
  const open = new Set<JSONRPCRequest>();
  const all: JSONRPCRequest[] = [];
  const handler: RequestHandler = {
    ...server,
    async handle(request, exchange) {
      const listens = request.method === "subscriptions/listen";
      if (listens) {
        open.add(request);
        all.push(request);
      }
      const response = await server.handle(request, exchange);
      open.delete(request);
      return response;
    },
  };
  return { server, handler, open, all };
}

async function client(handler: RequestHandler, version = "2025-11-25"): Promise<LegacyClient> {
  const made = legacyClient(handler, version);
  await made.initialize();
  made.received.length = 0;
  return made;
}

const updates = (client: LegacyClient) =>
  client.of("notifications/resources/updated").map(({ params }) => params?.["uri"]);
const urisOf = (request: JSONRPCRequest | undefined) =>
  (request?.params?.["notifications"] as { resourceSubscriptions?: string[] } | undefined)
    ?.resourceSubscriptions;
/** Lets every promise that is under way settle. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe.each(VERSIONS)("%s", (version) => {
  it("hears of lists once it is initialized, and of resources that it subscribes to", async () => {
    const { server, handler, open } = watched();
    const made = legacyClient(handler, version);
    const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: "old", version: "1" } };
    await made.request("initialize", params);
    expect(open.size).toBe(0);
    await made.notify("notifications/initialized");
    expect(open.size).toBe(1);
    made.received.length = 0;

    server.tool("b", {}, () => "b").remove();
    server.prompt("q", {}, () => "q");
    server.resource("note://2", { name: "two" }, () => "2");
    expect(made.received).toEqual([
      { jsonrpc: "2.0", method: "notifications/tools/list_changed" },
      { jsonrpc: "2.0", method: "notifications/tools/list_changed" },
      { jsonrpc: "2.0", method: "notifications/prompts/list_changed" },
      { jsonrpc: "2.0", method: "notifications/resources/list_changed" },
    ]);

    server.resourceUpdated("note://1");
    expect(updates(made)).toEqual([]);
    expect(await made.result("resources/subscribe", { uri: "note://1" })).toEqual({});
    server.resourceUpdated("note://1");
    server.resourceUpdated("note://2");
    expect(made.of("notifications/resources/updated")).toEqual([
      { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: "note://1" } },
    ]);
    expect(await made.result("resources/unsubscribe", { uri: "note://1" })).toEqual({});
    server.resourceUpdated("note://1");
    expect(updates(made)).toEqual(["note://1"]);
    await turn();
    expect(open.size).toBe(1);
  });
});

describe("resources/subscribe", () => {
  it("is -32002 for what is no resource, and keeps what was subscribed", async () => {
    const { server, handler, open } = watched();
    const made = await client(handler);
    await made.result("resources/subscribe", { uri: "note://1" });
    expect(await made.error("resources/subscribe", { uri: "other://1" })).toEqual({
      code: -32002,
      message: "Resource not found: other://1",
      data: { uri: "other://1" },
    });
    expect(await made.error("resources/subscribe", { uri: 1 })).toMatchObject({ code: -32602 });
    expect(await made.result("resources/unsubscribe", { uri: "other://1" })).toEqual({});
    server.resourceUpdated("note://1");
    expect(updates(made)).toEqual(["note://1"]);
    await turn();
    expect(open.size).toBe(1);
  });

  it("twice for one resource reports a change once", async () => {
    const { server, handler } = watched();
    const made = await client(handler);
    await made.result("resources/subscribe", { uri: "note://1" });
    await made.result("resources/subscribe", { uri: "note://1" });
    server.resourceUpdated("note://1");
    expect(updates(made)).toEqual(["note://1"]);
    await made.result("resources/unsubscribe", { uri: "note://1" });
    server.resourceUpdated("note://1");
    expect(updates(made)).toEqual(["note://1"]);
  });

  it("is refused beyond the server's limit, and what was subscribed goes on", async () => {
    const { server, handler } = watched(memoryBus(), { maxSubscriptionUris: 2 });
    const made = await client(handler);
    await made.result("resources/subscribe", { uri: "note://n/1" });
    await made.result("resources/subscribe", { uri: "note://n/2" });
    expect(await made.error("resources/subscribe", { uri: "note://n/3" })).toMatchObject({
      code: -32602,
      message: expect.stringContaining("the limit is 2"),
    });
    for (const n of [1, 2, 3]) server.resourceUpdated(`note://n/${n}`);
    expect(updates(made)).toEqual(["note://n/1", "note://n/2"]);
  });

  it("is not there where the server has no resources", async () => {
    const server = createServer({ name: "bare", version: "1.0.0" });
    server.tool("a", {}, () => "a");
    const made = await client(server);
    expect(await made.error("resources/subscribe", { uri: "note://1" })).toMatchObject({ code: -32601 });
  });

  it("of many at once opens few subscriptions, one at a time, and ends with one that has them all", async () => {
    const { server, handler, open, all } = watched();
    const made = await client(handler);
    const uris = Array.from({ length: 50 }, (_, n) => `note://n/${n}`);
    await Promise.all(uris.map((uri, n) => made.request("resources/subscribe", { uri }, `s${n}`)));
    await turn();
    expect(open.size).toBe(1);
    expect(urisOf([...open][0])).toEqual(uris);
    expect(all.length).toBeLessThan(10);
    for (const uri of uris) server.resourceUpdated(uri);
    expect(updates(made)).toEqual(uris);
  });

  it("loses and repeats no event while the set of resources changes", async () => {
    const { server, handler, open } = watched();
    const made = await client(handler);
    await made.result("resources/subscribe", { uri: "note://1" });
    let sent = 0;
    let isOver = false;
    // An event in every turn of the microtask queue, while subscriptions come and go.
    const pump = (async () => {
      while (!isOver) {
        server.resourceUpdated("note://1");
        sent++;
        await Promise.resolve();
      }
    })();
    for (let n = 0; n < 20; n++) {
      await made.request("resources/subscribe", { uri: `note://n/${n}` }, `a${n}`);
      if (n % 2) await made.request("resources/unsubscribe", { uri: `note://n/${n}` }, `b${n}`);
    }
    isOver = true;
    await pump;
    expect(sent).toBeGreaterThan(100);
    expect(updates(made)).toHaveLength(sent);
    await turn();
    expect(open.size).toBe(1);
  });

  it("keeps a bus between processes subscribed throughout", async () => {
    const inner = memoryBus();
    let subscribed = 0;
    let lowest = Number.POSITIVE_INFINITY;
    const bus: ChangeBus = {
      publish: inner.publish,
      subscribe(listener) {
        const leave = inner.subscribe(listener);
        subscribed++;
        return () => {
          leave();
          lowest = Math.min(lowest, --subscribed);
        };
      },
    };
    const { handler } = watched(bus);
    const made = await client(handler);
    await made.result("resources/subscribe", { uri: "note://1" });
    await made.result("resources/subscribe", { uri: "note://n/1" });
    await turn();
    expect(lowest).toBe(Number.POSITIVE_INFINITY);
    made.session.close();
    await turn();
    expect(subscribed).toBe(0);
  });
});

describe("the end", () => {
  it.each(["hangUp", "close", "giveUp"] as const)("%s leaves no subscription", async (how) => {
    const { server, handler, open } = watched();
    const made = await client(handler);
    void made.send({ id: "late", method: "resources/subscribe", params: { uri: "note://1" } });
    made.session[how]();
    await turn();
    await made.notify("notifications/initialized");
    await turn();
    expect(open.size).toBe(0);
    made.received.length = 0;
    server.tool("late", {}, () => "late");
    expect(made.received).toEqual([]);
  });

  it.each(["hangUp", "close", "giveUp"] as const)("%s lets none be opened afterwards", async (how) => {
    const { handler, open } = watched();
    const made = legacyClient(handler, "2025-11-25");
    await made.request("initialize", { protocolVersion: "2025-11-25", capabilities: {} });
    made.session[how]();
    await made.send({ id: "late", method: "resources/subscribe", params: { uri: "note://1" } });
    await made.notify("notifications/initialized");
    await turn();
    expect(open.size).toBe(0);
  });

  it("of the server's subscriptions ends the reports, and nothing else", async () => {
    const { server, handler, open } = watched();
    const made = await client(handler);
    server.endSubscriptions();
    await turn();
    expect(open.size).toBe(0);
    expect(await made.result("tools/list")).toBeDefined();
  });
});

it("a server that refuses subscriptions is served without reports", async () => {
  const { handler, server } = watched(memoryBus(), { maxSubscriptions: 1 });
  await client(handler);
  const second = await client(handler);
  expect(second.problems).toEqual([expect.stringContaining("Too many open subscriptions")]);
  server.tool("b", {}, () => "b");
  expect(second.received).toEqual([]);
  expect(await second.error("resources/subscribe", { uri: "note://1" })).toMatchObject({ code: -32603 });
});
