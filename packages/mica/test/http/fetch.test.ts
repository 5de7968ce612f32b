/** What only web standards show: body streams, cancelled streams, aborted requests, and no node: module. */
import { build } from "esbuild";
import { describe, expect, it, vi } from "vitest";
import { createFetchHandler, type FetchHandlerOptions } from "../../src/http/fetch.js";
import { createNodeHandler } from "../../src/http/node.js";
import type { JSONRPCRequest } from "../../src/protocol/types.js";
import type { ServerExchange } from "../../src/transport.js";
import { call, eventsOf, eventually, headersOf, progress, request, testHandler } from "./fixture.js";

function ask(of: JSONRPCRequest, init: RequestInit = {}, url = "http://localhost/mcp"): Request {
  return new Request(url, { method: "POST", headers: headersOf(of), body: JSON.stringify(of), ...init });
}

function streamOf(pieces: (Uint8Array | Error)[], onCancel = (): void => {}): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream(
    {
      pull(controller) {
        const piece = pieces[at++];
        if (piece === undefined) controller.close();
        else if (piece instanceof Error) controller.error(piece);
        else controller.enqueue(piece);
      },
      cancel: onCancel,
    },
    { highWaterMark: 0 },
  );
}

describe("createFetchHandler", () => {
  it("loads no node: module, so that it runs anywhere", async () => {
    const { outputFiles, metafile } = await build({
      entryPoints: [new URL("../../src/entry/fetch.ts", import.meta.url).pathname],
      bundle: true,
      write: false,
      format: "esm",
      platform: "browser",
      metafile: true,
    });
    expect(
      Object.values(metafile.inputs).flatMap((input) => input.imports.filter((one) => one.external)),
    ).toEqual([]);
    expect(outputFiles[0]!.text).not.toMatch(/\b(?:Buffer|process|setImmediate)\b/);
  });

  it.each<[string, string, Record<string, string>, FetchHandlerOptions, number]>([
    ["loopback by URL alone", "http://localhost:8787/mcp", {}, {}, 200],
    ["a foreign URL", "https://evil.example.com/mcp", {}, {}, 403],
    ["a foreign Host behind a local URL", "http://localhost/mcp", { host: "evil.example.com" }, {}, 403],
    ["a local Host before a foreign URL", "https://evil.example.com/mcp", { host: "localhost" }, {}, 403],
    ["a named host", "https://mcp.example.com/x", {}, { allowedHosts: ["mcp.example.com"] }, 200],
    ["any host", "https://mcp.example.com/x", {}, { allowedHosts: "any" }, 200],
  ])("judges %s", async (_, url, extra, options, status) => {
    const handle = createFetchHandler(testHandler(), options);
    const response = await handle(
      ask(call("echo"), { headers: { ...headersOf(call("echo")), ...extra } }, url),
    );
    expect(response.status).toBe(status);
    if (status === 403) expect(await response.text()).toContain("allowedHosts");
  });

  it("throws for a wrong option at once", () => {
    expect(() => createFetchHandler(testHandler(), { maxInFlight: -1 })).toThrow(/maxInFlight/);
    const misspelt = { maxInFlight: 1, allowedHost: ["x"] };
    expect(() => createFetchHandler(testHandler(), misspelt)).toThrow(
      /createFetchHandler: allowedHost is no option; expected allowedHosts, /,
    );
    expect(() => createNodeHandler(testHandler(), misspelt)).toThrow(/createNodeHandler: allowedHost is no/);
  });

  it("reads bodies in pieces that cut characters", async () => {
    const bytes = Buffer.from(JSON.stringify(call("echo", { text: "é世🎉" })));
    const pieces = [...bytes].map((byte) => Uint8Array.of(byte));
    const init = { body: streamOf(pieces), duplex: "half" } as RequestInit;
    const response = await createFetchHandler(testHandler())(ask(call("echo"), init));
    expect((await response.json()) as object).toMatchObject({ result: { args: { text: "é世🎉" } } });
  });

  it("stops reading a body without a length once it is too large", async () => {
    const cancelled = vi.fn();
    const pieces = Array.from({ length: 1000 }, () => new Uint8Array(600));
    const init = { body: streamOf(pieces, cancelled), duplex: "half" } as RequestInit;
    const response = await createFetchHandler(testHandler(), { maxBodyBytes: 1000 })(ask(call("echo"), init));
    expect(response.status).toBe(413);
    expect(cancelled).toHaveBeenCalledOnce();
  });

  const whole = Buffer.from(JSON.stringify(call("echo")));
  it.each<[string, (Uint8Array | Error)[]]>([
    ["a byte that begins nothing", [Uint8Array.of(0xff), whole]],
    ["a character that is cut off at the end", [whole, Uint8Array.of(0xc3)]],
    ["a body that breaks off", [whole, new Error("broken off")]],
  ])("answers 400 for %s, and forgets it", async (_, pieces) => {
    const handler = testHandler();
    const handle = createFetchHandler(handler, { maxInFlight: 1 });
    const init = { body: streamOf(pieces), duplex: "half" } as RequestInit;
    expect((await handle(ask(call("echo"), init))).status).toBe(400);
    expect(handler.served).toEqual([]);
    expect((await handle(ask(call("echo")))).status).toBe(200);
  });

  it("aborts the signal when the stream is cancelled", async () => {
    const handler = testHandler();
    const handle = createFetchHandler(handler, { maxInFlight: 1 });
    const response = await handle(ask(request("subscriptions/listen", { notifications: {} })));
    const reader = response.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toContain("acknowledged");
    expect(handler.open.size).toBe(1);
    await reader.cancel();
    await eventually(() => handler.open.size === 0);
    expect((await handle(ask(call("echo")))).status).toBe(200);
  });

  it("aborts the signal when the request is aborted, before a stream and during one", async () => {
    const exchanges: ServerExchange[] = [];
    const hang = (_: unknown, exchange: ServerExchange): Promise<never> => {
      exchanges.push(exchange);
      return new Promise(() => {});
    };
    const handle = createFetchHandler(
      testHandler({
        hang,
        stream(args, exchange) {
          exchange.notify(progress(1));
          return hang(args, exchange);
        },
      }),
      { maxInFlight: 1 },
    );

    const first = new AbortController();
    const pending = handle(ask(call("hang"), { signal: first.signal }));
    await eventually(() => exchanges.length === 1);
    first.abort();
    await pending;
    expect(exchanges[0]!.signal.aborted).toBe(true);

    const second = new AbortController();
    const response = await handle(ask(call("stream"), { signal: second.signal }));
    expect(exchanges[1]!.signal.aborted).toBe(false);
    second.abort();
    expect(exchanges[1]!.signal.aborted).toBe(true);
    await expect(response.text()).rejects.toThrow();

    expect((await handle(ask(call("echo")))).status).toBe(200);
  });

  it("does not serve a request that is aborted already", async () => {
    const handler = testHandler();
    const aborted = ask(call("echo"));
    const controller = new AbortController();
    const handle = createFetchHandler(handler, { maxInFlight: 1 });
    const given = new Request(aborted, { signal: controller.signal });
    controller.abort();
    await handle(given);
    expect(handler.served).toEqual([]);
    expect((await handle(ask(call("echo")))).status).toBe(200);
  });

  it("writes comments while nothing else happens, and stops with the stream", async () => {
    const made = vi.spyOn(globalThis, "setInterval");
    const cleared = vi.spyOn(globalThis, "clearInterval");
    const handler = testHandler();
    const handle = createFetchHandler(handler, { keepAliveMs: 5 });
    const response = await handle(ask(request("subscriptions/listen", { notifications: {} }, "s")));
    let text = "";
    for await (const chunk of response.body!) {
      text += new TextDecoder().decode(chunk);
      if (text.split(":\n\n").length > 5) handler.endSubscriptions();
    }
    expect(eventsOf(text).at(-1)).toMatchObject({ id: "s", result: { resultType: "complete" } });
    expect(made).toHaveBeenCalledOnce();
    expect(cleared).toHaveBeenCalledWith(made.mock.results[0]!.value);
    vi.restoreAllMocks();
  });

  it("gives up a stream whose reader does not read", async () => {
    let sent = 0;
    const stopped: boolean[] = [];
    const handle = createFetchHandler(
      testHandler({
        async flood(_, exchange) {
          while (!exchange.signal.aborted) {
            exchange.notify(progress(++sent, "x".repeat(10_000)));
            await new Promise((resolve) => setImmediate(resolve));
          }
          stopped.push(true);
          return { resultType: "complete" };
        },
      }),
      { maxBufferedBytes: 100_000 },
    );
    const response = await handle(ask(call("flood")));
    await eventually(() => stopped.length === 1);
    expect(sent).toBeGreaterThan(10);
    expect(sent).toBeLessThan(20);
    await expect(response.text()).rejects.toThrow();
  });
});
