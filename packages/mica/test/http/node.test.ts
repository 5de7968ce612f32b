/** What only sockets show: malformed heads, bodies in pieces, clients that leave, stall or read slowly. */
import http from "node:http";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createNodeHandler } from "../../src/http/node.js";
import { type HttpServer, type ServeHttpOptions, serveHttp } from "../../src/http/serve.js";
import type { ServerExchange } from "../../src/transport.js";
import {
  call,
  connectRaw,
  eventsOf,
  eventually,
  headersOf,
  progress,
  rawPost,
  request,
  type TestHandler,
  testHandler,
} from "./fixture.js";

const started: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of started.splice(0)) await server.close();
});

async function start(handler: TestHandler, options: Partial<ServeHttpOptions> = {}): Promise<HttpServer> {
  const server = await serveHttp(handler, { port: 0, drainMs: 100, ...options });
  started.push(server);
  return server;
}

/** A tool that waits until its caller is gone, and tells that it has begun and ended. */
function waiting(): { exchanges: ServerExchange[]; aborted: number[]; tool: TestHandler["tools"][string] } {
  const exchanges: ServerExchange[] = [];
  const aborted: number[] = [];
  return {
    exchanges,
    aborted,
    tool: (args, exchange) =>
      new Promise((resolve) => {
        exchanges.push(exchange);
        exchange.signal.addEventListener("abort", () => {
          aborted.push(Number(args["n"]));
          resolve({ resultType: "complete" });
        });
      }),
  };
}

function connections(server: http.Server): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
}

const bodyOf = (response: string): string => response.slice(response.indexOf("\r\n\r\n") + 4);
const statusOf = (response: string): string => response.slice(9, 12);
const complete = (response: string): boolean => {
  const length = /content-length: (\d+)/i.exec(response)?.[1];
  return length !== undefined && bodyOf(response).length >= Number(length);
};

describe("hosts", () => {
  it.each<[string, string, string]>([
    ["one loopback host", rawPost(call("echo")), "200"],
    ["a foreign host", rawPost(call("echo"), { host: "evil.example.com" }), "403"],
    ["a second, foreign host", rawPost(call("echo"), { host: ["localhost", "evil.example.com"] }), "403"],
    [
      "a foreign host, then a good one",
      rawPost(call("echo"), { host: ["evil.example.com", "localhost"] }),
      "403",
    ],
    ["an empty host", rawPost(call("echo"), { host: "" }), "403"],
    ["a whole URL of a good host", rawPost(call("echo"), { target: "http://localhost/mcp" }), "200"],
    [
      "a whole URL of a foreign host",
      rawPost(call("echo"), { target: "http://evil.example.com/mcp" }),
      "403",
    ],
    [
      "a whole URL with user information",
      rawPost(call("echo"), { target: "http://localhost@evil.example.com/mcp" }),
      "403",
    ],
    ["a target without a slash", rawPost(call("echo"), { target: "ftp:mcp" }), "400"],
    ["a query", rawPost(call("echo"), { target: "/mcp?x=1" }), "200"],
    ["another path", rawPost(call("echo"), { target: "/" }), "404"],
    ["HTTP/1.0 without a host", rawPost(call("echo"), { host: [] }).replace("HTTP/1.1", "HTTP/1.0"), "403"],
    ["HTTP/1.1 without a host", rawPost(call("echo"), { host: [] }), "400"],
    [
      "two origins",
      rawPost(call("echo"), { headers: { origin: "http://localhost, http://evil.example.com" } }),
      "403",
    ],
  ])("%s", async (_, text, status) => {
    const { port } = await start(testHandler());
    const raw = await connectRaw(port);
    raw.write(text);
    expect(statusOf(await raw.until((received) => received.includes("\r\n\r\n")))).toBe(status);
    raw.socket.destroy();
  });

  it("names the path of the endpoint at every other one", async () => {
    const { port } = await start(testHandler(), { path: "/api/mcp" });
    const raw = await connectRaw(port);
    raw.write(rawPost(call("echo"), { target: "/mcp" }));
    const response = await raw.until(complete);
    expect(statusOf(response)).toBe("404");
    expect(JSON.parse(bodyOf(response)).error.message).toBe('No MCP endpoint at "/mcp": it is at /api/mcp');
    raw.socket.destroy();
  });
});

describe("bodies", () => {
  it("come in any pieces, and several on one connection", async () => {
    const { port } = await start(testHandler());
    const raw = await connectRaw(port);
    for (let round = 1; round <= 3; round++) {
      for (const character of rawPost(call("echo", { text: "é" }, round))) {
        raw.write(character);
        if (character === "{") await new Promise((resolve) => setImmediate(resolve));
      }
      await raw.until((received) => received.split(`"id":${round},`).length === 2);
    }
    raw.socket.destroy();
  });

  it("may be chunked", async () => {
    const { port } = await start(testHandler());
    const raw = await connectRaw(port);
    const [head, body] = rawPost(call("echo")).split("\r\n\r\n") as [string, string];
    raw.write(`${head.replace(/content-length: \d+/, "transfer-encoding: chunked")}\r\n\r\n`);
    for (const part of [body.slice(0, 10), body.slice(10)]) {
      raw.write(`${part.length.toString(16)}\r\n${part}\r\n`);
    }
    raw.write("0\r\n\r\n");
    expect(statusOf(await raw.until(complete))).toBe("200");
    raw.socket.destroy();
  });

  it("must be UTF-8", async () => {
    const { port } = await start(testHandler());
    for (const bytes of ["\xff", "\xc3", "\xed\xa0\x80", "\xf0\x90\x80"]) {
      const raw = await connectRaw(port);
      const body = JSON.stringify(call("echo", { text: "?" })).replace("?", bytes);
      const [head] = rawPost(call("echo")).split("\r\n\r\n") as [string];
      raw.write(`${head.replace(/content-length: \d+/, `content-length: ${body.length}`)}\r\n\r\n${body}`);
      const response = await raw.until(complete);
      expect(statusOf(response)).toBe("400");
      expect(JSON.parse(bodyOf(response)).error).toEqual({
        code: -32700,
        message: "Parse error: the body is not UTF-8",
      });
      raw.socket.destroy();
    }
  });

  it("that announce too much are refused before they come, and the client gets to read why after it sent all", async () => {
    const handler = testHandler();
    const { port } = await start(handler, { maxBodyBytes: 1000 });
    const raw = await connectRaw(port);
    raw.socket.pause();
    const [head] = rawPost(call("echo")).split("\r\n\r\n") as [string];
    raw.write(`${head.replace(/content-length: \d+/, "content-length: 8000000")}\r\n\r\n`);
    await new Promise((resolve) => raw.socket.write("x".repeat(8_000_000), resolve));
    raw.socket.resume();
    const response = await raw.closed();
    expect(statusOf(response)).toBe("413");
    expect(response).toMatch(/connection: close/i);
    expect(JSON.parse(bodyOf(response)).error.message).toBe(
      "The body is larger than maxBodyBytes, 1000 bytes",
    );
    expect(handler.served).toEqual([]);
  });

  it("that announce too much and never come do not hold the connection", async () => {
    const { port } = await start(testHandler(), { maxBodyBytes: 1000 });
    const raw = await connectRaw(port);
    raw.write(rawPost(call("echo"), { headers: { "content-length": "1001" } }));
    expect(statusOf(await raw.closed())).toBe("413");
  });

  it("that turn out too large are refused, and the client gets to read why while it still sends", async () => {
    const handler = testHandler();
    const { port, server } = await start(handler, { maxBodyBytes: 1000 });
    const raw = await connectRaw(port);
    const [head] = rawPost(call("echo")).split("\r\n\r\n") as [string];
    raw.write(`${head.replace(/content-length: \d+/, "transfer-encoding: chunked")}\r\n\r\n`);
    const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    for (let sent = 0; sent < 64; sent++) raw.write(chunk);
    raw.write("0\r\n\r\n");
    const response = await raw.closed();
    expect(statusOf(response)).toBe("413");
    expect(JSON.parse(bodyOf(response)).error.message).toContain("maxBodyBytes");
    while ((await connections(server)) > 0) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(handler.served).toEqual([]);
  });

  it("of exactly the limit are served", async () => {
    const body = JSON.stringify(call("echo"));
    const { port } = await start(testHandler(), { maxBodyBytes: Buffer.byteLength(body) });
    const raw = await connectRaw(port);
    raw.write(rawPost(call("echo")));
    expect(statusOf(await raw.until(complete))).toBe("200");
    raw.socket.destroy();
  });

  it("that never come do not count for ever", async () => {
    const { port } = await start(testHandler(), { maxInFlight: 1 });
    const stalled = await connectRaw(port);
    stalled.write(rawPost(call("echo"), { headers: { "content-length": "900" } }));
    const ask = async (): Promise<string> => {
      const raw = await connectRaw(port);
      raw.write(rawPost(call("echo")));
      const response = await raw.until(complete);
      raw.socket.destroy();
      return statusOf(response);
    };
    while ((await ask()) !== "503");
    stalled.socket.destroy();
    while ((await ask()) !== "200");
  });

  it("that stall are cut off after requestTimeoutMs", async () => {
    const { port } = await start(testHandler(), { requestTimeoutMs: 50 });
    const raw = await connectRaw(port);
    raw.write(rawPost(call("echo"), { headers: { "content-length": "900" } }));
    expect(statusOf(await raw.closed())).toBe("408");
  });
});

describe("a client that leaves", () => {
  it("aborts the signal of a call without a stream", async () => {
    const wait = waiting();
    const { port } = await start(testHandler({ wait: wait.tool }));
    const raw = await connectRaw(port);
    raw.write(rawPost(call("wait", { n: 1 })));
    await eventually(() => wait.exchanges.length === 1);
    raw.socket.destroy();
    await eventually(() => wait.aborted.length === 1);
    const { signal } = wait.exchanges[0]!;
    expect(signal.reason).toMatchObject({ name: "AbortError", message: "The client closed the connection" });
  });

  it("aborts the signal of a call with a stream, and later notifications go nowhere", async () => {
    const wait = waiting();
    const { port } = await start(
      testHandler({
        wait(args, exchange) {
          exchange.notify(progress(1));
          return wait.tool(args, exchange);
        },
      }),
    );
    const raw = await connectRaw(port);
    raw.write(rawPost(call("wait", { n: 1 })));
    await raw.until((received) => received.includes("notifications/progress"));
    expect(wait.aborted).toEqual([]);
    raw.socket.destroy();
    await eventually(() => wait.aborted.length === 1);
    wait.exchanges[0]!.notify(progress(2));
  });

  it("gives an aborted signal to a handler that asks only afterwards", async () => {
    const exchanges: ServerExchange[] = [];
    let finish = (): void => {};
    const { port, server } = await start(
      testHandler({
        wait(_, exchange) {
          exchanges.push(exchange);
          return new Promise((resolve) => {
            finish = () => resolve({ resultType: "complete" });
          });
        },
      }),
    );
    const raw = await connectRaw(port);
    raw.write(rawPost(call("wait")));
    await eventually(() => exchanges.length === 1);
    raw.socket.destroy();
    while ((await connections(server)) > 0) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(exchanges[0]!.signal.aborted).toBe(true);
    finish();
  });

  it("does not abort a signal whose request was answered", async () => {
    const signals: AbortSignal[] = [];
    const { port, server } = await start(
      testHandler({
        quick(_, exchange) {
          signals.push(exchange.signal);
          return { resultType: "complete" };
        },
      }),
    );
    const raw = await connectRaw(port);
    raw.write(rawPost(call("quick")));
    await raw.until(complete);
    raw.socket.destroy();
    while ((await connections(server)) > 0) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(signals[0]!.aborted).toBe(false);
  });

  it("aborts requests that it pipelined behind another", async () => {
    const wait = waiting();
    const { port } = await start(testHandler({ wait: wait.tool }), { maxInFlight: 3 });
    const raw = await connectRaw(port);
    for (const n of [1, 2, 3]) raw.write(rawPost(call("wait", { n }, n)));
    await eventually(() => wait.exchanges.length === 3);
    raw.socket.destroy();
    await eventually(() => wait.aborted.length === 3);
    expect(wait.aborted.sort()).toEqual([1, 2, 3]);
    // Each has left the count of those in flight.
    const next = await connectRaw(port);
    for (const id of [1, 2, 3]) next.write(rawPost(call("echo", {}, id)));
    const all = await next.until((received) => received.includes('"id":3,'));
    expect(all.match(/HTTP\/1.1 200/g)).toHaveLength(3);
    next.socket.destroy();
  });

  it("may break off in the middle of a body", async () => {
    const handler = testHandler();
    const { port, server } = await start(handler);
    const raw = await connectRaw(port);
    raw.write(rawPost(call("echo"), { headers: { "content-length": "900" } }));
    while ((await connections(server)) === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    raw.socket.resetAndDestroy();
    while ((await connections(server)) > 0) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(handler.served).toEqual([]);
  });
});

describe("event streams", () => {
  it("carry comments while nothing else happens, for longer than a request may take to arrive", async () => {
    const handler = testHandler();
    const { port } = await start(handler, { keepAliveMs: 20, requestTimeoutMs: 50, idleTimeoutMs: 50 });
    const raw = await connectRaw(port);
    raw.write(rawPost(request("subscriptions/listen", { notifications: {} }, 5)));
    const received = await raw.until((text) => text.split(":\n\n").length > 10);
    expect(eventsOf(received.slice(received.indexOf("event:")))).toHaveLength(1);
    expect(handler.open.size).toBe(1);
    raw.socket.destroy();
    await eventually(() => handler.open.size === 0);
  });

  it("share one timer, which stops when the last of them ends, however it ends", async () => {
    const made = vi.spyOn(globalThis, "setInterval");
    const cleared = vi.spyOn(globalThis, "clearInterval");
    try {
      const handler = testHandler({
        count: (_, exchange) => {
          exchange.notify(progress(1));
          return { resultType: "complete" };
        },
      });
      const { port } = await start(handler);
      const timers = (): unknown[] => made.mock.results.map((result) => result.value);
      for (let round = 1; round <= 2; round++) {
        const streams = await Promise.all([connectRaw(port), connectRaw(port)]);
        for (const stream of streams) {
          stream.write(rawPost(request("subscriptions/listen", { notifications: {} })));
          await stream.until((text) => text.includes("acknowledged"));
        }
        expect(timers()).toHaveLength(round * 2 - 1);
        for (const stream of streams) stream.socket.destroy();
        await eventually(() => cleared.mock.calls.some(([timer]) => timer === timers().at(-1)));

        const ending = await connectRaw(port);
        ending.write(rawPost(call("count")));
        await ending.until((text) => text.endsWith("0\r\n\r\n"));
        expect(timers()).toHaveLength(round * 2);
        expect(cleared.mock.calls.some(([timer]) => timer === timers().at(-1))).toBe(true);
        ending.socket.destroy();
      }
      for (const timer of timers()) expect((timer as NodeJS.Timeout).hasRef()).toBe(false);
    } finally {
      made.mockRestore();
      cleared.mockRestore();
    }
  });

  it("send the first event at once", async () => {
    const { port } = await start(testHandler({ wait: waiting().tool }));
    const raw = await connectRaw(port);
    raw.write(rawPost(request("subscriptions/listen", { notifications: {} }, "sub")));
    const received = await raw.until((text) => text.includes("acknowledged"));
    expect(received).toMatch(/content-type: text\/event-stream/);
    raw.socket.destroy();
  });

  it("of a reader that does not read are destroyed, and others go on", async () => {
    let sent = 0;
    const stopped: boolean[] = [];
    const padding = "x".repeat(64 * 1024);
    const handler = testHandler({
      async flood(_, exchange) {
        while (!exchange.signal.aborted) {
          exchange.notify(progress(++sent, padding));
          await new Promise((resolve) => setImmediate(resolve));
        }
        stopped.push(true);
        return { resultType: "complete" };
      },
    });
    const { port } = await start(handler, { maxBufferedBytes: 256 * 1024 });
    const slow = await connectRaw(port);
    const quick = await connectRaw(port);
    quick.write(rawPost(request("subscriptions/listen", { notifications: {} })));
    await quick.until((text) => text.includes("acknowledged"));
    slow.socket.pause();
    slow.write(rawPost(call("flood")));
    await eventually(() => stopped.length === 1);
    expect(sent).toBeGreaterThan(4);
    expect(handler.open.size).toBe(1);
    handler.endSubscriptions();
    await quick.until((text) => text.includes('"resultType":"complete"'));
    slow.socket.destroy();
    quick.socket.destroy();
  });

  it("may carry one message larger than what may wait", async () => {
    const padding = "x".repeat(3_000_000);
    const { port } = await start(
      testHandler({
        big(_, exchange) {
          exchange.notify(progress(1, padding));
          return { resultType: "complete", padding };
        },
      }),
      { maxBufferedBytes: 1024 },
    );
    const raw = await connectRaw(port);
    raw.write(rawPost(call("big")));
    const received = await raw.until((text) => text.endsWith("0\r\n\r\n"));
    expect(received.length).toBeGreaterThan(6_000_000);
    raw.socket.destroy();
  });

  it("that end in an answer nobody reads are closed after unreadTimeoutMs", async () => {
    const padding = "x".repeat(30_000_000);
    const { port, server } = await start(testHandler({ big: () => ({ resultType: "complete", padding }) }), {
      unreadTimeoutMs: 50,
    });
    const raw = await connectRaw(port);
    raw.socket.pause();
    raw.write(rawPost(call("big")));
    while ((await connections(server)) === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    while ((await connections(server)) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    raw.socket.destroy();
  });
});

describe("mounted in a server of one's own", () => {
  async function mount(
    wrap: (handle: ReturnType<typeof createNodeHandler>) => http.RequestListener,
    handler = testHandler(),
  ): Promise<number> {
    const server = http.createServer(wrap(createNodeHandler(handler)));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    started.push({
      close: () =>
        new Promise((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        }),
    });
    return (server.address() as AddressInfo).port;
  }

  async function ask(
    port: number,
    text = rawPost(call("echo", { a: 1 }), { target: "/anywhere" }),
  ): Promise<string> {
    const raw = await connectRaw(port);
    raw.write(text);
    const response = await raw.until(complete);
    raw.socket.destroy();
    return response;
  }

  it("answers at any path, and keeps headers that were set before", async () => {
    const port = await mount((handle) => (req, res) => {
      res.setHeader("x-powered-by", "test");
      handle(req, res);
    });
    const response = await ask(port);
    expect(statusOf(response)).toBe("200");
    expect(response).toMatch(/x-powered-by: test/i);
    expect(response).toMatch(/content-type: application\/json/);
    expect(await ask(port, rawPost(call("echo"), { headers: { "content-type": "text/plain" } }))).toMatch(
      / 415 .*x-powered-by/is,
    );
  });

  it.each<[string, (text: Buffer) => unknown]>([
    ["an object", (text) => JSON.parse(text.toString())],
    ["a string", (text) => text.toString()],
    ["bytes", (text) => text],
  ])("takes what a body parser left: %s", async (_, parse) => {
    const port = await mount((handle) => (req, res) => {
      const chunks: Buffer[] = [];
      req.on("data", (chunk: Buffer) => chunks.push(chunk));
      req.on("end", () => {
        Object.assign(req, { body: parse(Buffer.concat(chunks)) });
        setImmediate(() => handle(req, res));
      });
    });
    expect(JSON.parse(bodyOf(await ask(port))).result.args).toEqual({ a: 1 });
  });

  it("answers, rather than waiting, where the body was read and thrown away", async () => {
    const port = await mount((handle) => (req, res) => {
      req.resume();
      req.on("end", () => setImmediate(() => handle(req, res)));
    });
    const response = await ask(port);
    expect(statusOf(response)).toBe("400");
    expect(JSON.parse(bodyOf(response)).error.code).toBe(-32700);
  });

  it("serves HTTP/2, and hears of a stream that the client resets", async () => {
    const wait = waiting();
    const handle = createNodeHandler(testHandler({ wait: wait.tool }));
    const server = http2.createServer((req, res) =>
      handle(req as unknown as http.IncomingMessage, res as unknown as http.ServerResponse),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const send = (of = call("echo")): http2.ClientHttp2Stream => {
      const stream = session.request({ ":method": "POST", ":path": "/mcp", ...headersOf(of) });
      stream.end(JSON.stringify(of));
      return stream;
    };
    const stream = send();
    let text = "";
    stream.on("data", (chunk: Buffer) => {
      text += chunk;
    });
    await new Promise((resolve) => stream.on("end", resolve));
    expect(JSON.parse(text).result.resultType).toBe("complete");

    const slow = send(call("wait", { n: 1 }));
    await eventually(() => wait.exchanges.length === 1);
    slow.close(http2.constants.NGHTTP2_CANCEL);
    await eventually(() => wait.aborted.length === 1);
    session.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
});
