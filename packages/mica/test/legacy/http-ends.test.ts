/** How sessions over HTTP come to an end: by strangers not at all, by slow readers, by shutdown, and without a trace. */
import { readdirSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import v8 from "node:v8";
import vm from "node:vm";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Answer } from "../../src/http/answer.js";
import { createNodeHandler } from "../../src/http/node.js";
import { type HttpServer, serveHttp } from "../../src/http/serve.js";
import { createSseParser } from "../../src/http/sse.js";
import { legacyHttp } from "../../src/legacy/http.js";
import { DEFAULT_LEGACY_LIMITS, DEFAULT_SESSION_LIMITS } from "../../src/legacy-options.js";
import { createServer, type Server } from "../../src/server/server.js";
import type { AuthInfo, RequestHandler } from "../../src/transport.js";
import { gate } from "../stdio/channel.js";
import {
  call,
  ENDPOINTS,
  initialize,
  type Json,
  notification,
  openSession,
  type Reply,
  request,
} from "./http-fixture.js";

const NEWEST = "2025-11-25";
const servers: HttpServer[] = [];
const replies: Reply[] = [];
afterEach(async () => {
  for (const reply of replies.splice(0)) reply.break();
  for (const server of servers.splice(0)) await server.close();
});

async function start(handler: RequestHandler, options: object = {}): Promise<HttpServer> {
  const server = await serveHttp(handler, { port: 0, legacy: { sessions: {} }, ...options });
  servers.push(server);
  return server;
}

/** Counts what is open inside the server. */
function counted(server: Server): { handler: RequestHandler; open: Map<string, number> } {
  const open = new Map<string, number>();
  const add = (method: string, by: number) => open.set(method, (open.get(method) ?? 0) + by);
  return {
    open,
    handler: {
      ...server,
      async handle(given, exchange) {
        add(given.method, 1);
        const response = await server.handle(given, exchange);
        add(given.method, -1);
        return response;
      },
    },
  };
}

describe("a session belongs to who opened it", () => {
  const auth = (principal: string): AuthInfo => ({ principal, scopes: [], claims: { sub: principal } });

  /** Sends one call as somebody, without a socket. */
  function endpoint() {
    const seen: unknown[] = [];
    const server = createServer({ name: "a", version: "1.0.0" });
    server.tool("who", {}, (_args, ctx) => {
      seen.push(ctx.auth);
      return ctx.auth?.principal ?? "nobody";
    });
    const service = legacyHttp(server, {
      limits: DEFAULT_LEGACY_LIMITS,
      sessions: { ...DEFAULT_SESSION_LIMITS, eventStore: undefined },
      maxDepth: 100,
      onProblem: (text) => {
        throw new Error(text);
      },
    });
    const ask = (method: "POST" | "GET" | "DELETE", who: AuthInfo | undefined, id?: string, body?: Json) =>
      new Promise<Answer & { events: string }>((resolve) => {
        let events = "";
        let close = (): void => {};
        const outlet = {
          document: () => {},
          answer(answer: Answer) {
            resolve({ ...answer, events });
            close();
          },
          open: () => {},
          ready: () => undefined,
          event(text: string) {
            events += text;
          },
          end(text: string) {
            resolve({ status: 200, headers: {}, body: "", events: events + text });
            close();
          },
        };
        const header = (name: string) => (name === "mcp-session-id" ? id : undefined);
        const forms = { json: true, stream: true };
        close = service.handle({ method, body, header, forms, outlet, auth: who });
      });
    return { ask, seen, service };
  }

  it("and is not there for anybody else, with or without a name", async () => {
    const { ask, service } = endpoint();
    const opened = await ask("POST", auth("ann"), undefined, initialize(NEWEST));
    const id = opened.headers["mcp-session-id"]!;
    for (const who of [auth("bob"), undefined]) {
      expect((await ask("POST", who, id, request(1, "ping"))).status).toBe(404);
      expect((await ask("GET", who, id)).status).toBe(404);
      expect((await ask("DELETE", who, id)).status).toBe(404);
    }
    expect((await ask("POST", auth("ann"), id, request(1, "ping"))).status).toBe(200);
    const anonymous = await ask("POST", undefined, undefined, initialize(NEWEST));
    expect(
      (await ask("POST", auth("ann"), anonymous.headers["mcp-session-id"], request(1, "ping"))).status,
    ).toBe(404);
    expect(service.sessionCount).toBe(2);
    expect((await ask("DELETE", auth("ann"), id)).status).toBe(204);
    expect(service.sessionCount).toBe(1);
    service.close();
    expect(service.sessionCount).toBe(0);
  });

  it("and every request carries who sent it", async () => {
    const { ask, seen } = endpoint();
    const opened = await ask("POST", auth("ann"), undefined, initialize(NEWEST));
    const renewed = { ...auth("ann"), scopes: ["more"] };
    const answered = await ask("POST", renewed, opened.headers["mcp-session-id"], call(1, "who"));
    expect(answered.events).toContain('"text":"ann"');
    expect(seen).toEqual([renewed]);
  });
});

describe.each(Object.keys(ENDPOINTS))("a reader that does not keep up, on %s", (binding) => {
  it("gets everything in the end, in order, however little may wait for it", async () => {
    const server = createServer({ name: "a", version: "1.0.0" });
    const isFlooded = gate();
    server.tool("flood", {}, async (_args, ctx) => {
      for (let step = 1; step <= 100; step++) {
        ctx.progress(step, 100, "x".repeat(50_000));
        if (step % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      isFlooded.open();
      return "done";
    });
    const { url, close } = await ENDPOINTS[binding]!(server, {
      legacy: { sessions: {} },
      maxBufferedBytes: 100_000,
    });
    const session = await openSession(url, NEWEST);
    const headers = {
      ...session.headers,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const messages = await new Promise<Json[]>((resolve, reject) => {
      const sent = http.request(url, { method: "POST", agent: false, headers }, async (response) => {
        await isFlooded.opened;
        const found: Json[] = [];
        const parser = createSseParser(({ data }) => data !== "" && found.push(JSON.parse(data) as Json));
        response.on("data", (chunk: Buffer) => parser.push(chunk));
        response.on("error", reject);
        response.on("end", () => resolve(found));
      });
      sent.on("error", reject);
      sent.end(JSON.stringify(call(1, "flood", { _meta: { progressToken: 1 } })));
    });
    expect(messages.slice(0, -1).map(({ params }) => (params as Json)["progress"])).toEqual(
      Array.from({ length: 100 }, (_, n) => n + 1),
    );
    expect(messages.at(-1)).toMatchObject({ id: 1, result: { content: [{ text: "done" }] } });

    // The whole of it again, which is far more than may wait for a connection.
    const resumed = await session.get({ "last-event-id": "0-0" });
    await resumed.text();
    expect(resumed.messages).toEqual(messages);
    await close();
  });
});

describe("close", () => {
  it("ends standing streams and questions, lets work finish, and leaves nothing open", async () => {
    const held = gate<string>();
    const server = createServer({ name: "a", version: "1.0.0" });
    server.tool("wait", {}, () => held.opened);
    server.tool("ask", {}, async (_args, ctx) => (await ctx.roots()).length);
    const { handler, open } = counted(server);
    const { url, close } = await start(handler);
    const session = await openSession(url, NEWEST, { roots: {} });
    const standing = await session.get();
    const waiting = await session.post(call(1, "wait"));
    const asking = await session.post(call(2, "ask"));
    await asking.until(({ method }) => method === "roots/list");
    const closing = close();
    await standing.text();
    expect(await asking.until(({ id }) => id === 2)).toMatchObject({
      error: { message: expect.stringContaining("closing") },
    });
    held.open("done");
    expect(await waiting.until(({ id }) => id === 1)).toMatchObject({
      result: { content: [{ text: "done" }] },
    });
    await closing;
    await vi.waitFor(() => expect([...open.values()].every((count) => count === 0)).toBe(true));
  });

  it("cuts off what is not done in time, and aborts it", async () => {
    const signals: AbortSignal[] = [];
    const server = createServer({ name: "a", version: "1.0.0" });
    server.tool("hang", {}, (_args, { signal }) => {
      signals.push(signal);
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve("aborted")));
    });
    const { url, close } = await start(server, { drainMs: 20 });
    const session = await openSession(url, NEWEST);
    replies.push(await session.post(call(1, "hang")));
    await vi.waitFor(() => expect(signals).toHaveLength(1));
    await close();
    expect(signals[0]?.aborted).toBe(true);
  });
});

it("serves legacy clients inside a server of the author's own, after another body parser", async () => {
  const server = createServer({ name: "a", version: "1.0.0" });
  server.tool("quick", {}, () => "quick");
  const listener = createNodeHandler(server, { legacy: { sessions: {} } });
  const own = http.createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    if (chunks.length) Object.assign(req, { body: JSON.parse(Buffer.concat(chunks).toString()) });
    listener(req, res);
  });
  await new Promise<void>((resolve) => own.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(own.address() as { port: number }).port}/anywhere`;
  const session = await openSession(url, NEWEST);
  const reply = await session.post(call(1, "quick"));
  await reply.text();
  expect(reply.messages).toMatchObject([{ id: 1, result: { content: [{ text: "quick" }] } }]);
  own.closeAllConnections();
  await new Promise((resolve) => own.close(resolve));
});

interface RawClient {
  /** Sends a POST and resolves to the whole response; `cut` breaks the connection once it begins. */
  post(body: unknown, headers?: string, cut?: boolean): Promise<string>;
  close(): void;
}

/** A client that costs little, so that the time goes into the server: one connection, one request at a time. */
function rawClient(port: number): RawClient {
  let socket: net.Socket | undefined;
  let received = "";
  let check = (): void => {};

  function connect(): net.Socket {
    const made = net.connect(port, "127.0.0.1").setEncoding("latin1");
    made.on("error", () => {});
    made.on("data", (text) => {
      received += String(text);
      check();
    });
    return made;
  }

  return {
    post(body, headers = "", cut = false) {
      socket ??= connect();
      received = "";
      const json = JSON.stringify(body);
      socket.write(
        `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n${headers}content-length: ${json.length}\r\n\r\n${json}`,
      );
      return new Promise((resolve) => {
        check = () => {
          const head = received.indexOf("\r\n\r\n");
          if (head < 0) return;
          const length = /content-length: (\d+)/i.exec(received)?.[1];
          const isWhole =
            length === undefined
              ? received.endsWith("\r\n0\r\n\r\n")
              : received.length >= head + 4 + Number(length);
          if (cut) {
            socket?.destroy();
            socket = undefined;
          } else if (!isWhole) return;
          check = () => {};
          resolve(received);
        };
      });
    },
    close: () => void socket?.destroy(),
  };
}

describe("10,000 sessions that are opened and abandoned", () => {
  v8.setFlagsFromString("--expose-gc");
  const collect = vm.runInNewContext("gc") as () => void;
  async function heap(): Promise<number> {
    for (let pass = 0; pass < 5; pass++) {
      collect();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return process.memoryUsage().heapUsed;
  }
  const descriptors = () => (process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0);

  it("leave heap and descriptors as they were", async () => {
    const server = createServer({ name: "a", version: "1.0.0" });
    server.tool(
      "hang",
      {},
      (_args, { signal }) => new Promise((resolve) => signal.addEventListener("abort", resolve)),
    );
    server.tool("ask", {}, async (_args, ctx) => (await ctx.roots()).length);
    server.tool("quick", {}, () => "x".repeat(100));
    server.resource("note://1", { name: "one" }, () => "1");
    const { handler, open } = counted(server);
    const { url } = await start(handler, {
      legacy: { sessions: { max: 10_000, idleMs: 1_500 } },
      keepAliveMs: 1_000,
      idleTimeoutMs: 500,
    });
    const { port } = new URL(url);

    async function abandon(n: number, client: RawClient): Promise<void> {
      const opened = await client.post(initialize(NEWEST, { roots: {} }));
      const id = /mcp-session-id: (\S+)/i.exec(opened)?.[1];
      const post = (body: unknown, cut = false) => client.post(body, `mcp-session-id: ${id}\r\n`, cut);
      await post(notification("notifications/initialized"));
      if (n % 10 === 0) await post(request(1, "resources/subscribe", { uri: "note://1" }));
      if (n % 10 === 1) await post(call(1, "hang"), true);
      if (n % 10 === 2) await post(call(1, "ask"), true);
      if (n % 10 === 3) await post(call(1, "quick"));
    }

    async function round(count: number): Promise<number> {
      let next = 0;
      let most = 0;
      const worker = async () => {
        const client = rawClient(Number(port));
        while (next < count) {
          await abandon(next++, client);
          most = Math.max(most, open.get("subscriptions/listen") ?? 0);
        }
        client.close();
      };
      await Promise.all(Array.from({ length: 16 }, worker));
      server.resourceUpdated("note://1");
      await vi.waitFor(() => expect([...open].filter(([, number]) => number > 0)).toEqual([]), {
        timeout: 60_000,
        interval: 50,
      });
      return most;
    }

    await round(1_000);
    const [heapBefore, descriptorsBefore] = [await heap(), descriptors()];
    const most = await round(10_000);
    const heapAfter = await heap();
    expect(most).toBeGreaterThan(100);
    // Ten thousand sessions of a few kilobytes would show: the bound is two hundred bytes for each.
    expect(heapAfter - heapBefore).toBeLessThan(2_000_000);
    await vi.waitFor(() => expect(descriptors()).toBeLessThanOrEqual(descriptorsBefore), { timeout: 10_000 });
  }, 180_000);
});
