import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { JSONRPCNotification } from "../../src/protocol/types.js";
import { serverEnvironment } from "../../src/stdio/environment.js";
import { launchStdio } from "../../src/stdio/launch-stdio.js";
import { closeAll, failureOf, launch, traces } from "./launched.js";

let before: Record<string, number>;
beforeAll(() => {
  before = traces();
});
afterEach(closeAll);
afterAll(() => vi.waitFor(() => expect(traces()).toEqual(before), 10_000));

const PROGRESS = { _meta: { progressToken: 1 } };
const collect = () => {
  const seen: JSONRPCNotification[] = [];
  return { seen, onNotification: (notification: JSONRPCNotification) => void seen.push(notification) };
};

describe("an exchange", () => {
  it("resolves to the response with its id", async () => {
    const { ask, transport } = launch();
    expect(await ask("echo", { a: "é" })).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: { resultType: "complete", params: { a: "é" } },
    });
    expect(transport.mirrorsArguments).toBe(false);
  });

  it("interleaves with a hundred others, answered in another order", async () => {
    const { call } = launch();
    const order: number[] = [];
    const calls = Array.from({ length: 100 }, async (_, i) => {
      const result = await call("later", { ms: (i * 37) % 100, i });
      order.push(i);
      return result["params"];
    });
    expect(await Promise.all(calls)).toEqual(calls.map((_, i) => ({ ms: (i * 37) % 100, i })));
    expect(order).not.toEqual([...order].sort((a, b) => a - b));
  });

  it("tells 0, '', 1, '1' and '0' apart", async () => {
    const { transport } = launch();
    const ids = [0, "", 1, "1", "0"];
    const ask = (id: string | number, ms: number) =>
      transport.exchange({ jsonrpc: "2.0", id, method: "later", params: { ms, of: id } });
    const answers = await Promise.all(ids.map((id, i) => ask(id, 50 - 10 * i)));
    expect(answers).toMatchObject(ids.map((id) => ({ id, result: { params: { of: id } } })));
  });

  it("refuses an id that is in flight", async () => {
    const { transport, call } = launch();
    const request = { jsonrpc: "2.0" as const, id: "x", method: "later", params: { ms: 20 } };
    const first = transport.exchange(request);
    await expect(transport.exchange(request)).rejects.toThrow(
      new TypeError('request.id "x" is in flight already'),
    );
    await first;
    await call("echo");
    expect(await transport.exchange(request)).toMatchObject({ id: "x" });
  });

  it("accepts an answer that begins with a byte order mark and ends with \\r\\n", async () => {
    const { call, stray } = launch();
    expect(await call("bom")).toEqual({ bom: true });
    expect(stray).toEqual([]);
  });

  it("takes an error without an id as its own where it is the only one", async () => {
    const { ask, stray, transport } = launch();
    expect(await ask("noIdError")).toMatchObject({ id: 1, error: { code: -32700 } });
    const hanging = ask("hang");
    const unclear = ask("noIdError");
    await vi.waitFor(() => expect(stray).toEqual([expect.stringContaining("Parse error")]), 10_000);
    await Promise.all([transport.close(), failureOf(hanging), failureOf(unclear)]);
  });
});

describe("stderr", () => {
  it("is drained: 200 lines of 45 KB do not stop the answer", async () => {
    for (const stderr of [undefined, "ignore", () => {}] as const) {
      const { call } = launch([], { ...(stderr && { stderr }) });
      expect(await call("flood")).toEqual({ resultType: "complete" });
    }
  });

  it("is handed over line by line", async () => {
    const lines: string[] = [];
    const { call } = launch([], { stderr: (line) => lines.push(line) });
    await call("stderr", { text: `one\ntwo\r\n${"l".repeat(70_000)}\nlast` });
    await vi.waitFor(() => expect(lines).toEqual(["one", "two", `${"l".repeat(2048)}...`]), 10_000);
    await closeAll();
    expect(lines.at(-1)).toBe("last");
  });

  it("is printed on this process's own where it is inherited", async () => {
    const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    try {
      const { call } = launch([], { stderr: "inherit" });
      await call("stderr", { text: "hello\n" });
      await vi.waitFor(() => expect(write).toHaveBeenCalledWith("hello\n"), 10_000);
    } finally {
      write.mockRestore();
    }
  });
});

describe("stray output", () => {
  it.each([
    ["text", "Server started on port 3000\n", "Server started on port 3000"],
    ["JSON that is no message", '{"id":1,"level":"info"}\n', '{"id":1,"level":"info"}'],
    [
      "an answer to nothing",
      '{"jsonrpc":"2.0","id":"1","result":{}}\n',
      '{"jsonrpc":"2.0","id":"1","result":{}}',
    ],
  ])("(%s) is reported, and the answer arrives", async (_, text, reported) => {
    const { call, stray } = launch();
    expect(await call("stray", { text })).toEqual({ resultType: "complete" });
    expect(stray).toEqual([reported]);
  });

  it.each([
    ["serverRequest", '"method":"roots/list"'],
    ["uncorrelated", '"method":"notifications/other"'],
  ])("(%s) is reported, and nothing is written back", async (method, reported) => {
    const { call, stray } = launch();
    await call(method);
    expect(stray).toEqual([expect.stringContaining(reported)]);
    expect(await call("received")).toMatchObject({ received: [{ id: 1 }, { id: 2 }] });
  });

  it("is printed as one short line of plain text by default, twenty times at most", async () => {
    const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    try {
      const { call } = launch([], { onStray: undefined });
      await call("stray", { text: `\u001b[31mred\u001b[0m\u0007 ${"x".repeat(1000)}\n` });
      const [line] = write.mock.calls[0] as unknown as [string];
      expect(line).toMatch(
        /^\[mica\] .*node.*: stray output on stdout: red x{196}\.\.\. \(1014 characters\)\n$/,
      );
      await call("stray", { text: "again\n".repeat(50) });
      expect(write).toHaveBeenCalledTimes(20);
      expect(write).toHaveBeenLastCalledWith(expect.stringContaining("again (further ones are not shown)\n"));
    } finally {
      write.mockRestore();
    }
  });

  it("is what a dying server leaves of a line", async () => {
    const { ask, stray } = launch();
    expect(await failureOf(ask("halfLine"))).toMatchObject({ code: "connection_lost" });
    expect(stray).toEqual(['{"jsonrpc":"2.0","id":']);
  });
});

describe("an answer that is none", () => {
  const raw = (text: string | Buffer) => ({ base64: Buffer.from(text as string).toString("base64") });

  it.each([
    ["has no jsonrpc", Buffer.from('{"id":1,"result":{}}\n'), 'expected "jsonrpc": "2.0"'],
    [
      "has a result that is a string",
      Buffer.from('{"jsonrpc":"2.0","id":1,"result":"x"}\n'),
      "Invalid request",
    ],
    [
      "is not UTF-8",
      Buffer.concat([
        Buffer.from('{"jsonrpc":"2.0","id":1,"result":{"a":"'),
        Buffer.from([0xff]),
        Buffer.from('"}}\n'),
      ]),
      "not valid UTF-8",
    ],
  ])("because it %s rejects its exchange, and the connection goes on", async (_, bytes, why) => {
    const { ask, call, stray } = launch();
    const error = await failureOf(ask("raw", raw(bytes)));
    expect(error).toMatchObject({ code: "invalid_response" });
    expect(error.message).toContain("raw (id 1)");
    expect(error.message).toContain(why);
    expect(await call("echo")).toMatchObject({ resultType: "complete" });
    expect(stray).toEqual([]);
  });
});

describe("a message over the limit", () => {
  it.each([[false], [true]])(
    "rejects its exchange (id last: %s), and the connection goes on",
    async (idLast) => {
      const { ask, call, stray } = launch([], { maxMessageBytes: 10_000 });
      const hanging = failureOf(ask("hang"));
      const error = await failureOf(ask("big", { chars: 1_000_000, idLast }));
      expect(error).toMatchObject({ code: "limit_exceeded" });
      expect(error.message).toMatch(
        /big \(id 2\) has 1000\d{3} bytes, and at most 10000 are accepted \(maxMessageBytes\)/,
      );
      expect(await call("echo")).toMatchObject({ resultType: "complete" });
      expect(stray).toEqual([]);
      await closeAll();
      expect(await hanging).toMatchObject({ code: "closed" });
    },
  );

  it("is reported as stray where it is a notification", async () => {
    const { call, stray } = launch([], { maxMessageBytes: 10_000 });
    await call("bigNotification", { chars: 20_000 });
    expect(stray).toEqual([
      expect.stringMatching(/^\{"jsonrpc":"2.0","method":"notifications\/other".*maxMessageBytes\)$/),
    ]);
  });

  it("is not sent where it is a request", async () => {
    const { ask, call } = launch([], { maxMessageBytes: 1000 });
    const error = await failureOf(ask("echo", { text: "é".repeat(500) }));
    expect(error).toMatchObject({ code: "limit_exceeded" });
    expect(error.message).toMatch(/^The request echo \(id 1\) has 10\d\d bytes, and at most 1000/);
    expect(await call("received")).toMatchObject({ received: [{ id: 2 }] });
  });

  it("of eight mebibytes is none by default, in either direction", async () => {
    const { call } = launch();
    const text = "x".repeat(8 * 1024 * 1024);
    expect(await call("echo", { text })).toMatchObject({ params: { text } });
  });
});

it("waits with further requests while the server does not read", async () => {
  const { call } = launch();
  await call("stopReading");
  const text = "x".repeat(100_000);
  const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => call("echo", { i, text })));
  expect(answers.map(({ params }) => (params as { i: number }).i)).toEqual(
    Array.from({ length: 50 }, (_, i) => i),
  );
});

describe("notifications", () => {
  it("of progress go by their token, told apart by type, and only until the response", async () => {
    const { call } = launch();
    const one = collect();
    const other = collect();
    const hanging = failureOf(call("hang", { _meta: { progressToken: "other" } }, other));
    await call("progress", PROGRESS, one);
    await call("echo");
    expect(one.seen.map(({ params }) => params?.["progress"])).toEqual([1, 2]);
    expect(other.seen).toEqual([]);
    await closeAll();
    await hanging;
  });

  it("of log messages go to whoever asked for their level", async () => {
    const { call } = launch();
    const asking = (logLevel: string) => ({ _meta: { "io.modelcontextprotocol/logLevel": logLevel } });
    const [silent, onlyErrors, everything] = [collect(), collect(), collect()];
    const others = [
      failureOf(call("hang", {}, silent)),
      failureOf(call("hang", asking("error"), onlyErrors)),
    ];
    await call("log", { ...asking("debug"), levels: ["debug", "error"] }, everything);
    const levels = ({ seen }: ReturnType<typeof collect>) => seen.map(({ params }) => params?.["level"]);
    expect(levels(everything)).toEqual(["debug", "error"]);
    expect(levels(onlyErrors)).toEqual(["error"]);
    expect(levels(silent)).toEqual([]);
    await closeAll();
    await Promise.all(others);
  });

  it("of subscriptions go by the id of their request", async () => {
    const { call, transport } = launch();
    const [zero, text] = [collect(), collect()];
    const listen = (id: string | number, options: ReturnType<typeof collect>) =>
      failureOf(transport.exchange({ jsonrpc: "2.0", id, method: "subscriptions/listen" }, options));
    const open = [listen(0, zero), listen("0", text)];
    await call("publish", { to: [0, "0", 0, 17, ""] });
    expect(zero.seen.map(({ method }) => method)).toEqual([
      "notifications/subscriptions/acknowledged",
      "notifications/tools/list_changed",
      "notifications/tools/list_changed",
    ]);
    expect(text.seen).toHaveLength(2);
    await closeAll();
    await Promise.all(open);
  });
});

describe("a subscription that the server ends", () => {
  it.each([
    [true, { resultType: "complete", graceful: true }],
    [false, { resultType: "complete" }],
  ])("resolves once (response follows: %s)", async (respond, result) => {
    const { call, ask, stray } = launch();
    const ended = collect();
    const subscription = ask("subscriptions/listen", {}, ended);
    await call("teardown", { listenId: 1, respond });
    expect(await subscription).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: { ...result, _meta: { "io.modelcontextprotocol/subscriptionId": 1 } },
    });
    expect(ended.seen.map(({ method }) => method)).toEqual(["notifications/subscriptions/acknowledged"]);
    expect(stray).toEqual([]);
  });

  it("is the only kind of request that a server can end so", async () => {
    const { call, ask } = launch();
    const later = ask("later", { ms: 100 });
    await call("teardown", { listenId: 1, respond: false });
    expect(await later).toMatchObject({ id: 1, result: { params: { ms: 100 } } });
  });
});

describe("an abort", () => {
  it("cancels on the server, rejects with the signal's reason, and ignores the late answer", async () => {
    const { call, ask, stray } = launch();
    const controller = new AbortController();
    const late = collect();
    const aborted = ask("later", { ms: 50 }, { signal: controller.signal, ...late });
    await call("echo");
    const reason = new Error("no longer needed");
    controller.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    await call("later", { ms: 100 });
    const { received } = (await call("received")) as { received: { method: string; params?: object }[] };
    expect(received.filter(({ method }) => method === "notifications/cancelled")).toEqual([
      {
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: 1, reason: "no longer needed" },
      },
    ]);
    expect(stray).toEqual([]);
  });

  it("before the start sends nothing", async () => {
    const { call, ask } = launch();
    await expect(ask("echo", {}, { signal: AbortSignal.abort("never mind") })).rejects.toBe("never mind");
    expect(await call("received")).toMatchObject({ received: [{ id: 2 }] });
  });

  it("of a signal that many exchanges share costs one listener, and none when they are done", async () => {
    const { call, ask } = launch([], { maxMessageBytes: 100_000 });
    const controller = new AbortController();
    const { signal } = controller;
    const counts = [0];
    const count = (change: number) => counts.push((counts.at(-1) as number) + change);
    const [add, remove] = [signal.addEventListener, signal.removeEventListener];
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      count(1);
      add.apply(signal, args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      count(-1);
      remove.apply(signal, args);
    };
    await Promise.all(Array.from({ length: 20 }, () => call("echo", {}, { signal })));
    await failureOf(ask("big", { chars: 200_000 }, { signal }));
    await failureOf(ask("exit", { code: 1 }, { signal }));
    expect(counts.at(-1)).toBe(0);
    expect(Math.max(...counts)).toBe(1);

    const hanging = Array.from({ length: 20 }, () => ask("hang", {}, { signal }));
    // Requests that have not left yet would be cancelled without a word to the server.
    await call("echo");
    controller.abort("all of them");
    for (const each of hanging) await expect(each).rejects.toBe("all of them");
    expect(counts.at(-1)).toBe(0);
    const { received } = (await call("received")) as { received: { method: string }[] };
    expect(received.filter(({ method }) => method === "notifications/cancelled")).toHaveLength(20);
  });
});

describe("the environment of the server", () => {
  it("holds what is needed to run and what was given, and none of our secrets", async () => {
    process.env["MICA_TEST_SECRET"] = "s3cret";
    try {
      const { call } = launch([], { env: { GIVEN: "yes", LANG: undefined } });
      const { env } = (await call("env")) as { env: Record<string, string> };
      expect(env).toMatchObject({ GIVEN: "yes", PATH: process.env["PATH"] });
      expect(env).not.toHaveProperty("MICA_TEST_SECRET");
      expect(env).not.toHaveProperty("LANG");
      const all = launch([], { inheritEnv: true, env: { GIVEN: "yes" } });
      const inherited = (await all.call("env"))["env"];
      expect(inherited).toMatchObject({ GIVEN: "yes", MICA_TEST_SECRET: "s3cret" });
    } finally {
      delete process.env["MICA_TEST_SECRET"];
    }
  });

  it("is chosen by the names of the system", () => {
    const from = { Path: "p", SystemRoot: "r", HOME: "h", LC_ALL: "C", TOKEN: "t", USER: "u" };
    expect(serverEnvironment(undefined, false, from, "win32")).toEqual({ Path: "p", SystemRoot: "r" });
    expect(serverEnvironment({ A: "1" }, false, from, "linux")).toEqual({
      HOME: "h",
      LC_ALL: "C",
      USER: "u",
      A: "1",
    });
  });
});

it("runs the server in the given directory", async () => {
  const { call } = launch([], { cwd: "/", env: { PWD: undefined } });
  expect(await call("echo")).toMatchObject({ resultType: "complete" });
});

it("refuses unusable options by name", () => {
  expect(() => launchStdio({ command: "" })).toThrow(
    /options.command must be the name or path of a program; got ""/,
  );
  expect(() => launchStdio({ command: "x", args: [1 as never] })).toThrow(
    /options.args must be an array of strings/,
  );
  expect(() => launchStdio({ command: "x", closeMs: -1 })).toThrow(
    "closeMs must be an integer of 0 or more; got -1",
  );
});
