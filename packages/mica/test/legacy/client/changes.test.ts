/** Subscriptions of the current revision on a session of an earlier one. */
import { expect, it, vi } from "vitest";
import { ProtocolError } from "../../../src/protocol/errors.js";
import { VERSIONS } from "../legacy-schema.js";
import { clientOf, oldServer, text } from "./old-server.js";

const UPDATED = "notifications/resources/updated";
const never = () => new Promise<never>(() => {});

it.each(VERSIONS)("a server of %s is listened to", async (version) => {
  const server = oldServer(version);
  const { client, warnings } = await clientOf(server);
  const subscription = client.listen({ toolsListChanged: true, resourceSubscriptions: ["a:1", "a:2"] });
  expect(await subscription.acknowledged).toEqual({
    toolsListChanged: true,
    resourceSubscriptions: ["a:1", "a:2"],
  });
  expect(server.of("resources/subscribe").map(({ params }) => params)).toEqual([
    { uri: "a:1" },
    { uri: "a:2" },
  ]);
  server.notify("notifications/prompts/list_changed");
  server.notify("notifications/tools/list_changed");
  expect(await subscription.next()).toMatchObject({ value: { type: "toolsListChanged" } });
  server.notify(UPDATED, { uri: "a:2" });
  expect(await subscription.next()).toMatchObject({ value: { type: "resourceUpdated", uri: "a:2" } });
  await subscription.close();
  await vi.waitFor(() => expect(server.of("resources/unsubscribe")).toHaveLength(2));
  expect(warnings).toEqual([]);
});

it("changes make what is cached stale, and lists are asked for again", async () => {
  let version = 0;
  const server = oldServer("2025-11-25", {
    "tools/list": () => ({ tools: [{ name: `v${++version}`, inputSchema: { type: "object" } }] }),
  });
  const { client } = await clientOf(server);
  expect((await client.listTools()).tools[0]?.name).toBe("v1");
  expect((await client.listTools()).tools[0]?.name).toBe("v2");
});

it("what the server does not offer, or refuses, is not acknowledged", async () => {
  const server = oldServer(
    "2025-11-25",
    {
      "resources/subscribe": ({ uri }) => {
        if (uri === "a:gone") throw new ProtocolError(-32002, "Resource not found");
        return {};
      },
    },
    {
      initialized: {
        capabilities: { tools: {}, prompts: { listChanged: true }, resources: { subscribe: true } },
      },
    },
  );
  const { client, warnings } = await clientOf(server);
  const subscription = client.listen({
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: true,
    resourceSubscriptions: ["a:1", "a:gone"],
  });
  expect(await subscription.acknowledged).toEqual({
    promptsListChanged: true,
    resourceSubscriptions: ["a:1"],
  });
  expect(warnings).toMatchObject([
    {
      code: "subscription_reduced",
      message: expect.stringMatching(/toolsListChanged, resourcesListChanged, a:gone/),
    },
  ]);
  await subscription.close();
  await vi.waitFor(() =>
    expect(server.of("resources/unsubscribe").map(({ params }) => params?.["uri"])).toEqual(["a:1"]),
  );

  const none = oldServer("2025-11-25", {}, { initialized: { capabilities: {} } });
  const plain = await clientOf(none);
  const empty = plain.client.listen({ toolsListChanged: true, resourceSubscriptions: ["a:1"] });
  expect(await empty.acknowledged).toEqual({ resourceSubscriptions: [] });
  expect(none.of("resources/subscribe")).toEqual([]);
});

it("one subscription at the server serves all that want the resource, and each hears of its own", async () => {
  const server = oldServer("2025-11-25");
  const { client } = await clientOf(server);
  const first = client.listen({ resourceSubscriptions: ["file:///a/1", "file:///a/1"] });
  const second = client.listen({ resourceSubscriptions: ["file:///a/1", "b:2"] });
  const whole = client.listen({ resourceSubscriptions: ["file:///a/"] });
  await Promise.all([first.acknowledged, second.acknowledged, whole.acknowledged]);
  expect(server.of("resources/subscribe")).toHaveLength(3);
  server.notify(UPDATED, { uri: "file:///a/1" });
  expect(await first.next()).toMatchObject({ value: { uri: "file:///a/1" } });
  expect(await second.next()).toMatchObject({ value: { uri: "file:///a/1" } });
  // "This might be a sub-resource of the one that the client actually subscribed to."
  server.notify(UPDATED, { uri: "file:///a/1/part" });
  server.notify(UPDATED, { uri: "b:2" });
  expect(await whole.next()).toMatchObject({ value: { uri: "file:///a/1/part" } });
  expect(await second.next()).toMatchObject({ value: { uri: "file:///a/1/part" } });
  expect(await second.next()).toMatchObject({ value: { uri: "b:2" } });
  await first.close();
  expect(server.of("resources/unsubscribe")).toEqual([]);
  await second.close();
  await vi.waitFor(() => expect(server.of("resources/unsubscribe")).toHaveLength(2));
  await whole.close();
  await vi.waitFor(() => expect(server.of("resources/unsubscribe")).toHaveLength(3));
});

it("what comes before the acknowledgement comes after it", async () => {
  const server = oldServer("2025-11-25", {
    "resources/subscribe": async (_, { notify }) => {
      notify(UPDATED, { uri: "a:1" });
      notify("notifications/tools/list_changed");
      return {};
    },
  });
  const { client } = await clientOf(server);
  const seen: unknown[] = [];
  const listening = client
    .request(
      "subscriptions/listen",
      { notifications: { toolsListChanged: true, resourceSubscriptions: ["a:1"] } },
      {
        onNotification: ({ method, params }) => seen.push([method, params]),
      },
    )
    .catch((error: unknown) => error);
  await vi.waitFor(() => expect(seen).toHaveLength(3));
  const _meta = { "io.modelcontextprotocol/subscriptionId": expect.any(Number) };
  expect(seen).toEqual([
    [
      "notifications/subscriptions/acknowledged",
      { notifications: { toolsListChanged: true, resourceSubscriptions: ["a:1"] }, _meta },
    ],
    [UPDATED, { uri: "a:1", _meta }],
    ["notifications/tools/list_changed", { _meta }],
  ]);
  await client.close();
  expect(await listening).toMatchObject({ code: "closed" });
});

it("a session that is lost is begun again, and subscribed in again", async () => {
  const server = oldServer("2025-11-25");
  const { client } = await clientOf(server, { limits: { reopenDelayMs: 1 } });
  const subscription = client.listen({ resourceSubscriptions: ["a:1"] });
  await subscription.acknowledged;
  server.breakOff();
  expect(await subscription.next()).toMatchObject({ value: { type: "reopened" } });
  expect([server.wires, server.of("resources/subscribe").length]).toEqual([2, 2]);
  server.notify(UPDATED, { uri: "a:1" });
  expect(await subscription.next()).toMatchObject({ value: { type: "resourceUpdated" } });
  await client.close();
  expect(server.open).toBe(0);
});

it("log messages of the session go to requests, and outside of requests to subscriptions that asked for them", async () => {
  const server = oldServer("2025-11-25", {
    "tools/call": (_, { notify }) => {
      notify("notifications/message", { level: "info", data: "in" });
      return text("ok");
    },
  });
  const logs: unknown[] = [];
  const { client } = await clientOf(server, { onLog: ({ data }) => logs.push(data) });
  server.notify("notifications/message", { level: "info", data: "before" });
  const subscription = client.listen({ toolsListChanged: true });
  await subscription.acknowledged;
  server.notify("notifications/message", { level: "debug", data: "too little" });
  server.notify("notifications/message", { level: "warning", data: "between" });
  await client.callTool("t");
  expect(logs).toEqual(["between", "in"]);
});

it("a subscription that is not wanted any more before it is there is taken back", async () => {
  let take: (value: object) => void = () => {};
  const server = oldServer("2025-11-25", {
    "resources/subscribe": () => new Promise<object>((resolve) => (take = resolve)),
    "resources/unsubscribe": () => ({}),
  });
  const { client } = await clientOf(server);
  const subscription = client.listen({ resourceSubscriptions: ["a:1"] });
  await vi.waitFor(() => expect(server.of("resources/subscribe")).toHaveLength(1));
  await subscription.close();
  expect(server.of("resources/unsubscribe")).toEqual([]);
  take({});
  await vi.waitFor(() => expect(server.of("resources/unsubscribe")).toHaveLength(1));
  const silent = oldServer("2025-11-25", { "resources/subscribe": never });
  const other = await clientOf(silent);
  await expect(
    other.client.listen({ resourceSubscriptions: ["a:1"] }, { timeoutMs: 20 }).next(),
  ).rejects.toMatchObject({
    code: "timeout",
  });
});
