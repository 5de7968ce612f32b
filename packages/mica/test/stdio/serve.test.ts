import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { McpError } from "../../src/protocol/errors.js";
import { serveStdio } from "../../src/stdio/serve.js";
import type { ServerExchange } from "../../src/transport.js";
import { gate, handlerOf, lineClient, open } from "./channel.js";

const echo = handlerOf(({ method, params }) => ({ resultType: "complete", method, params }));
const ping = (id: string | number) => ({ id, method: "ping" });

describe("a line that is not a request", () => {
  it.each([
    ["no jsonrpc", '{"id":99,"method":"tools/list","params":{}}', -32600, 99],
    ["a misspelt method", '{"jsonrpc":"2.0","id":5,"method_":"tools/list"}', -32600, 5],
    ["a batch", '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, undefined],
    ["a number", "17", -32600, undefined],
    ["an id of null", '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, undefined],
    ["an id of 1.5", '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, undefined],
    ["params that are an array", '{"jsonrpc":"2.0","id":"x","method":"ping","params":[]}', -32600, "x"],
    ["no JSON", "hello", -32700, undefined],
    ["half a message", '{"jsonrpc":"2.0","id":1,', -32700, undefined],
    ["bytes that are not UTF-8", Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d]), -32700, undefined],
  ])("(%s) is answered with an error, and the next line is served", async (_, line, code, id) => {
    const { send, take } = open(echo);
    send(line);
    send("\n");
    send(ping("next"));
    const [refused, served] = await take(2);
    expect(refused?.error?.code).toBe(code);
    expect(refused?.id).toBe(id);
    expect("id" in (refused ?? {})).toBe(id !== undefined);
    expect(served).toMatchObject({ id: "next", result: { method: "ping" } });
  });

  it("is ignored when it is a notification that nobody knows", async () => {
    const { send, next } = open(echo);
    send({ method: "notifications/unheard_of", params: {} });
    send(ping(1));
    expect(await next()).toMatchObject({ id: 1 });
  });

  it("is ignored with a note when it is a response", async () => {
    const { send, next, problems } = open(echo);
    send({ id: 1, result: {} });
    send(ping(1));
    expect(await next()).toMatchObject({ id: 1, result: { method: "ping" } });
    expect(problems).toEqual([expect.stringContaining("ignored a response")]);
  });
});

describe("a long line", () => {
  it("of a mebibyte is served by default", async () => {
    const { send, take } = open(echo);
    send({ id: 1, method: "ping", params: { data: "A".repeat(1_048_576) } });
    send(ping(2));
    const [first, second] = await take(2);
    expect(first).toMatchObject({ id: 1, result: { params: { data: "A".repeat(1_048_576) } } });
    expect(second).toMatchObject({ id: 2 });
  });

  it("over the limit is refused once, under its id, and the next line is served", async () => {
    const { send, take, arrived } = open(echo, { maxMessageBytes: 1000 });
    send({ id: 7, method: "ping", params: { data: "A".repeat(1_048_576) } });
    send({ method: "ping", params: { data: "A".repeat(1000) }, id: "last" });
    send(ping(8));
    const [first, last, served] = await take(3);
    expect(first).toMatchObject({ id: 7, error: { code: -32600 } });
    expect(first?.error?.message).toMatch(
      /1048\d{3} bytes, and at most 1000 are accepted \(maxMessageBytes\)/,
    );
    expect(last).toMatchObject({ id: "last", error: { code: -32600 } });
    expect(served).toMatchObject({ id: 8, result: {} });
    expect(arrived).toEqual([]);
  });
});

it("ignores a byte order mark, and serves a last line without a newline", async () => {
  const { send, take, input } = open(echo);
  send('\ufeff{"jsonrpc":"2.0","id":1,"method":"a"}\r\n');
  input.end('\ufeff{"jsonrpc":"2.0","id":2,"method":"b"}');
  expect(await take(2)).toMatchObject([{ id: 1 }, { id: 2 }]);
});

it("reads a stream of strings as well", async () => {
  const input = new PassThrough({ encoding: "utf8" });
  const output = new PassThrough();
  const { send, next } = lineClient(input, output);
  serveStdio(echo, { input, output });
  send({ id: 1, method: "é" });
  expect(await next()).toMatchObject({ id: 1, result: { method: "é" } });
});

describe("requests in flight", () => {
  it("interleave: a hundred are answered in whatever order they are done", async () => {
    const gates = Array.from({ length: 100 }, () => gate());
    const handler = handlerOf(async ({ id }) => {
      await gates[id as number]?.opened;
      return { resultType: "complete", for: id };
    });
    const { send, take } = open(handler);
    for (let id = 0; id < 100; id++) send(ping(id));
    const order = Array.from({ length: 100 }, (_, i) => (i * 37) % 100);
    for (const id of order) gates[id]?.open();
    const answers = await take(100);
    expect(answers.map(({ id }) => id)).toEqual(order);
    for (const { id, result } of answers) expect(result?.["for"]).toBe(id);
  });

  it("tell 0, '', 1 and '1' apart", async () => {
    const done = gate();
    const { send, take } = open(
      handlerOf(async ({ id }) => {
        await done.opened;
        return { resultType: "complete", for: id };
      }),
    );
    const ids = [0, "", 1, "1", "0"];
    for (const id of ids) send(ping(id));
    done.open();
    const answers = await take(5);
    expect(answers.map(({ id }) => id)).toEqual(ids);
    expect(answers.map(({ result }) => result?.["for"])).toEqual(ids);
  });

  it("refuse a second one with the same id, and take the id again afterwards", async () => {
    const done = gate();
    const { send, next } = open(
      handlerOf(async () => {
        await done.opened;
        return { resultType: "complete" };
      }),
    );
    send(ping("a"));
    send(ping("a"));
    const refused = await next();
    expect(refused).toMatchObject({ id: "a", error: { code: -32600 } });
    expect(refused.error?.message).toContain('the id "a" is in flight already');
    done.open();
    expect(await next()).toMatchObject({ id: "a", result: {} });
    send(ping("a"));
    expect(await next()).toMatchObject({ id: "a", result: {} });
  });

  it("are bounded, and the refusal names the limit", async () => {
    const done = gate();
    const { send, next, take } = open(
      handlerOf(async () => {
        await done.opened;
        return { resultType: "complete" };
      }),
      { maxInFlight: 2 },
    );
    for (const id of [1, 2, 3]) send(ping(id));
    const refused = await next();
    expect(refused).toMatchObject({ id: 3, error: { code: -32603 } });
    expect(refused.error?.message).toContain(
      "2 requests are in flight, the most that are served at once (maxInFlight)",
    );
    done.open();
    expect((await take(2)).map(({ id }) => id)).toEqual([1, 2]);
    send(ping(4));
    expect(await next()).toMatchObject({ id: 4, result: {} });
  });

  it("count as long as their handler runs, cancelled or not", async () => {
    const done = gate();
    const { send, next } = open(
      handlerOf(async ({ method }) => {
        if (method === "slow") await done.opened;
        return { resultType: "complete" };
      }),
      { maxInFlight: 1 },
    );
    send({ id: 1, method: "slow" });
    send({ method: "notifications/cancelled", params: { requestId: 1 } });
    send(ping(2));
    expect(await next()).toMatchObject({ id: 2, error: { code: -32603 } });
  });
});

describe("notifications", () => {
  it("leave in order, before the response; what comes after it does not leave", async () => {
    let late: ServerExchange | undefined;
    const { send, take, next } = open(
      handlerOf((_, exchange) => {
        late = exchange;
        for (const n of [1, 2, 3])
          exchange.notify({ jsonrpc: "2.0", method: "notifications/progress", params: { n } });
        return { resultType: "complete" };
      }),
    );
    send(ping(1));
    const messages = await take(4);
    expect(messages.map(({ params, id }) => params?.["n"] ?? id)).toEqual([1, 2, 3, 1]);
    late?.notify({ jsonrpc: "2.0", method: "notifications/progress", params: { n: 4 } });
    send(ping(2));
    expect((await next()).params?.["n"]).toBe(1);
  });

  it("that cannot be encoded are left out and reported; so is such a result", async () => {
    const { send, next, problems } = open(
      handlerOf((_, exchange) => {
        exchange.notify({ jsonrpc: "2.0", method: "notifications/odd", params: { n: 1n } });
        return { resultType: "complete", n: 1n };
      }),
    );
    send(ping(1));
    expect(await next()).toMatchObject({ id: 1, error: { code: -32603, message: "Internal error" } });
    expect(problems).toEqual([
      expect.stringContaining("notifications/odd of request 1 could not be sent"),
      expect.stringContaining("request 1 has no answer that could be sent"),
    ]);
  });

  it("wait while the client does not read; equal ones once, and progress only up to a bound", async () => {
    const filler = "x".repeat(32 * 64 * 1024);
    const handler = handlerOf((_, exchange) => {
      // More than the stream takes, in one line that it takes all the same: from then on everything waits.
      exchange.notify({ jsonrpc: "2.0", method: "notifications/filler", params: { filler } });
      return { resultType: "complete" };
    });
    const input = new PassThrough();
    const output = new PassThrough();
    const released = gate();
    const late = handlerOf(async (request, exchange) => {
      if (request.method === "fill") return handler.handle(request, exchange);
      await released.opened;
      const change = (uri: string) =>
        exchange.notify({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri } });
      for (let i = 0; i < 100; i++) {
        exchange.notify({ jsonrpc: "2.0", method: "notifications/progress", params: { progress: i } });
        change("a:1");
        change("a:2");
      }
      return { resultType: "complete" };
    });
    serveStdio(late, { input, output, maxQueuedChars: 1000 });
    input.write('{"jsonrpc":"2.0","id":1,"method":"fill"}\n{"jsonrpc":"2.0","id":2,"method":"late"}\n');
    await new Promise((resolve) => setImmediate(resolve));
    expect(output.writableLength).toBeGreaterThan(1024 * 1024);
    // The client's next requests wait in the pipe meanwhile.
    expect(input.isPaused()).toBe(true);
    released.open();
    await new Promise((resolve) => setImmediate(resolve));
    const { take, send, next } = lineClient(input, output);
    expect(await take(1)).toHaveLength(1);
    const seen: string[] = [];
    for (;;) {
      const message = await next();
      seen.push(message.method ?? `answer ${message.id}`);
      if (message.id === 2) break;
    }
    expect(seen.filter((method) => method === "notifications/resources/updated")).toHaveLength(2);
    const progress = seen.filter((method) => method === "notifications/progress").length;
    expect(progress).toBeGreaterThan(0);
    expect(progress).toBeLessThan(100);
    expect(seen).toContain("answer 1");
    send({ id: 3, method: "late" });
    expect((await take(301)).at(-1)).toMatchObject({ id: 3, result: {} });
  });
});

describe("cancellation", () => {
  const stuck = () => {
    const exchanges = new Map<unknown, ServerExchange>();
    const aborted: unknown[] = [];
    const handler = handlerOf(({ id, method }, exchange) => {
      if (method === "ping") return { resultType: "complete" };
      exchanges.set(id, exchange);
      return new Promise((resolve) => {
        exchange.signal.addEventListener("abort", () => {
          aborted.push(id);
          exchange.notify({ jsonrpc: "2.0", method: "notifications/progress", params: {} });
          resolve({ resultType: "complete", late: true });
        });
      });
    });
    return { ...open(handler), exchanges, aborted };
  };
  const cancel = (requestId: unknown, reason?: string) => ({
    method: "notifications/cancelled",
    params: { requestId, ...(reason !== undefined && { reason }) },
  });

  it.each([[0], [""], ["1"], [1], ["0"]])("reaches exactly the request with the id %j", async (id) => {
    const { send, next, aborted, arrived } = stuck();
    for (const each of [0, "", "1", 1, "0"]) send({ id: each, method: "stuck" });
    send(cancel(id));
    send(ping("after"));
    expect(await next()).toMatchObject({ id: "after" });
    expect(aborted).toEqual([id]);
    // Neither the notification nor the answer that followed was sent.
    expect(arrived).toEqual([]);
  });

  it("gives the handler the client's reason", async () => {
    const { send, next, exchanges } = stuck();
    send({ id: 1, method: "stuck" });
    send(cancel(1, "changed my mind"));
    send(ping(2));
    await next();
    const reason = exchanges.get(1)?.signal.reason;
    expect(reason).toBeInstanceOf(McpError);
    expect(reason).toMatchObject({
      code: "aborted",
      message: "The client cancelled the request: changed my mind",
    });
  });

  it("is seen by a handler that looks at its signal only afterwards", async () => {
    const cancelled = gate();
    const looked = gate<boolean>();
    const { send } = open(
      handlerOf(async (_, exchange) => {
        await cancelled.opened;
        looked.open(exchange.signal.aborted);
        return { resultType: "complete" };
      }),
    );
    send({ id: 1, method: "x" });
    send(cancel(1));
    await new Promise((resolve) => setImmediate(resolve));
    cancelled.open();
    expect(await looked.opened).toBe(true);
  });

  it("is ignored when it is unknown, over, or malformed", async () => {
    const { send, next, aborted } = stuck();
    send(ping(1));
    expect(await next()).toMatchObject({ id: 1 });
    send({ id: 2, method: "stuck" });
    for (const bad of [1, 3, null, 2.5, {}, [2], undefined]) send(cancel(bad));
    send({ method: "notifications/cancelled" });
    send(ping(4));
    expect(await next()).toMatchObject({ id: 4 });
    expect(aborted).toEqual([]);
  });
});

describe("a subscription", () => {
  const subscriptions = (also: (exchange: ServerExchange) => void = () => {}) => {
    const ends = new Set<() => void>();
    const handler = handlerOf(
      ({ id, method }, exchange) => {
        if (method !== "subscriptions/listen") return { resultType: "complete" };
        const _meta = { "io.modelcontextprotocol/subscriptionId": id };
        exchange.notify({
          jsonrpc: "2.0",
          method: "notifications/subscriptions/acknowledged",
          params: { _meta },
        });
        also(exchange);
        return new Promise((resolve) => {
          const end = () => resolve({ resultType: "complete", _meta });
          ends.add(end);
          exchange.signal.addEventListener("abort", end);
        });
      },
      () => {
        for (const end of ends) end();
      },
    );
    return handler;
  };
  const listen = { id: 0, method: "subscriptions/listen", params: { notifications: {} } };
  const _meta = { "io.modelcontextprotocol/subscriptionId": 0 };
  const gracefulEnd = [
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { _meta, requestId: 0 } },
    { jsonrpc: "2.0", id: 0, result: { resultType: "complete", _meta } },
  ];

  it("that the server ends is cancelled by notice, and then answered", async () => {
    const { send, next, take, input } = open(subscriptions());
    send(listen);
    expect((await next()).method).toBe("notifications/subscriptions/acknowledged");
    input.end();
    expect(await take(2)).toEqual(gracefulEnd);
  });

  it("that the client cancels is over: nothing more is sent for it", async () => {
    const { send, next, arrived, service } = open(subscriptions());
    send(listen);
    await next();
    send({ method: "notifications/cancelled", params: { requestId: 0 } });
    send(ping(1));
    expect(await next()).toMatchObject({ id: 1 });
    await service.close();
    expect(arrived).toEqual([]);
  });

  it("that was refused is answered, without a notice", async () => {
    const { send, next, arrived } = open(
      handlerOf(({ id }) => ({ jsonrpc: "2.0", id, error: { code: -32602, message: "no filter" } })),
    );
    send(listen);
    expect(await next()).toMatchObject({ id: 0, error: { code: -32602 } });
    expect(arrived).toEqual([]);
  });

  it("of one channel ends alone where the handler is shared", async () => {
    const aborted: unknown[] = [];
    const handler = subscriptions((exchange) => {
      exchange.signal.addEventListener("abort", () => aborted.push(exchange.signal.reason.message));
    });
    const first = open(handler, { shared: true });
    const second = open(handler, { shared: true });
    for (const { send, next } of [first, second]) {
      send(listen);
      await next();
    }
    first.input.end();
    expect(await first.take(2)).toEqual(gracefulEnd);
    await first.service.closed;
    expect(aborted).toEqual(["The connection is closing"]);
    second.send(ping(1));
    expect(await second.next()).toMatchObject({ id: 1 });
    expect(second.arrived).toEqual([]);
  });
});

describe("the end", () => {
  it("of input lets work in flight finish, then ends the output", async () => {
    const done = gate();
    const { send, next, input, output, service } = open(
      handlerOf(async () => {
        await done.opened;
        return { resultType: "complete" };
      }),
    );
    const ended = new Promise((resolve) => output.once("end", resolve));
    send(ping(1));
    input.end();
    await new Promise((resolve) => setImmediate(resolve));
    done.open();
    expect(await next()).toMatchObject({ id: 1, result: {} });
    await Promise.all([service.closed, ended]);
  });

  it("answers with an error, and aborts, what is not done in time", async () => {
    let reason: unknown;
    const { send, next, service } = open(
      handlerOf((_, { signal }) => {
        signal.addEventListener("abort", () => {
          reason = signal.reason;
        });
        return new Promise(() => {});
      }),
      { drainMs: 20 },
    );
    send(ping(1));
    await new Promise((resolve) => setImmediate(resolve));
    await service.close();
    const answer = await next();
    expect(answer).toMatchObject({ id: 1, error: { code: -32603 } });
    expect(answer.error?.message).toContain("the server shut down before the request was done");
    expect(reason).toMatchObject({ code: "aborted", message: "The server is shutting down" });
  });

  it("of the output aborts what works for the client that is gone", async () => {
    const aborted = gate();
    const { send, output, service } = open(
      handlerOf((_, { signal }) => {
        return new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            aborted.open();
            resolve({ resultType: "complete" });
          });
        });
      }),
    );
    send(ping(1));
    await new Promise((resolve) => setImmediate(resolve));
    output.destroy(new Error("EPIPE"));
    await aborted.opened;
    await service.closed;
  });

  it("comes even while the client does not read", async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    const big = "x".repeat(4 * 1024 * 1024);
    const service = serveStdio(
      handlerOf(() => ({ resultType: "complete", big })),
      { input, output, drainMs: 20 },
    );
    input.write('{"jsonrpc":"2.0","id":1,"method":"x"}\n');
    await new Promise((resolve) => setImmediate(resolve));
    await service.close();
    expect(output.writableLength).toBeGreaterThan(1024 * 1024);
  });

  it("comes once, however often it is asked for, and leaves nothing of the process touched", async () => {
    const listeners = () => ["SIGINT", "SIGTERM", "exit"].map((event) => process.listenerCount(event));
    const before = [...listeners(), process.stdout.write];
    const { service } = open(echo);
    expect([...listeners(), process.stdout.write]).toEqual(before);
    await Promise.all([service.close(), service.close(), service.closed]);
    expect([...listeners(), process.stdout.write]).toEqual(before);
  });

  it("is not prevented by a handler whose subscriptions cannot be ended", async () => {
    const { service, problems } = open(
      handlerOf(
        () => ({}),
        () => {
          throw new Error("no broker");
        },
      ),
    );
    await service.close();
    expect(problems).toEqual(["subscriptions could not be ended: Error: no broker"]);
  });
});

it("answers with an internal error where a handler breaks its promise never to reject", async () => {
  const { send, next, problems } = open(
    handlerOf(() => {
      throw new Error("secret");
    }),
  );
  send(ping(1));
  expect(await next()).toEqual({ jsonrpc: "2.0", id: 1, error: { code: -32603, message: "Internal error" } });
  expect(problems).toEqual([expect.stringContaining("secret")]);
});

it("refuses half a channel and limits that are none", () => {
  expect(() => serveStdio(echo, { input: new PassThrough() })).toThrow(/options.output must be given too/);
  expect(() => serveStdio(echo, { output: new PassThrough() })).toThrow(/options.input must be given too/);
  const streams = { input: new PassThrough(), output: new PassThrough() };
  expect(() => serveStdio(echo, { ...streams, maxInFlight: 1.5 })).toThrow(
    new TypeError("maxInFlight must be an integer of 0 or more; got 1.5"),
  );
  const misspelt = { ...streams, drainMS: 5 };
  expect(() => serveStdio(echo, misspelt)).toThrow(/serveStdio: drainMS is no option; expected .*drainMs, /);
});
