/** Earlier clients over HTTP with sessions: streams, resumption, questions, and the ends of all of them. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { type EventStore, memoryEventStore } from "../../src/legacy/event-store.js";
import type { SessionOptions } from "../../src/legacy-options.js";
import { createServer, type Server } from "../../src/server/server.js";
import { gate } from "../stdio/channel.js";
import { everything } from "./everything.js";
import {
  call,
  ENDPOINTS,
  type Endpoint,
  initialize,
  type Json,
  notification,
  openSession,
  type Reply,
  request,
  send,
} from "./http-fixture.js";
import { assertFits, VERSIONS } from "./legacy-schema.js";

const NEWEST = "2025-11-25";

/** Tools that wait for the test. */
function slowServer() {
  const held = new Map<string, ReturnType<typeof gate<string>>>();
  const signals = new Map<string, AbortSignal>();
  const server = createServer({ name: "slow", version: "1.0.0", onError: () => {} });
  server.tool("wait", { input: z.object({ key: z.string() }) }, ({ key }, ctx) => {
    const made = gate<string>();
    held.set(key, made);
    signals.set(key, ctx.signal);
    ctx.log("info", key);
    return made.opened;
  });
  server.tool("ask", {}, async (_args, ctx) => {
    const answer = await ctx.elicit("q", { message: "Sure?", schema: z.object({ yes: z.boolean() }) });
    return JSON.stringify(answer);
  });
  server.tool("where", {}, async (_args, ctx) => (await ctx.roots()).map(({ uri }) => uri).join());
  server.tool("quick", {}, () => "quick");
  server.resource("note://1", { name: "one" }, () => "1");
  server.prompt("first", {}, () => "first");
  const release = async (key: string, text = key) => {
    await vi.waitFor(() => expect(held.has(key)).toBe(true));
    held.get(key)?.open(text);
  };
  return {
    server,
    signals,
    release,
    isAtWork: (key: string) => vi.waitFor(() => expect(held.has(key)).toBe(true)),
  };
}

const isMethod = (method: string) => (message: Json) => message["method"] === method;
const answers = (id: unknown) => (message: Json) => message["id"] === id && !("method" in message);
const textOf = (message: Json) =>
  (message as { result: { content: { text: string }[] } }).result.content[0]?.text;
const lastId = ({ events }: Reply) => events.at(-1)?.id ?? "";

describe.each(Object.keys(ENDPOINTS))("%s", (binding) => {
  const open: Endpoint[] = [];
  const streams: Reply[] = [];
  afterEach(async () => {
    for (const stream of streams.splice(0)) stream.break();
    for (const endpoint of open.splice(0)) await endpoint.close();
  });

  async function start(server: Server, sessions: SessionOptions = {}, more = {}): Promise<string> {
    const endpoint = await ENDPOINTS[binding]!(server, { legacy: { sessions, ...more } });
    open.push(endpoint);
    return endpoint.url;
  }
  const track = async (reply: Promise<Reply>): Promise<Reply> => {
    const given = await reply;
    streams.push(given);
    return given;
  };

  describe.each(VERSIONS)("%s", (version) => {
    it("is served whole: handshake, calls, questions, changes", async () => {
      const server = everything();
      const url = await start(server);
      const opened = await send(url, { body: initialize(version) });
      expect(opened.status).toBe(200);
      expect(opened.headers["mcp-session-id"]).toMatch(/^[\x21-\x7e]{20,}$/);
      const hello = await opened.json();
      assertFits(version, hello, "initialize");
      expect(hello["result"]).toMatchObject({
        capabilities: { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true } },
      });

      const session = await openSession(url, version, { roots: {}, sampling: {}, elicitation: {} });
      const list = await (await session.post(request(1, "tools/list"))).json();
      assertFits(version, list, "tools/list");

      const standing = await track(session.get());
      expect(standing).toMatchObject({ status: 200, headers: { "content-type": "text/event-stream" } });
      const subscribed = await session.post(request(2, "resources/subscribe", { uri: "note://1" }));
      expect(await subscribed.json()).toMatchObject({ id: 2, result: {} });
      server.resourceUpdated("note://1");
      server.tool("late", {}, () => "late");
      await standing.until(isMethod("notifications/tools/list_changed"));
      expect(standing.messages).toEqual([
        notification("notifications/resources/updated", { uri: "note://1" }),
        notification("notifications/tools/list_changed"),
      ]);

      const asking = await track(session.post(call(3, "where")));
      const question = await asking.until(isMethod("roots/list"));
      assertFits(version, question);
      const answered = await session.post({
        jsonrpc: "2.0",
        id: question["id"],
        result: { roots: [{ uri: "file:///a" }] },
      });
      expect(answered.status).toBe(202);
      expect(await answered.text()).toBe("");
      expect(textOf(await asking.until(answers(3)))).toBe("file:///a");
      await asking.text();
      // The question belongs to its request, and goes nowhere else.
      expect(standing.messages).toHaveLength(2);
    });

    it("gets events with ids, and one without data first where it takes that", async () => {
      const url = await start(everything());
      const session = await openSession(url, version);
      const reply = await session.post(
        call(1, "count", { arguments: { to: 2 }, _meta: { progressToken: 1 } }),
      );
      await reply.text();
      const ids = reply.events.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.every((id) => id !== undefined)).toBe(true);
      expect(reply.events[0]?.data === "").toBe(version === NEWEST);
    });
  });

  describe("session ids", () => {
    let url: string;
    beforeEach(async () => {
      url = await start(everything());
    });

    it("are new for every initialize, and needed for everything else", async () => {
      const [one, two] = [await openSession(url, NEWEST), await openSession(url, NEWEST)];
      expect(one.id).not.toBe(two.id);
      for (const reply of [
        await send(url, { body: request(1, "tools/list") }),
        await send(url, { body: notification("notifications/initialized") }),
        await send(url, { method: "GET", headers: { accept: "text/event-stream" } }),
        await send(url, { method: "DELETE" }),
      ]) {
        expect(reply.status).toBe(400);
        expect(await reply.json()).toMatchObject({
          error: { message: expect.stringContaining("Mcp-Session-Id") },
        });
      }
    });

    it.each(["nope", "__proto__", ""])("that mean nothing are 404: %j", async (id) => {
      const headers = { "mcp-session-id": id };
      for (const reply of [
        await send(url, { body: request(1, "tools/list"), headers }),
        await send(url, { body: initialize(NEWEST), headers }),
        await send(url, { method: "GET", headers: { ...headers, accept: "text/event-stream" } }),
        await send(url, { method: "DELETE", headers }),
      ]) {
        expect(reply.status).toBe(404);
        expect(await reply.json()).toMatchObject({
          error: { message: expect.stringContaining("initialize") },
        });
      }
    });

    it("are of no use after DELETE, which ends every stream", async () => {
      const session = await openSession(url, NEWEST);
      const standing = await track(session.get());
      expect((await session.remove()).status).toBe(204);
      await standing.text();
      expect((await session.post(request(1, "ping"))).status).toBe(404);
      expect((await session.get()).status).toBe(404);
      expect((await session.remove()).status).toBe(404);
    });

    it("are not given where the handshake fails", async () => {
      const reply = await send(url, { body: request(0, "initialize", { protocolVersion: 5 }) });
      expect(reply.headers).not.toHaveProperty("mcp-session-id");
      expect(await reply.json()).toMatchObject({ id: 0, error: { code: -32602 } });
    });

    it("a second initialize in one session is refused", async () => {
      const session = await openSession(url, NEWEST);
      const reply = await session.post(initialize(NEWEST));
      expect(await reply.json()).toMatchObject({ id: 0, error: { code: -32600 } });
    });

    it.each(["1999-01-01", "2026-07-28"])("go with a version of that era, not %s", async (version) => {
      const session = await openSession(url, NEWEST);
      const headers = { "mcp-protocol-version": version };
      expect((await session.post(request(1, "ping"), headers)).status).toBe(400);
      expect((await session.get(headers)).status).toBe(400);
    });

    it("modern requests at the same endpoint need none, and ignore one", async () => {
      const meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
      };
      const headers = {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/list",
        "mcp-session-id": "nope",
      };
      const reply = await send(url, { body: request(1, "tools/list", { _meta: meta }), headers });
      expect(await reply.json()).toMatchObject({ id: 1, result: { resultType: "complete" } });
    });
  });

  describe("ids of requests", () => {
    it("in flight are refused; the first keeps its result, and the id is free afterwards (case 11)", async () => {
      const { server, release, isAtWork } = slowServer();
      const session = await openSession(await start(server), NEWEST);
      const slow = await track(session.post(call(1, "wait", { arguments: { key: "slow" } })));
      await isAtWork("slow");
      const second = await session.post(call(1, "wait", { arguments: { key: "other" } }));
      await second.text();
      expect(second.messages).toMatchObject([
        { id: 1, error: { code: -32600, message: expect.stringContaining("in flight already") } },
      ]);
      await release("slow");
      expect(textOf(await slow.until(answers(1)))).toBe("slow");
      await slow.text();
      const third = await session.post(call(1, "quick"));
      await third.text();
      expect(textOf(third.messages.find(answers(1))!)).toBe("quick");
    });

    it("of two sessions do not meet", async () => {
      const { server, release } = slowServer();
      const url = await start(server);
      const [one, two] = [await openSession(url, NEWEST), await openSession(url, NEWEST)];
      const first = await track(one.post(call(1, "wait", { arguments: { key: "a" } })));
      const second = await track(two.post(call(1, "wait", { arguments: { key: "b" } })));
      await release("b");
      await release("a");
      expect(textOf(await first.until(answers(1)))).toBe("a");
      expect(textOf(await second.until(answers(1)))).toBe("b");
    });
  });

  describe("questions", () => {
    it("are answered to the session that was asked, and to no other", async () => {
      const { server } = slowServer();
      const url = await start(server);
      const [one, two] = [
        await openSession(url, NEWEST, { elicitation: {} }),
        await openSession(url, NEWEST, { elicitation: {} }),
      ];
      const first = await track(one.post(call(1, "ask")));
      const second = await track(two.post(call(1, "ask")));
      const question = await first.until(isMethod("elicitation/create"));
      const other = await second.until(isMethod("elicitation/create"));
      const answer = (to: Json, yes: boolean) => ({
        jsonrpc: "2.0",
        id: to["id"],
        result: { action: "accept", content: { yes } },
      });
      await two.post(answer(other, false));
      await one.post(answer(question, true));
      expect(textOf(await first.until(answers(1)))).toContain("true");
      expect(textOf(await second.until(answers(1)))).toContain("false");
    });

    it("are not put to a client that takes only JSON", async () => {
      const { server } = slowServer();
      const session = await openSession(await start(server), NEWEST, { elicitation: {} });
      const reply = await session.post(call(1, "ask"), { accept: "application/json" });
      expect(await reply.json()).toMatchObject({ id: 1, error: { code: -32603 } });
    });

    it("have a deadline, and are taken back on their own stream", async () => {
      const { server } = slowServer();
      const url = await start(server, {}, { inputTimeoutMs: 20 });
      const session = await openSession(url, NEWEST, { elicitation: {} });
      const reply = await session.post(call(1, "ask"));
      await reply.text();
      expect(reply.messages).toMatchObject([
        { method: "elicitation/create", id: 1 },
        { method: "notifications/cancelled", params: { requestId: 1 } },
        { id: 1, result: { content: [{ text: '{"action":"cancel"}' }] } },
      ]);
    });
  });

  describe("notifications/cancelled", () => {
    it("ends the request, its stream, and its questions, without a response", async () => {
      const { server, signals, isAtWork } = slowServer();
      const session = await openSession(await start(server), NEWEST, { elicitation: {} });
      const waiting = await track(session.post(call(0, "wait", { arguments: { key: "w" } })));
      await isAtWork("w");
      const asking = await track(session.post(call("", "ask")));
      await asking.until(isMethod("elicitation/create"));
      for (const requestId of [0, ""]) {
        expect((await session.post(notification("notifications/cancelled", { requestId }))).status).toBe(202);
      }
      await Promise.all([waiting.text(), asking.text()]);
      expect(signals.get("w")?.aborted).toBe(true);
      expect(waiting.messages.filter(answers(0))).toEqual([]);
      expect(asking.messages.map(({ method }) => method)).toEqual([
        "elicitation/create",
        "notifications/cancelled",
      ]);
    });

    it("of a request that is answered by JSON leaves an empty answer", async () => {
      const { server, isAtWork } = slowServer();
      const session = await openSession(await start(server), NEWEST);
      const waiting = session.post(call(1, "wait", { arguments: { key: "w" } }), {
        accept: "application/json",
      });
      await isAtWork("w");
      await session.post(notification("notifications/cancelled", { requestId: 1 }));
      const reply = await waiting;
      expect(reply.status).toBe(202);
      expect(await reply.text()).toBe("");
    });
  });

  describe("a connection that breaks", () => {
    it("cancels nothing: the response is there for a client that comes back", async () => {
      const { server, release, signals, isAtWork } = slowServer();
      const session = await openSession(await start(server), NEWEST);
      const broken = await session.post(call(1, "wait", { arguments: { key: "w" } }));
      await isAtWork("w");
      await broken.until(isMethod("notifications/message"));
      const from = lastId(broken);
      broken.break();
      const resumed = await track(session.get({ "last-event-id": from }));
      expect(resumed.status).toBe(200);
      await release("w");
      expect(textOf(await resumed.until(answers(1)))).toBe("w");
      await resumed.text();
      expect(resumed.messages).toHaveLength(1);
      expect(signals.get("w")?.aborted).toBe(false);
    });

    it("can be resumed after the end, from any event, as often as one likes", async () => {
      const session = await openSession(await start(everything()), NEWEST);
      const whole = await session.post(
        call(1, "count", { arguments: { to: 3 }, _meta: { progressToken: 1 } }),
      );
      await whole.text();
      for (const [index, { id }] of whole.events.entries()) {
        const resumed = await session.get({ "last-event-id": id! });
        // With nothing left to come, the client is told not to come back.
        expect(resumed.status).toBe(index < whole.events.length - 1 ? 200 : 204);
        await resumed.text();
        expect(resumed.events.filter(({ data }) => data !== "")).toEqual(whole.events.slice(index + 1));
      }
    });

    it("loses no question: it is asked again on resumption, and its answer counts", async () => {
      const { server } = slowServer();
      const session = await openSession(await start(server), NEWEST, { elicitation: {} });
      const broken = await session.post(call(1, "ask"));
      await broken.until(isMethod("elicitation/create"));
      const [primed] = broken.events;
      broken.break();
      const resumed = await track(session.get({ "last-event-id": primed!.id! }));
      const question = await resumed.until(isMethod("elicitation/create"));
      await session.post({ jsonrpc: "2.0", id: question["id"], result: { action: "decline" } });
      expect(textOf(await resumed.until(answers(1)))).toContain("decline");
    });

    it("of the standing stream is resumed with what came meanwhile, and nothing of other streams", async () => {
      const { server } = slowServer();
      const session = await openSession(await start(server), NEWEST);
      const standing = await session.get();
      server.tool("a", {}, () => "a");
      await standing.until(isMethod("notifications/tools/list_changed"));
      const from = lastId(standing);
      standing.break();
      await (await session.post(call(1, "quick"))).text();
      server.prompt("p", {}, () => "p");
      const resumed = await track(session.get({ "last-event-id": from }));
      await resumed.until(isMethod("notifications/prompts/list_changed"));
      server.tool("b", {}, () => "b");
      await resumed.until(isMethod("notifications/tools/list_changed"));
      expect(resumed.messages).toHaveLength(2);
    });

    it("is replaced by its resumption, even before the server has noticed", async () => {
      const { server } = slowServer();
      const session = await openSession(await start(server), NEWEST);
      const standing = await track(session.get());
      server.tool("a", {}, () => "a");
      await standing.until(isMethod("notifications/tools/list_changed"));
      const resumed = await track(session.get({ "last-event-id": lastId(standing) }));
      expect(resumed.status).toBe(200);
      await standing.text();
      server.prompt("p", {}, () => "p");
      await resumed.until(isMethod("notifications/prompts/list_changed"));
      expect(standing.messages).toHaveLength(1);
    });

    it.each(["", "x", "0", "0-", "0-1e3", "zz-1", "0--1", "../0-1", "999-0"])(
      "cannot be resumed from %j",
      async (id) => {
        const session = await openSession(await start(everything()), NEWEST);
        const reply = await session.get({ "last-event-id": id });
        expect(reply.status).toBe(400);
        expect(await reply.json()).toMatchObject({
          error: { message: expect.stringContaining("Last-Event-ID") },
        });
      },
    );

    it("cannot be resumed by another session", async () => {
      const { server, isAtWork } = slowServer();
      const url = await start(server);
      const [one, two] = [await openSession(url, NEWEST), await openSession(url, NEWEST)];
      const mine = await track(one.post(call(1, "wait", { arguments: { key: "w" } })));
      await isAtWork("w");
      await mine.until(isMethod("notifications/message"));
      const stolen = await two.get({ "last-event-id": mine.events[0]!.id! });
      expect(stolen.status).toBe(400);
      await stolen.text();
    });
  });

  describe("the standing stream", () => {
    it("is one: a second is 409, and may be opened once the first is gone", async () => {
      const session = await openSession(await start(everything()), NEWEST);
      const first = await session.get();
      const second = await session.get();
      expect(second.status).toBe(409);
      await second.text();
      first.break();
      await vi.waitFor(async () => expect((await track(session.get())).status).toBe(200));
    });

    it("needs a client that takes event streams", async () => {
      const session = await openSession(await start(everything()), NEWEST);
      const reply = await session.get({ accept: "application/json" });
      expect(reply.status).toBe(406);
    });

    it("begins with what was reported before it was there, each change once", async () => {
      const { server } = slowServer();
      const session = await openSession(await start(server), NEWEST);
      await (await session.post(request(1, "resources/subscribe", { uri: "note://1" }))).text();
      for (let n = 0; n < 100; n++) server.resourceUpdated("note://1");
      for (let n = 0; n < 3; n++) server.tool(`late${n}`, {}, () => "late");
      const standing = await track(session.get());
      await standing.until(isMethod("notifications/tools/list_changed"));
      expect(standing.messages).toHaveLength(2);
      server.resourceUpdated("note://1");
      server.resourceUpdated("note://1");
      await vi.waitFor(() => expect(standing.messages).toHaveLength(4));
    });
  });

  describe("bounds", () => {
    it("max: one session more is 503, until one ends", async () => {
      const url = await start(everything(), { max: 2 });
      const first = await openSession(url, NEWEST);
      await openSession(url, NEWEST);
      const refused = await send(url, { body: initialize(NEWEST) });
      expect(refused).toMatchObject({ status: 503, headers: { "retry-after": "30" } });
      expect(await refused.json()).toMatchObject({
        error: { message: expect.stringContaining("legacy.sessions.max") },
      });
      expect((await first.post(request(1, "ping"))).status).toBe(200);
      await first.remove();
      await openSession(url, NEWEST);
    });

    it("idleMs: a session that nobody is connected to ends, with what works for it", async () => {
      const { server, signals, isAtWork } = slowServer();
      const url = await start(server, { idleMs: 40 });
      const session = await openSession(url, NEWEST);
      const call_ = await session.post(call(1, "wait", { arguments: { key: "w" } }));
      await isAtWork("w");
      // A request that is being answered keeps it.
      await new Promise((resolve) => setTimeout(resolve, 120));
      expect(signals.get("w")?.aborted).toBe(false);
      call_.break();
      await vi.waitFor(() => expect(signals.get("w")?.aborted).toBe(true));
      expect((await session.post(request(2, "ping"))).status).toBe(404);
    });

    it("idleMs: a standing stream keeps its session", async () => {
      const url = await start(everything(), { idleMs: 40 });
      const session = await openSession(url, NEWEST);
      await track(session.get());
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect((await session.post(request(2, "ping"))).status).toBe(200);
    });

    it("maxBatch and the revision bound batches", async () => {
      const url = await start(everything(), {}, { maxBatch: 2 });
      const march = await openSession(url, "2025-03-26");
      const answered = (await (await march.post([request(1, "ping"), request(2, "ping")])).json()) as unknown;
      expect(answered).toMatchObject([{ id: 1 }, { id: 2 }]);
      expect((await march.post([1, 2, 3])).status).toBe(400);
      expect((await march.post([notification("made/up")])).status).toBe(202);
      const june = await openSession(url, "2025-06-18");
      expect((await june.post([request(1, "ping")])).status).toBe(400);
    });
  });

  describe("an event store", () => {
    it("that takes its time delivers everything once, in order, and can be resumed from", async () => {
      const inner = memoryEventStore();
      const later = () => new Promise<void>((resolve) => setTimeout(resolve, 2));
      const store: EventStore = {
        async append(...args) {
          await later();
          inner.append(...args);
        },
        async after(...args) {
          await later();
          return inner.after(...args);
        },
        async drop(session) {
          await later();
          inner.drop(session);
        },
      };
      const session = await openSession(await start(everything(), { eventStore: store }), NEWEST);
      const whole = await session.post(
        call(1, "count", { arguments: { to: 20 }, _meta: { progressToken: 1 } }),
      );
      await whole.text();
      expect(whole.messages.map(({ params }) => (params as Json | undefined)?.["progress"])).toEqual([
        ...Array.from({ length: 20 }, (_, n) => n + 1),
        undefined,
        undefined,
      ]);
      const resumed = await session.get({ "last-event-id": whole.events[5]!.id! });
      await resumed.text();
      expect(resumed.messages).toEqual(whole.messages.slice(5));
      await session.remove();
      await vi.waitFor(() => expect(inner.size).toBe(0));
    });

    it.each(["throws", "rejects"])("that %s is reported, and the client served all the same", async (how) => {
      const logged = vi.spyOn(console, "error").mockImplementation(() => {});
      const fail = () => {
        if (how === "throws") throw new Error("disk full");
        return Promise.reject(new Error("disk full"));
      };
      const store = { append: fail, after: fail, drop: fail } as EventStore;
      const session = await openSession(await start(everything(), { eventStore: store }), NEWEST);
      const whole = await session.post(
        call(1, "count", { arguments: { to: 2 }, _meta: { progressToken: 1 } }),
      );
      await whole.text();
      expect(whole.messages).toHaveLength(4);
      const resumed = await session.get({ "last-event-id": whole.events[1]!.id! });
      expect(resumed.status).toBe(500);
      expect((await session.remove()).status).toBe(204);
      await vi.waitFor(() => expect(logged.mock.calls.length).toBeGreaterThanOrEqual(6));
      expect(logged).toHaveBeenCalledWith(expect.stringContaining("disk full"));
      logged.mockRestore();
    });

    it("that has forgotten a stream says so", async () => {
      const session = await openSession(
        await start(everything(), { eventStore: memoryEventStore(1) }),
        NEWEST,
      );
      const whole = await session.post(call(1, "count", { arguments: { to: 2 } }));
      await whole.text();
      expect(whole.messages).toHaveLength(2);
      const resumed = await session.get({ "last-event-id": whole.events[0]!.id! });
      expect(resumed.status).toBe(400);
      expect(await resumed.json()).toMatchObject({
        error: { message: expect.stringContaining("Nothing is kept") },
      });
    });
  });

  it("preflights of allowed pages name every method", async () => {
    const url = await start(everything());
    const reply = await send(url, {
      method: "OPTIONS",
      headers: {
        origin: "http://localhost:5173",
        "access-control-request-headers": "mcp-session-id, last-event-id, mcp-protocol-version",
      },
    });
    expect(reply).toMatchObject({
      status: 204,
      headers: {
        "access-control-allow-methods": "POST, GET, DELETE",
        "access-control-allow-headers": "mcp-session-id, last-event-id, mcp-protocol-version",
      },
    });
  });

  it("strangers reach no session", async () => {
    const session = await openSession(await start(everything()), NEWEST);
    for (const headers of [{ host: "evil.example.com" }, { origin: "https://evil.example.com" }]) {
      expect((await session.post(request(1, "ping"), headers)).status).toBe(403);
      expect((await session.get(headers)).status).toBe(403);
    }
  });
});
