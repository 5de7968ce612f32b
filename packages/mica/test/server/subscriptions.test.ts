/** `subscriptions/listen`: what is acknowledged, what is sent to whom, and that nothing stays behind. */
import { describe, expect, it, vi } from "vitest";
import type { ChangeBus, ChangeEvent } from "../../src/bus/bus.js";
import { memoryBus } from "../../src/bus/memory.js";
import { MetaKey } from "../../src/protocol/meta.js";
import { type JSONRPCNotification, PROTOCOL_VERSION, type RequestId } from "../../src/protocol/types.js";
import type { ServerExtension } from "../../src/server/extension.js";
import { createServer, type Server } from "../../src/server/server.js";
import { callerOf, type SendOptions } from "../support/caller.js";
import { checkedServer } from "../support/wire-schema.js";

const originalSet = Map.prototype.set;
const originalDelete = Map.prototype.delete;

/** A bus that says how many listen. */
function countingBus(): ChangeBus & { readonly listeners: number } {
  const bus = memoryBus();
  let listeners = 0;
  return {
    get listeners() {
      return listeners;
    },
    publish: bus.publish,
    subscribe(listener) {
      listeners++;
      const leave = bus.subscribe(listener);
      return () => {
        listeners--;
        leave();
      };
    },
  };
}

function build(limits: Partial<{ maxSubscriptions: number; maxSubscriptionUris: number }> = {}) {
  const bus = countingBus();
  const server = checkedServer(createServer({ name: "test", version: "1.0.0", bus, limits }));
  server.tool("t", {}, () => 1);
  server.prompt("p", {}, () => "");
  server.resource("x:a", { name: "a" }, () => "a");
  server.resourceTemplate("file:///{path}", { name: "file" }, () => "");
  return { bus, server, ...listening(server) };
}

function subscriptionOf(params: Record<string, unknown> | undefined): unknown {
  const meta = params?.["_meta"] as Record<string, unknown> | undefined;
  return meta?.[MetaKey.subscriptionId];
}

const EVERYTHING = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };

function listening(server: Server) {
  const caller = callerOf(server);
  /** Opens a subscription: what it receives, how it ends, and how it is cancelled. */
  const listen = (notifications: unknown, options: SendOptions = {}) => {
    const received: JSONRPCNotification[] = [];
    const controller = new AbortController();
    const ended = caller.send(
      "subscriptions/listen",
      { notifications },
      {
        ...options,
        signal: controller.signal,
        onNotification: (notification) => received.push(notification),
      },
    );
    ended.catch(() => {});
    /** Without the acknowledgement. */
    const changes = () =>
      received.slice(1).map(({ method, params }) => (params?.["uri"] as string) ?? method.split("/")[1]);
    return { received, changes, ended, cancel: () => controller.abort(new Error("cancelled")) };
  };
  return { caller, listen };
}

describe("changes of a tenant", () => {
  /** Subscribes as an authenticating binding would; null for a caller who is not asked. */
  function hearing(server: Server, principal: string | null): string[] {
    const heard: string[] = [];
    const meta = { [MetaKey.protocolVersion]: PROTOCOL_VERSION, [MetaKey.clientCapabilities]: {} };
    const params = { _meta: meta, notifications: { resourceSubscriptions: ["x:a"] } };
    void server.handle(
      { jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params },
      {
        notify: ({ params }) => params?.["uri"] !== undefined && heard.push(String(params["uri"])),
        signal: new AbortController().signal,
        auth: principal === null ? undefined : { principal, scopes: [], claims: {} },
      },
    );
    return heard;
  }

  it("reach its subscribers alone, those of nobody all", () => {
    const server = createServer({
      name: "test",
      version: "1.0.0",
      tenantOf: (auth) => auth?.principal ?? "",
    });
    server.resource("x:a", { name: "a" }, () => "a");
    const all = ["acme", "other", null].map((principal) => hearing(server, principal));
    const heard = () => all.map(({ length }) => length);
    server.resourceUpdated("x:a", "acme");
    expect(heard()).toEqual([1, 0, 0]);
    server.resourceUpdated("x:a", "");
    expect(heard()).toEqual([1, 0, 1]);
    server.resourceUpdated("x:a");
    expect(heard()).toEqual([2, 1, 2]);
    server.endSubscriptions();
  });

  it("reach nobody where the server does not say whose tenant a caller is", () => {
    const server = createServer({ name: "test", version: "1.0.0" });
    server.resource("x:a", { name: "a" }, () => "a");
    const heard = hearing(server, "acme");
    server.resourceUpdated("x:a", "acme");
    server.resourceUpdated("x:a", "");
    expect(heard).toEqual([]);
    server.resourceUpdated("x:a");
    expect(heard).toEqual(["x:a"]);
    server.endSubscriptions();
  });
});

describe("the acknowledgement", () => {
  it("comes first, and says what was agreed", () => {
    const { listen, server } = build();
    const { received } = listen({ ...EVERYTHING, resourceSubscriptions: ["x:a", "file:///b"] }, { id: "s" });
    server.tool("late", {}, () => 1);
    expect(received).toEqual([
      {
        jsonrpc: "2.0",
        method: "notifications/subscriptions/acknowledged",
        params: {
          _meta: { [MetaKey.subscriptionId]: "s" },
          notifications: { ...EVERYTHING, resourceSubscriptions: ["x:a", "file:///b"] },
        },
      },
      {
        jsonrpc: "2.0",
        method: "notifications/tools/list_changed",
        params: { _meta: { [MetaKey.subscriptionId]: "s" } },
      },
    ]);
  });

  it.each<[string, object, object]>([
    [
      "what was not asked for",
      { toolsListChanged: true, promptsListChanged: false },
      { toolsListChanged: true },
    ],
    ["nothing", {}, {}],
    ["kinds that nobody knows", { tasksChanged: true, toolsListChanged: true }, { toolsListChanged: true }],
    [
      "addresses of nothing, and repeated ones",
      { resourceSubscriptions: ["x:a", "x:nope", "x:a", "", "file:///a/b"] },
      { resourceSubscriptions: ["x:a"] },
    ],
    ["an empty list", { resourceSubscriptions: [] }, { resourceSubscriptions: [] }],
  ])("leaves out %s", (_, asked, agreed) => {
    const { listen } = build();
    expect(listen(asked).received[0]?.params?.["notifications"]).toEqual(agreed);
  });

  it("leaves out what the server does not offer", () => {
    const server = checkedServer(createServer({ name: "test", version: "1.0.0" }));
    const { listen } = listening(server);
    const asked = { ...EVERYTHING, resourceSubscriptions: ["x:a"] };
    expect(listen(asked).received[0]?.params?.["notifications"]).toEqual({});
    server.prompt("p", {}, () => "");
    expect(listen(asked).received[0]?.params?.["notifications"]).toEqual({ promptsListChanged: true });
  });
});

describe("changes", () => {
  it("reach those who asked for the kind, and no others", () => {
    const { listen, server } = build();
    const tools = listen({ toolsListChanged: true });
    const prompts = listen({ promptsListChanged: true });
    const resources = listen({ resourcesListChanged: true });
    const everything = listen(EVERYTHING);
    const nothing = listen({});
    const registrations = [
      server.tool("t2", {}, () => 1),
      server.prompt("p2", {}, () => ""),
      server.resource("x:b", { name: "b" }, () => ""),
    ];
    server.resourceTemplate("y:{a}", { name: "y" }, () => "");
    server.resourceUpdated("x:a");
    for (const registration of registrations) registration.remove();
    expect(tools.changes()).toEqual(["tools", "tools"]);
    expect(prompts.changes()).toEqual(["prompts", "prompts"]);
    expect(resources.changes()).toEqual(["resources", "resources", "resources"]);
    expect(everything.changes()).toEqual([
      "tools",
      "prompts",
      "resources",
      "resources",
      "tools",
      "prompts",
      "resources",
    ]);
    expect(nothing.changes()).toEqual([]);
  });

  it("of a resource reach those who asked for its address, and no others", () => {
    const { listen, server } = build();
    server.resource("x:b", { name: "b" }, () => "");
    const a = listen({ resourceSubscriptions: ["x:a"] });
    const both = listen({ resourceSubscriptions: ["x:a", "x:b"] });
    const file = listen({ resourceSubscriptions: ["file:///My%20File.txt"] });
    for (const uri of ["x:b", "x:a", "file:///My%20File.txt", "file:///My File.txt", "x:", "__proto__"])
      server.resourceUpdated(uri);
    expect(a.changes()).toEqual(["x:a"]);
    expect(both.changes()).toEqual(["x:b", "x:a"]);
    expect(file.changes()).toEqual(["file:///My%20File.txt"]);
  });

  it("carry the id of the request, whatever it is", () => {
    const { listen, server } = build();
    const ids: RequestId[] = [0, "", "1", 1, "0"];
    const open = ids.map((id) => listen({ toolsListChanged: true }, { id }));
    server.tool("t2", {}, () => 1);
    for (const [index, id] of ids.entries()) {
      const seen = open[index]?.received.map(({ params }) => subscriptionOf(params));
      expect(seen).toEqual([id, id]);
    }
  });

  it("that another process publishes are sent, too", () => {
    const bus = memoryBus();
    const server = checkedServer(createServer({ name: "test", version: "1.0.0", bus }));
    server.tool("t", {}, () => 1);
    const { listen } = listening(server);
    const { changes } = listen({ toolsListChanged: true });
    bus.publish({ kind: "tools" });
    bus.publish({ kind: "resource", uri: "x:a" });
    expect(changes()).toEqual(["tools"]);
  });

  it("are published for every server on the bus", () => {
    const bus = memoryBus();
    const events: ChangeEvent[] = [];
    bus.subscribe((event) => events.push(event));
    const server = createServer({ name: "test", version: "1.0.0", bus });
    const registration = server.tool("t", {}, () => 1);
    server.resourceUpdated("x:a");
    registration.remove();
    registration.remove();
    expect(events).toEqual([{ kind: "tools" }, { kind: "resource", uri: "x:a" }, { kind: "tools" }]);
  });
});

describe("the end", () => {
  it("is a result with the subscription's id when the server ends it", async () => {
    const { listen, server, bus, caller } = build();
    const open = [listen(EVERYTHING, { id: 0 }), listen({}, { id: "" })];
    server.endSubscriptions();
    for (const [index, { ended, changes }] of open.entries()) {
      const id = index === 0 ? 0 : "";
      expect(await ended).toMatchObject({
        id,
        result: { resultType: "complete", _meta: { [MetaKey.subscriptionId]: id } },
      });
      server.tool(`after${index}`, {}, () => 1);
      expect(changes()).toEqual([]);
    }
    expect(bus.listeners).toBe(0);
    expect(caller.transport.inFlight).toBe(0);
    server.endSubscriptions();
  });

  it("comes with the caller's leaving: nothing more is sent, nothing is kept", async () => {
    const { listen, server, bus, caller } = build();
    const gone = listen({ ...EVERYTHING, resourceSubscriptions: ["x:a"] });
    const stays = listen({ toolsListChanged: true, resourceSubscriptions: ["x:a"] });
    gone.cancel();
    await expect(gone.ended).rejects.toThrow("cancelled");
    server.tool("t2", {}, () => 1);
    server.resourceUpdated("x:a");
    expect(gone.changes()).toEqual([]);
    expect(stays.changes()).toEqual(["tools", "x:a"]);
    expect(bus.listeners).toBe(1);
    stays.cancel();
    await expect(stays.ended).rejects.toThrow("cancelled");
    expect(bus.listeners).toBe(0);
    expect(caller.transport.inFlight).toBe(0);
  });

  it("leaves nothing of a thousand subscriptions", async () => {
    const { listen, server, bus, caller } = build({ maxSubscriptions: 1_000 });
    for (let round = 0; round < 3; round++) {
      const open = Array.from({ length: 1_000 }, (_, index) =>
        listen({ ...EVERYTHING, resourceSubscriptions: ["x:a", `file:///${index}`] }),
      );
      expect(bus.listeners).toBe(1);
      server.resourceUpdated("file:///7");
      expect(open[7]?.changes()).toEqual(["file:///7"]);
      expect(open[8]?.changes()).toEqual([]);
      // The limit is reached; one that ends makes room for another.
      expect(await caller.error("subscriptions/listen", { notifications: {} })).toMatchObject({
        code: -32603,
      });
      for (const { cancel } of open) cancel();
      await Promise.allSettled(open.map(({ ended }) => ended));
      expect(bus.listeners).toBe(0);
      expect(caller.transport.inFlight).toBe(0);
    }
  });

  it("forgets the addresses that nobody listens to any more", async () => {
    const { listen, server } = build();
    const kept = new Set<unknown>();
    const set = vi.spyOn(Map.prototype, "set").mockImplementation(function (
      this: Map<unknown, unknown>,
      key,
      value,
    ) {
      if (String(key).startsWith("file:///leak")) kept.add(key);
      return Reflect.apply(originalSet, this, [key, value]) as Map<unknown, unknown>;
    });
    const drop = vi.spyOn(Map.prototype, "delete").mockImplementation(function (
      this: Map<unknown, unknown>,
      key,
    ) {
      kept.delete(key);
      return Reflect.apply(originalDelete, this, [key]) as boolean;
    });
    try {
      const open = [1, 2].map(() => listen({ resourceSubscriptions: ["file:///leak-a", "file:///leak-b"] }));
      expect(kept.size).toBe(2);
      open[0]?.cancel();
      await open[0]?.ended.catch(() => {});
      expect(kept.size).toBe(2);
      server.endSubscriptions();
      await open[1]?.ended;
      expect(kept.size).toBe(0);
    } finally {
      set.mockRestore();
      drop.mockRestore();
    }
  });

  it("may come while changes are delivered", async () => {
    const { server, caller, bus } = build();
    const controllers = [new AbortController(), new AbortController()];
    const received: number[] = [];
    const ended = controllers.map((controller, index) =>
      caller.send(
        "subscriptions/listen",
        { notifications: { toolsListChanged: true } },
        {
          signal: controller.signal,
          onNotification({ method }) {
            if (method !== "notifications/tools/list_changed") return;
            received.push(index);
            for (const each of controllers) each.abort(new Error("enough"));
          },
        },
      ),
    );
    server.tool("t2", {}, () => 1);
    await Promise.allSettled(ended);
    server.tool("t3", {}, () => 1);
    expect(received).toEqual([0]);
    expect(bus.listeners).toBe(0);
  });

  it("is there at once for a caller who has left already", async () => {
    const { server, bus } = build();
    const notified: string[] = [];
    const { id, ...rest } = (await server.handle(
      {
        jsonrpc: "2.0",
        id: 1,
        method: "subscriptions/listen",
        params: {
          _meta: { [MetaKey.protocolVersion]: "2026-07-28", [MetaKey.clientCapabilities]: {} },
          notifications: EVERYTHING,
        },
      },
      { signal: AbortSignal.abort(), notify: ({ method }) => notified.push(method) },
    )) as { id: RequestId };
    expect(id).toBe(1);
    expect(rest).toHaveProperty("result");
    server.tool("t2", {}, () => 1);
    expect(notified).toEqual(["notifications/subscriptions/acknowledged"]);
    expect(bus.listeners).toBe(0);
  });
});

describe("what is refused", () => {
  it.each<[string, unknown, string]>([
    ["no filter", undefined, "params.notifications must be an object"],
    ["a filter that is null", null, "params.notifications must be an object"],
    ["a filter that is a list", ["tools"], "params.notifications must be an object"],
    [
      "a flag that is a string",
      { toolsListChanged: "true" },
      "params.notifications.toolsListChanged must be a boolean",
    ],
    [
      "a flag that is null",
      { promptsListChanged: null },
      "params.notifications.promptsListChanged must be a boolean",
    ],
    [
      "one address instead of a list",
      { resourceSubscriptions: "x:a" },
      "resourceSubscriptions must be an array of URIs",
    ],
    [
      "an address that is a number",
      { resourceSubscriptions: [1] },
      "resourceSubscriptions must be an array of URIs",
    ],
    [
      "more addresses than the limit",
      { resourceSubscriptions: ["x:a", "x:a", "x:a", "x:a"] },
      "has 4 URIs; the limit is 3",
    ],
  ])("%s", async (_, notifications, message) => {
    const { caller, bus } = build({ maxSubscriptionUris: 3 });
    const error = await caller.error("subscriptions/listen", { notifications });
    expect(error.code).toBe(-32602);
    expect(error.message).toContain(message);
    expect(bus.listeners).toBe(0);
  });

  it("one that the bus cannot take, and nothing is left of it", async () => {
    let isDown = true;
    const bus = memoryBus();
    const server = createServer({
      name: "test",
      version: "1.0.0",
      bus: {
        publish: bus.publish,
        subscribe(listener) {
          if (isDown) throw new Error("the bus is down");
          return bus.subscribe(listener);
        },
      },
      limits: { maxSubscriptions: 1 },
      onError: () => {},
    });
    server.tool("t", {}, () => 1);
    const { listen } = listening(server);
    expect(await listen(EVERYTHING).ended).toMatchObject({ error: { code: -32603 } });
    isDown = false;
    const second = listen(EVERYTHING);
    await expect.poll(() => second.received.length).toBe(1);
    server.tool("u", {}, () => 1);
    await expect.poll(() => second.received.length).toBe(2);
    second.cancel();
  });

  it("more subscriptions than the limit, until one ends", async () => {
    const { listen, caller } = build({ maxSubscriptions: 2 });
    const first = listen({});
    listen({});
    expect(await caller.error("subscriptions/listen", { notifications: {} })).toEqual({
      code: -32603,
      message: "Too many open subscriptions: the limit is 2",
    });
    first.cancel();
    await expect(first.ended).rejects.toThrow();
    expect(listen({}).received).toHaveLength(1);
  });

  it("more than the limit, however many are waiting for an extension to read its part", async () => {
    const bus = countingBus();
    let read = () => {};
    const isRead = new Promise<void>((resolve) => {
      read = resolve;
    });
    const slow: ServerExtension = {
      id: "com.example/slow",
      settings: {},
      install: () => ({ listen: () => isRead.then(() => undefined) }),
    };
    const limits = { maxSubscriptions: 2 };
    const { listen } = listening(
      createServer({ name: "test", version: "1.0.0", bus, limits, extensions: [slow] }),
    );
    const all = [1, 2, 3, 4].map(() => listen({}));
    read();
    const refused = { error: { message: "Too many open subscriptions: the limit is 2" } };
    expect(await all[2]!.ended).toMatchObject(refused);
    expect(await all[3]!.ended).toMatchObject(refused);
    expect(all.map(({ received }) => received.length)).toEqual([1, 1, 0, 0]);
    for (const { cancel } of all) cancel();
    expect(bus.listeners).toBe(0);
  });
});
