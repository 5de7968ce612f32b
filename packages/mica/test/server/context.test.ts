/** What a handler may do during a request: progress, logging, cancellation, and much of it at once. */
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { LOGGING_LEVELS, MetaKey } from "../../src/protocol/meta.js";
import type { JSONRPCNotification, LoggingLevel } from "../../src/protocol/types.js";
import type { HandlerContext } from "../../src/server/context.js";
import type { OnError } from "../../src/server/failure.js";
import { createServer } from "../../src/server/server.js";
import type { AuthInfo } from "../../src/transport.js";
import { callerOf, type SendOptions } from "../support/caller.js";
import { checkedServer } from "../support/wire-schema.js";

/** Calls a tool that does something with its context, and gives what was sent meanwhile. */
async function during(
  work: (ctx: HandlerContext) => unknown,
  options: SendOptions = {},
): Promise<JSONRPCNotification[]> {
  const server = checkedServer(createServer({ name: "test", version: "1.0.0" }));
  server.tool("work", {}, async (_, ctx) => {
    await work(ctx);
  });
  const sent: JSONRPCNotification[] = [];
  await callerOf(server).result(
    "tools/call",
    { name: "work" },
    { ...options, onNotification: (notification) => sent.push(notification) },
  );
  return sent;
}

const paramsOf = (notifications: JSONRPCNotification[]) => notifications.map(({ params }) => params);

describe("progress", () => {
  it.each(["token", "", 0, 7])("is sent under the token %j that the caller gave", async (progressToken) => {
    const sent = await during(
      (ctx) => {
        ctx.progress(0);
        ctx.progress(0.5, 1);
        ctx.progress(1, 1, "done");
      },
      { meta: { progressToken } },
    );
    expect(sent).toEqual([
      { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: 0 } },
      {
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken, progress: 0.5, total: 1 },
      },
      {
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken, progress: 1, total: 1, message: "done" },
      },
    ]);
  });

  it("only grows", async () => {
    const sent = await during(
      (ctx) => {
        for (const value of [1, 1, 0.5, -3, 2, Number.NaN, 2, 3]) ctx.progress(value);
      },
      { meta: { progressToken: "t" } },
    );
    expect(sent.map(({ params }) => params?.["progress"])).toEqual([1, 2, 3]);
  });

  it("is not sent to callers who did not ask for it", async () => {
    expect(await during((ctx) => ctx.progress(1))).toEqual([]);
  });

  it("starts anew with every request, and ends with it", async () => {
    const server = checkedServer(createServer({ name: "test", version: "1.0.0" }));
    let kept: HandlerContext | undefined;
    server.tool("work", {}, (_, ctx) => {
      ctx.progress(1);
      kept = ctx;
    });
    const { result } = callerOf(server);
    const sent: unknown[] = [];
    for (const progressToken of ["a", "b"]) {
      await result(
        "tools/call",
        { name: "work" },
        { meta: { progressToken }, onNotification: ({ params }) => sent.push(params?.["progressToken"]) },
      );
    }
    kept?.progress(2);
    expect(sent).toEqual(["a", "b"]);
  });
});

describe("logging", () => {
  const logAll = (ctx: HandlerContext) => {
    for (const level of LOGGING_LEVELS) ctx.log(level, { level });
  };

  it.each(LOGGING_LEVELS.map((level, index) => [level, index] as const))(
    "from %s up",
    async (level, index) => {
      const sent = await during(logAll, { meta: { [MetaKey.logLevel]: level } });
      expect(sent.map(({ params }) => params?.["level"])).toEqual(LOGGING_LEVELS.slice(index));
      expect(sent.every(({ method }) => method === "notifications/message")).toBe(true);
    },
  );

  it("is not sent to callers who gave no level", async () => {
    expect(await during(logAll)).toEqual([]);
  });

  it("carries any data, and the name of the logger", async () => {
    const sent = await during(
      (ctx) => {
        ctx.log("error", { error: "Connection failed", port: 5432 }, "database");
        ctx.log("error", "text");
        ctx.log("error", undefined);
        ctx.log("loud" as LoggingLevel, "no such level");
      },
      { meta: { [MetaKey.logLevel]: "debug" } },
    );
    expect(paramsOf(sent)).toEqual([
      { level: "error", logger: "database", data: { error: "Connection failed", port: 5432 } },
      { level: "error", data: "text" },
      { level: "error", data: null },
    ]);
  });

  it("of what has no JSON does not fail the request", async () => {
    const stderr = vi.spyOn(console, "error").mockImplementation(() => {});
    const sent = await during(
      (ctx) => {
        ctx.log("error", 1n);
        ctx.log("error", "still here");
      },
      { meta: { [MetaKey.logLevel]: "debug" } },
    );
    expect(paramsOf(sent)).toEqual([{ level: "error", data: "still here" }]);
    expect(stderr).toHaveBeenCalledOnce();
    stderr.mockRestore();
  });
});

describe("the caller", () => {
  it("is what the request and the transport say", async () => {
    const server = checkedServer(createServer({ name: "test", version: "1.0.0" }));
    const seen = vi.fn<(ctx: HandlerContext) => void>();
    server.tool("who", {}, (_, ctx) => seen(ctx));
    server.resource("x:a", { name: "a" }, (ctx) => {
      seen(ctx);
      return "";
    });
    server.prompt("p", {}, (_, ctx) => {
      seen(ctx);
      return "";
    });
    const auth: AuthInfo = {
      principal: "https://issuer.example|42",
      scopes: ["read"],
      claims: { sub: "42" },
    };
    const { result } = callerOf(server, { auth });
    const meta = {
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
      "com.example/x": [1],
    };
    await result("tools/call", { name: "who" }, { meta });
    await result("resources/read", { uri: "x:a" }, { meta });
    await result("prompts/get", { name: "p" }, { meta });
    expect(seen).toHaveBeenCalledTimes(3);
    for (const [ctx] of seen.mock.calls) {
      expect(ctx.auth).toEqual(auth);
      expect(ctx.client).toEqual({ info: { name: "test", version: "1.0.0" }, capabilities: {} });
      expect(ctx.meta).toMatchObject(meta);
      expect(ctx.signal).toBeInstanceOf(AbortSignal);
    }
  });

  it("may be unknown", async () => {
    await during(
      (ctx) => {
        expect(ctx.auth).toBeUndefined();
        expect(ctx.client.info).toBeUndefined();
      },
      { meta: { [MetaKey.clientInfo]: undefined } },
    );
  });
});

describe("cancellation", () => {
  it("reaches the handler, frees the request, and is no failure of the handler", async () => {
    const onError = vi.fn<OnError>();
    const server = checkedServer(createServer({ name: "test", version: "1.0.0", onError }));
    const { transport, send } = callerOf(server);
    const aborted = new Promise((resolve) => {
      server.tool("slow", {}, (_, { signal }) => {
        return new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            resolve(signal.reason);
            reject(signal.reason as Error);
          });
        });
      });
    });
    const controller = new AbortController();
    const answer = send("tools/call", { name: "slow" }, { signal: controller.signal });
    expect(transport.inFlight).toBe(1);
    const reason = new Error("the person gave up");
    controller.abort(reason);
    await expect(answer).rejects.toBe(reason);
    expect(await aborted).toBe(reason);
    expect(transport.inFlight).toBe(0);
    await new Promise((resolve) => setImmediate(resolve));
    expect(onError).not.toHaveBeenCalled();
  });

  it.each<[string, (signal: AbortSignal) => unknown, number]>([
    ["the reason of the signal", (signal) => signal.reason, 0],
    ["an AbortError", () => new DOMException("This operation was aborted", "AbortError"), 0],
    ["an error of its own", () => new Error("disk full"), 1],
  ])("leaves a handler that ends with %s", async (_, thrown, reports) => {
    const onError = vi.fn<OnError>();
    const server = checkedServer(createServer({ name: "test", version: "1.0.0", onError }));
    const fail = async ({ signal }: HandlerContext): Promise<never> => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      throw thrown(signal);
    };
    server.tool("slow", {}, (_, ctx) => fail(ctx));
    server.resource("x:a", { name: "a" }, fail);
    server.prompt(
      "p",
      { input: z.object({ a: z.string().optional() }), complete: { a: (_, ctx) => fail(ctx) } },
      (_, ctx) => fail(ctx),
    );
    const { send } = callerOf(server);
    const controller = new AbortController();
    const { signal } = controller;
    const answers = [
      send("tools/call", { name: "slow" }, { signal }),
      send("resources/read", { uri: "x:a" }, { signal }),
      send("prompts/get", { name: "p" }, { signal }),
      send(
        "completion/complete",
        { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "" } },
        { signal },
      ),
    ];
    // Once every handler is at work.
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    await Promise.allSettled(answers);
    await new Promise((resolve) => setImmediate(resolve));
    expect(onError).toHaveBeenCalledTimes(reports * answers.length);
  });
});

describe("a thousand calls at once", () => {
  it("get their own answers, progress and log, in whatever order they end", async () => {
    const server = checkedServer(createServer({ name: "test", version: "1.0.0" }));
    server.tool(
      "echo",
      { input: z.object({ n: z.number() }), output: z.object({ n: z.number() }) },
      async ({ n }, ctx) => {
        ctx.progress(n);
        for (let turn = 0; turn < n % 7; turn++) await Promise.resolve();
        if (n % 3 === 0) await new Promise((resolve) => setTimeout(resolve, n % 5));
        ctx.log("info", n);
        return { n };
      },
    );
    const { transport, send } = callerOf(server);
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, async (_, n) => {
        const sent: unknown[] = [];
        const response = await send(
          "tools/call",
          { name: "echo", arguments: { n } },
          {
            id: n % 2 ? n : `${n}`,
            meta: { progressToken: n, [MetaKey.logLevel]: "info" },
            onNotification: ({ params }) => sent.push(params?.["progress"] ?? params?.["data"]),
          },
        );
        return {
          id: response.id,
          n: (response as unknown as { result: { structuredContent: { n: number } } }).result
            .structuredContent.n,
          sent,
        };
      }),
    );
    for (const [n, { id, n: answered, sent }] of answers.entries()) {
      expect([id, answered, sent]).toEqual([n % 2 ? n : `${n}`, n, [n, n]]);
    }
    expect(transport.inFlight).toBe(0);
  });
});
