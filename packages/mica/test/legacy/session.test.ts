/** The lifecycle of a session: handshake, ids, cancellation, and its end. */
import { describe, expect, it } from "vitest";
import { createLegacySession } from "../../src/legacy/session.js";
import { DEFAULT_LEGACY_LIMITS } from "../../src/legacy-options.js";
import type { JSONRPCMessage, JSONRPCResultResponse } from "../../src/protocol/types.js";
import { createServer } from "../../src/server/server.js";
import type { RequestHandler } from "../../src/transport.js";
import { gate } from "../stdio/channel.js";
import { everything, type LegacyClient, legacyClient } from "./everything.js";

const NEWEST = "2025-11-25";

/** A server whose tool `wait` is done when its gate opens, and whose tool `ids` says who called. */
function waiting() {
  const gates: ReturnType<typeof gate<string>>[] = [];
  const signals: AbortSignal[] = [];
  const server = createServer({ name: "waiting", version: "1.0.0" });
  server.tool("wait", {}, (_args, ctx) => {
    const made = gate<string>();
    gates.push(made);
    signals.push(ctx.signal);
    return made.opened;
  });
  server.tool(
    "quick",
    { input: { type: "object", properties: { say: { type: "string" } } } },
    ({ say }) => say,
  );
  return { server, gates, signals };
}

const wait = (id: string | number) => ({ id, method: "tools/call", params: { name: "wait" } });

async function initialized(handler: RequestHandler): Promise<LegacyClient> {
  const client = legacyClient(handler, NEWEST);
  await client.initialize();
  client.received.length = 0;
  return client;
}

describe("initialize", () => {
  it.each([
    ["a revision without a handshake (case 6)", "2026-07-28"],
    ["one of the future", "2099-01-01"],
    ["one that never was", "1.0.0"],
    ["none at all", ""],
  ])("offers the newest legacy revision for %s", async (_, version) => {
    const client = legacyClient(everything(), version, { checkAs: NEWEST });
    expect(await client.initialize()).toMatchObject({ protocolVersion: NEWEST });
    expect(client.session.revision?.version).toBe(NEWEST);
  });

  it.each<[string, Record<string, unknown> | undefined, string]>([
    ["no params", undefined, "protocolVersion must be a string; it is missing"],
    [
      "a version that is a number",
      { protocolVersion: 1, capabilities: {} },
      "protocolVersion must be a string; got 1",
    ],
    [
      "capabilities that are a list",
      { protocolVersion: NEWEST, capabilities: [] },
      "capabilities must be an object; got []",
    ],
  ])("refuses %s, and may then be sent again", async (_, params, message) => {
    const client = legacyClient(everything(), NEWEST);
    const error = await client.error("initialize", params);
    expect(error).toEqual({ code: -32602, message: `Invalid params: ${message}` });
    expect(client.session.revision).toBeUndefined();
    expect(await client.initialize()).toMatchObject({ protocolVersion: NEWEST });
  });

  it("does without clientInfo and capabilities", async () => {
    const client = legacyClient(everything(), NEWEST);
    expect(await client.result("initialize", { protocolVersion: NEWEST })).toMatchObject({
      protocolVersion: NEWEST,
    });
  });

  it("is refused a second time", async () => {
    const client = await initialized(everything());
    const error = await client.error("initialize", { protocolVersion: "2024-11-05", capabilities: {} });
    expect(error).toMatchObject({ code: -32600, message: expect.stringContaining("initialized already") });
    expect(client.session.revision?.version).toBe(NEWEST);
  });

  it("passes on the error of a server that cannot be discovered", async () => {
    const handler: RequestHandler = {
      ...everything(),
      handle: async ({ id }) => ({ jsonrpc: "2.0", id, error: { code: -32022, message: "Unsupported" } }),
    };
    const client = legacyClient(handler, NEWEST);
    const params = { protocolVersion: NEWEST, capabilities: {} };
    expect(await client.error("initialize", params)).toEqual({ code: -32603, message: "Unsupported" });
  });

  it("tells the server who the client is and what it can do", async () => {
    const seen: unknown[] = [];
    const server = createServer({ name: "a", version: "1.0.0" });
    server.tool("see", {}, (_args, ctx) => void seen.push(ctx.client, ctx.meta));
    const client = legacyClient(server, NEWEST);
    await client.initialize({
      roots: { listChanged: true },
      tasks: {},
      sampling: { tools: {} },
      elicitation: {},
    });
    await client.result("tools/call", {
      name: "see",
      _meta: { progressToken: "p", traceparent: "00-1", "io.modelcontextprotocol/logLevel": "emergency" },
    });
    expect(seen[0]).toEqual({
      info: { name: "old", version: "0.1.0" },
      capabilities: { roots: {}, sampling: { tools: {} }, elicitation: { form: {} } },
    });
    expect(seen[1]).toMatchObject({
      progressToken: "p",
      traceparent: "00-1",
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/logLevel": "info",
    });
  });

  it.each<[string, object, object]>([
    [
      "2024-11-05",
      { sampling: {}, elicitation: {}, experimental: { x: {} } },
      { sampling: { context: {} }, experimental: { x: {} } },
    ],
    [
      "2025-03-26",
      { sampling: { tools: {} }, elicitation: {}, roots: {} },
      { sampling: { context: {} }, roots: {} },
    ],
    [
      "2025-06-18",
      { sampling: {}, elicitation: { url: {} } },
      { sampling: { context: {} }, elicitation: { form: {} } },
    ],
    ["2025-11-25", { elicitation: { url: {} }, extensions: { "a/b": {} } }, { elicitation: { url: {} } }],
    [
      "2025-11-25",
      { elicitation: { form: {}, url: {} }, sampling: {} },
      { elicitation: { form: {}, url: {} }, sampling: {} },
    ],
    ["2025-11-25", { elicitation: true, roots: null, sampling: 1 }, {}],
  ])("%s: %j means %j", async (version, declared, meant) => {
    let seen: unknown;
    const server = createServer({ name: "a", version: "1.0.0" });
    server.tool("see", {}, (_args, ctx) => {
      seen = ctx.client.capabilities;
    });
    const client = legacyClient(server, version);
    await client.initialize(declared as Record<string, unknown>);
    await client.result("tools/call", { name: "see" });
    expect(seen).toEqual(meant);
  });
});

describe("before initialize", () => {
  it("a ping is answered", async () => {
    const client = legacyClient(everything(), NEWEST);
    expect(await client.result("ping")).toEqual({});
  });

  it.each(["tools/list", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"])(
    "%s is refused, with what to do instead",
    async (method) => {
      const client = legacyClient(everything(), NEWEST);
      const error = await client.error(method, { uri: "note://1", level: "info" });
      expect(error.code).toBe(-32600);
      for (const word of [method, "initialize", "2024-11-05", "2025-11-25", "2026-07-28"]) {
        expect(error.message).toContain(word);
      }
    },
  );

  it("what is sent along with it waits for its answer", async () => {
    const client = legacyClient(everything(), NEWEST);
    const params = { protocolVersion: NEWEST, capabilities: {}, clientInfo: { name: "a", version: "1" } };
    await Promise.all([
      client.request("initialize", params, 0),
      client.notify("notifications/initialized"),
      client.request("tools/list", undefined, 1),
      client.request("logging/setLevel", { level: "error" }, 2),
      client.request("tools/call", { name: "add", arguments: { a: 1, b: 1 } }, 3),
    ]);
    expect(client.received[0]).toMatchObject({ id: 0, result: { protocolVersion: NEWEST } });
    expect(client.received.map(({ id }) => id).sort()).toEqual([0, 1, 2, 3]);
    expect(client.received.every(({ result }) => result !== undefined)).toBe(true);
  });
});

describe("ids", () => {
  it("in flight are refused, and may be used again afterwards (case 11)", async () => {
    const { server, gates } = waiting();
    const client = await initialized(server);
    const first = client.send(wait(1));
    const error = (await client.request("tools/call", { name: "quick", arguments: { say: "other" } }, 1))
      .error;
    expect(error).toMatchObject({
      code: -32600,
      message: expect.stringContaining("id 1 is in flight already"),
    });
    expect((await client.request("ping", undefined, 1)).error?.code).toBe(-32600);
    gates[0]?.open("slow");
    await first;
    expect(client.received.at(-1)).toMatchObject({ id: 1, result: { content: [{ text: "slow" }] } });
    const again = await client.request("tools/call", { name: "quick", arguments: { say: "later" } }, 1);
    expect(again).toMatchObject({ id: 1, result: { content: [{ text: "later" }] } });
  });

  it("0, '', 1 and '1' are ordinary and distinct", async () => {
    const { server, gates } = waiting();
    const client = await initialized(server);
    const ids = [0, "", 1, "1", "0"];
    const all = ids.map((id) => client.send(wait(id)));
    while (gates.length < ids.length) await Promise.resolve();
    for (const [index, { open }] of gates.entries()) open(`answer ${index}`);
    await Promise.all(all);
    expect(client.received.map(({ id }) => id)).toEqual(ids);
  });

  it("are limited in number", async () => {
    const { server, gates } = waiting();
    const client = legacyClient(server, NEWEST, { limits: { maxInFlight: 2 } });
    await client.initialize();
    const all = [client.send(wait("a")), client.send(wait("b"))];
    expect((await client.request("tools/list", {}, "c")).error).toMatchObject({
      code: -32603,
      message: expect.stringContaining("maxInFlight"),
    });
    while (gates.length < 2) await Promise.resolve();
    for (const { open } of gates) open("done");
    await Promise.all(all);
    expect((await client.request("tools/list", {}, "c")).result).toBeDefined();
  });
});

describe("notifications/cancelled", () => {
  it.each([0, "", 7])("ends request %j: it is aborted, and never answered", async (id) => {
    const { server, gates, signals } = waiting();
    const client = await initialized(server);
    const call = client.send(wait(id));
    while (signals.length === 0) await Promise.resolve();
    await client.notify("notifications/cancelled", { requestId: id, reason: "changed my mind" });
    await call;
    expect(signals[0]?.aborted).toBe(true);
    expect(String(signals[0]?.reason)).toContain("changed my mind");
    // The id is free at once, although the handler of the first is still at work.
    expect((await client.request("ping", undefined, id)).result).toEqual({});
    gates[0]?.open("too late");
    await client.session.idle();
    expect(client.received).toHaveLength(1);
  });

  it("is ignored for what is not in flight, is of another type, or must not be cancelled", async () => {
    const { server, gates, signals } = waiting();
    const client = await initialized(server);
    const call = client.send(wait(1));
    while (signals.length === 0) await Promise.resolve();
    for (const requestId of ["1", 2, null, undefined, {}])
      await client.notify("notifications/cancelled", { requestId });
    await client.notify("notifications/cancelled");
    expect(signals[0]?.aborted).toBe(false);
    gates[0]?.open("done");
    await call;
    expect(client.received).toHaveLength(1);

    const other = legacyClient(everything(), NEWEST);
    const shake = other.initialize();
    await other.notify("notifications/cancelled", { requestId: 1 });
    expect(await shake).toMatchObject({ protocolVersion: NEWEST });
  });
});

describe("other messages", () => {
  it("notifications that mean nothing here are taken", async () => {
    const client = await initialized(everything());
    await client.notify("notifications/roots/list_changed");
    await client.notify("notifications/progress", { progressToken: 1, progress: 1 });
    await client.notify("made/up", {});
    expect(client.received).toEqual([]);
    expect(client.problems).toEqual([]);
  });

  it("a response that nothing waits for is reported", async () => {
    const client = await initialized(everything());
    await client.send({ id: "", result: {} });
    await client.send({ id: 5, error: { code: 1, message: "no" } });
    expect(client.problems).toEqual([
      'ignored a response: nothing waits for ""',
      "ignored a response: nothing waits for 5",
    ]);
  });

  it("a result that has no JSON is an internal error, and a handler that rejects as well", async () => {
    const server = everything();
    const handler: RequestHandler = {
      ...server,
      handle(request, exchange) {
        if (request.method === "tools/list") return Promise.reject(new Error("secret"));
        return server.handle(request, exchange);
      },
    };
    const client = legacyClient(handler, NEWEST);
    await client.initialize();
    expect(await client.error("tools/list")).toEqual({ code: -32603, message: "Internal error" });
    expect(client.problems).toEqual([expect.stringContaining("secret")]);
  });

  it("a type of result that the revision cannot express is an error", async () => {
    const server = everything();
    const handler: RequestHandler = {
      ...server,
      handle: (request, exchange) =>
        request.method === "tools/call"
          ? Promise.resolve({ jsonrpc: "2.0", id: request.id, result: { resultType: "task", taskId: "1" } })
          : server.handle(request, exchange),
    };
    const client = legacyClient(handler, NEWEST);
    await client.initialize();
    expect(await client.error("tools/call", { name: "add" })).toMatchObject({
      code: -32603,
      message: expect.stringContaining('"task"'),
    });
  });
});

describe("the end", () => {
  it("giveUp answers what is open with an error and aborts it", async () => {
    const { server, signals } = waiting();
    const client = await initialized(server);
    const calls = [client.send(wait("a")), client.send(wait("b"))];
    while (signals.length < 2) await Promise.resolve();
    client.session.giveUp();
    await Promise.all(calls);
    expect(client.received).toMatchObject([
      { id: "a", error: { code: -32603 } },
      { id: "b", error: { code: -32603 } },
    ]);
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
  });

  it("close aborts what is open, sends nothing, and may come twice", async () => {
    const { server, signals } = waiting();
    const client = await initialized(server);
    const call = client.send(wait("a"));
    while (signals.length === 0) await Promise.resolve();
    client.session.close();
    client.session.close();
    await call;
    expect(client.received).toEqual([]);
    expect(signals[0]?.aborted).toBe(true);
  });
});

it("serves one message without a handshake where nothing is remembered", async () => {
  const sent: JSONRPCMessage[] = [];
  const { REVISIONS } = await import("../../src/legacy/versions.js");
  const session = createLegacySession({
    handler: everything(),
    limits: DEFAULT_LEGACY_LIMITS,
    stateless: REVISIONS.get("2025-03-26"),
    send: () => {
      throw new Error("there is nothing to report");
    },
    onProblem: () => {},
  });
  const channel = { send: (message: JSONRPCMessage) => void sent.push(message), canAsk: false };
  const request = (id: number, method: string, params = {}) =>
    session.receive({ jsonrpc: "2.0", id, method, params }, channel);
  await request(1, "tools/list");
  await request(2, "tools/call", { name: "where" });
  await request(3, "resources/subscribe", { uri: "note://1" });
  await request(4, "logging/setLevel", { level: "error" });
  await request(5, "initialize", { protocolVersion: "2025-11-25", capabilities: { roots: {} } });
  await session.receive({ jsonrpc: "2.0", method: "notifications/initialized" }, channel);
  expect(sent).toMatchObject([
    { id: 1, result: { tools: expect.any(Array) } },
    { id: 2, error: { code: -32603, message: expect.stringContaining("roots") } },
    { id: 3, error: { code: -32601 } },
    { id: 4, result: {} },
    { id: 5, result: { protocolVersion: "2025-11-25" } },
  ]);
  // What could never be sent is not announced.
  expect((sent[4] as JSONRPCResultResponse).result["capabilities"]).toEqual({
    logging: {},
    completions: {},
    prompts: {},
    resources: {},
    tools: {},
  });
});
