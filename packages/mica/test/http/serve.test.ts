import http from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { DEFAULT_HTTP_LIMITS } from "../../src/http/limits.js";
import { type HttpServer, type ServeHttpOptions, serveHttp } from "../../src/http/serve.js";
import { call, connectRaw, eventually, rawPost, request, type TestHandler, testHandler } from "./fixture.js";

const started: HttpServer[] = [];
afterEach(async () => {
  for (const server of started.splice(0)) await server.close();
});

async function start(handler: TestHandler, options: Partial<ServeHttpOptions> = {}): Promise<HttpServer> {
  const server = await serveHttp(handler, { port: 0, ...options });
  started.push(server);
  return server;
}

describe("serveHttp", () => {
  it("listens on loopback, at /mcp, and says where", async () => {
    const { url, port, server } = await start(testHandler());
    expect(url).toBe(`http://127.0.0.1:${port}/mcp`);
    expect(server.address()).toMatchObject({ address: "127.0.0.1", port });
  });

  it.each<[string, object, RegExp]>([
    ["no port", { port: undefined }, /port must be an integer from 0 to 65535, got undefined/],
    [
      "an option there is not",
      { allowedOrigin: ["x"] },
      /serveHttp: allowedOrigin is no option; expected port, /,
    ],
    ["a port out of range", { port: 65536 }, /got 65536/],
    ["a path without a slash", { path: "mcp" }, /path must look like "\/mcp", got "mcp"/],
    ["a path with a query", { path: "/mcp?x" }, /path must look like/],
    [
      "another address without its hosts",
      { host: "0.0.0.0" },
      /allowedHosts must be given to listen on "0.0.0.0"/,
    ],
    ["all addresses without their hosts", { host: "::" }, /allowedHosts/],
    ["a limit of zero", { maxBodyBytes: 0 }, /maxBodyBytes must be a positive integer, got 0/],
    ["a limit that is no number", { keepAliveMs: "15s" }, /keepAliveMs must be a positive integer, got 15s/],
    ["an endless limit", { drainMs: Number.POSITIVE_INFINITY }, /drainMs must be a positive integer/],
  ])("refuses %s by name", async (_, options, message) => {
    const refused = serveHttp(testHandler(), { port: 0, ...options });
    await expect(refused).rejects.toThrow(TypeError);
    await expect(refused).rejects.toThrow(message);
  });

  it("listens elsewhere once the hosts are named", async () => {
    const { url, port } = await start(testHandler(), { host: "0.0.0.0", allowedHosts: ["mcp.example.com"] });
    expect(url).toBe(`http://localhost:${port}/mcp`);
    const raw = await connectRaw(port);
    raw.write(rawPost(call("echo"), { host: "mcp.example.com" }));
    expect(await raw.until((text) => text.includes("\r\n\r\n"))).toMatch(/^HTTP\/1.1 200/);
    raw.write(rawPost(call("echo"), { host: "localhost" }));
    expect(await raw.until((text) => text.includes("403"))).toContain("allowedHosts");
    raw.socket.destroy();
  });

  it("allows the loopback address that it listens on", async () => {
    const { url } = await start(testHandler(), { host: "127.0.0.2" });
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      http.get(url, { agent: false }, resolve).on("error", reject);
    });
    response.resume();
    expect(response.statusCode).toBe(405);
  });

  it("rejects with the system's error where the port is taken", async () => {
    const { port } = await start(testHandler());
    await expect(serveHttp(testHandler(), { port })).rejects.toMatchObject({ code: "EADDRINUSE", port });
  });

  it("has one object with every limit", () => {
    expect(
      Object.values(DEFAULT_HTTP_LIMITS).every((value) => Number.isSafeInteger(value) && value > 0),
    ).toBe(true);
    expect(DEFAULT_HTTP_LIMITS).toMatchObject({
      maxBodyBytes: 4_194_304,
      keepAliveMs: 15_000,
      drainMs: 2_000,
    });
  });
});

describe("close", () => {
  it("ends subscriptions with their response, and closes their connections", async () => {
    const handler = testHandler();
    const { port, close } = await start(handler);
    const raw = await connectRaw(port);
    raw.write(rawPost(request("subscriptions/listen", { notifications: {} }, 5)));
    await raw.until((text) => text.includes("acknowledged"));
    await close();
    const received = await raw.closed();
    expect(received).toMatch(/"id":5,"result":\{"resultType":"complete"/);
    expect(received.endsWith("0\r\n\r\n")).toBe(true);
    expect(handler.open.size).toBe(0);
  });

  it("lets requests in flight finish", async () => {
    let finish = (): void => {};
    const handler = testHandler({
      slow: () =>
        new Promise((resolve) => {
          finish = () => resolve({ resultType: "complete", done: true });
        }),
    });
    const { port, close } = await start(handler, { drainMs: 60_000 });
    const raw = await connectRaw(port);
    raw.write(rawPost(call("slow")));
    await eventually(() => handler.served.length === 1);
    const closed = close();
    finish();
    await closed;
    expect(await raw.closed()).toMatch(/^HTTP\/1.1 200.*"done":true/s);
  });

  it("cuts off after drainMs what does not finish, and aborts its signal", async () => {
    const signals: AbortSignal[] = [];
    const handler = testHandler({
      hang(_, exchange) {
        signals.push(exchange.signal);
        return new Promise(() => {});
      },
    });
    const { port, close } = await start(handler, { drainMs: 20 });
    const raw = await connectRaw(port);
    raw.write(rawPost(call("hang")));
    await eventually(() => signals.length === 1);
    await close();
    expect(await raw.closed()).toBe("");
    expect(signals[0]!.aborted).toBe(true);
  });

  it("closes idle connections at once", async () => {
    const { port, close } = await start(testHandler(), { drainMs: 60_000, idleTimeoutMs: 60_000 });
    const used = await connectRaw(port);
    used.write(rawPost(call("echo")));
    await used.until((text) => text.includes('"result"'));
    const fresh = await connectRaw(port);
    await close();
    await used.closed();
    await fresh.closed();
  });

  it("refuses new requests on connections that are still busy, and new connections", async () => {
    let finish = (): void => {};
    const handler = testHandler({
      slow: () =>
        new Promise((resolve) => {
          finish = () => resolve({ resultType: "complete" });
        }),
    });
    const { port, close } = await start(handler, { drainMs: 60_000 });
    const raw = await connectRaw(port);
    raw.write(rawPost(call("slow", {}, 1)));
    await eventually(() => handler.served.length === 1);
    const closed = close();
    raw.write(rawPost(call("echo", {}, 2)));
    await expect(connectRaw(port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    // The answer to the first releases that to the second, which waits behind it.
    await new Promise((resolve) => setTimeout(resolve, 20));
    finish();
    await closed;
    expect(handler.served).toHaveLength(1);
    expect(await raw.closed()).toMatch(/^HTTP\/1.1 200/);
  });

  it("may be called twice, and by `await using`", async () => {
    const server = await serveHttp(testHandler(), { port: 0 });
    expect(server.close()).toBe(server.close());
    await server.close();
    {
      await using second = await serveHttp(testHandler(), { port: 0 });
      started.push(second);
    }
    expect(started.at(-1)!.server.listening).toBe(false);
  });

  it("leaves no timer and no socket behind", async () => {
    const before = process.getActiveResourcesInfo().filter((name) => /TCP|Timeout/.test(name)).length;
    const handler = testHandler();
    const { port, close } = await serveHttp(handler, { port: 0, keepAliveMs: 5 });
    const raws = await Promise.all([1, 2, 3].map(() => connectRaw(port)));
    for (const raw of raws) {
      raw.write(rawPost(request("subscriptions/listen", { notifications: {} }, 1)));
      await raw.until((text) => text.includes("acknowledged") && text.includes(":\n\n"));
    }
    await close();
    for (const raw of raws) await raw.closed();
    await eventually(
      () => process.getActiveResourcesInfo().filter((name) => /TCP|Timeout/.test(name)).length <= before,
    );
  });
});
