/** What every call shares: `_meta`, ids, deadlines, cancellation, progress, logs, errors, closing. */
import { getEventListeners } from "node:events";
import { describe, expect, it, vi } from "vitest";
import type { McpError } from "../../src/protocol/errors.js";
import { ProtocolError } from "../../src/protocol/errors.js";
import { clientOf, gate, never, scripted } from "./scripted.js";

const done = { content: [{ type: "text", text: "done" }] };
const metaOf = (request: { params?: Record<string, unknown> } | undefined) =>
  request?.params?.["_meta"] as Record<string, unknown>;

describe("_meta and ids", () => {
  it("every request carries version, identity and capabilities, and an id of its own", async () => {
    const server = scripted({ "tools/call": () => done, "prompts/get": () => ({ messages: [] }) });
    const client = await clientOf(server, {
      title: "Test client",
      onElicit: () => ({ action: "cancel" }),
      onElicitUrl: () => ({ action: "cancel" }),
      onSample: () => ({ role: "assistant", model: "m", content: { type: "text", text: "" } }),
      sampling: { tools: true },
      roots: [{ uri: "file:///a" }],
      capabilities: { extensions: { "com.example/x": {} } },
    });
    await client.callTool("a");
    await client.getPrompt("p");
    await client.request("com.example/anything", {}).catch(() => {});
    expect(server.requests.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
    for (const request of server.requests) {
      expect(metaOf(request)).toEqual({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0", title: "Test client" },
        "io.modelcontextprotocol/clientCapabilities": {
          elicitation: { form: {}, url: {} },
          sampling: { tools: {} },
          roots: {},
          extensions: { "com.example/x": {} },
        },
      });
    }
    expect(server.sent("tools/call")[0]?.params).toMatchObject({ name: "a", arguments: {} });
    await client.close();
  });

  it("declares only what there is a handler for", async () => {
    const capabilities = async (options: Parameters<typeof clientOf>[1]) => {
      const server = scripted({});
      await (await clientOf(server, options)).close();
      return metaOf(server.requests[0])["io.modelcontextprotocol/clientCapabilities"];
    };
    expect(await capabilities({})).toEqual({});
    expect(await capabilities({ onElicit: () => ({ action: "cancel" }) })).toEqual({
      elicitation: { form: {} },
    });
    expect(await capabilities({ onElicitUrl: () => ({ action: "cancel" }) })).toEqual({
      elicitation: { url: {} },
    });
    expect(await capabilities({ roots: () => [] })).toEqual({ roots: {} });
    expect(await capabilities({ sampling: { tools: true } })).toEqual({});
  });

  it("adds what the caller gives, trace context for one, and keeps its own keys", async () => {
    const server = scripted({ "tools/call": () => done });
    const client = await clientOf(server, { logLevel: "error" });
    await client.callTool(
      "a",
      {},
      {
        _meta: {
          traceparent: "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
          "com.example/key": { a: 1 },
          "io.modelcontextprotocol/protocolVersion": "1999-01-01",
          "io.modelcontextprotocol/clientCapabilities": { roots: {} },
          "io.modelcontextprotocol/logLevel": "debug",
          progressToken: "mine",
        },
        onProgress: () => {},
      },
    );
    expect(metaOf(server.sent("tools/call")[0])).toMatchObject({
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
      "com.example/key": { a: 1 },
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/logLevel": "error",
      progressToken: 2,
    });
    await client.close();
  });
});

describe("progress and logs", () => {
  it("reach their callbacks in order, those of other requests do not", async () => {
    const server = scripted({
      "tools/call": (_, { id, notify }) => {
        notify("notifications/progress", { progressToken: id, progress: 1, total: 2 });
        notify("notifications/progress", { progressToken: "other", progress: 9 });
        notify("notifications/message", { level: "info", data: "halfway" });
        notify("notifications/progress", { progressToken: id, progress: 2, total: 2, message: "there" });
        return done;
      },
    });
    const client = await clientOf(server);
    const seen: unknown[] = [];
    await client.callTool(
      "a",
      {},
      {
        onProgress: ({ progress, message }) => seen.push([progress, message]),
        onLog: ({ level, data }) => seen.push([level, data]),
      },
    );
    expect(seen).toEqual([
      [1, undefined],
      ["info", "halfway"],
      [2, "there"],
    ]);
    expect(metaOf(server.sent("tools/call")[0])).toMatchObject({
      progressToken: 2,
      "io.modelcontextprotocol/logLevel": "info",
    });
    await client.close();
  });

  it("no callback, no token and no level; a client-wide onLog hears every request", async () => {
    const server = scripted({
      "tools/call": (_, { notify }) => {
        notify("notifications/message", { level: "warning", data: 1 });
        return done;
      },
    });
    const quiet = await clientOf(server);
    await quiet.callTool("a");
    expect(metaOf(server.requests.at(-1))).not.toHaveProperty("progressToken");
    expect(metaOf(server.requests.at(-1))).not.toHaveProperty(["io.modelcontextprotocol/logLevel"]);
    await quiet.close();

    const onLog = vi.fn();
    const listening = await clientOf(server, { onLog, logLevel: "warning" });
    await listening.callTool("a");
    expect(onLog).toHaveBeenCalledExactlyOnceWith({ level: "warning", data: 1 });
    expect(metaOf(server.requests.at(-1))).toMatchObject({ "io.modelcontextprotocol/logLevel": "warning" });
    await listening.close();
  });

  it("a callback that throws is reported, and the call goes on", async () => {
    const server = scripted({
      "tools/call": (_, { id, notify }) => {
        notify("notifications/progress", { progressToken: id, progress: 1 });
        return done;
      },
    });
    const client = await clientOf(server);
    const onProgress = () => {
      throw new Error("my mistake");
    };
    expect(await client.callTool("a", {}, { onProgress })).toEqual(done);
    expect(client.warnings).toMatchObject([
      { code: "callback_failed", message: "onProgress threw: my mistake" },
    ]);
    await client.close();
  });
});

describe("deadlines", () => {
  it("a request without an answer is cancelled, and the error names method and time", async () => {
    const server = scripted({ "tools/call": never });
    const client = await clientOf(server);
    await expect(client.callTool("a", {}, { timeoutMs: 15 })).rejects.toMatchObject({
      code: "timeout",
      message: "tools/call got no answer within 15 ms (timeoutMs)",
    });
    expect(server.cancelled).toEqual([2]);
    expect(server.open).toBe(0);
    await client.close();
  });

  it("progress restarts the timeout, up to the cap", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    try {
      let progress = 0;
      const server = scripted({
        "tools/call": (_, { id, notify, signal }) =>
          new Promise((resolve) => {
            const tick = () => {
              if (signal.aborted) return;
              notify("notifications/progress", { progressToken: id, progress: ++progress });
              if (progress === 20) resolve(done);
              else setTimeout(tick, 50);
            };
            tick();
          }),
      });
      const client = await clientOf(server);
      const onProgress = () => {};
      const patient = client.callTool("a", {}, { timeoutMs: 60, onProgress });
      await vi.advanceTimersByTimeAsync(2_000);
      expect(await patient).toEqual(done);

      progress = 0;
      const capped = client.callTool("a", {}, { timeoutMs: 60, maxTimeoutMs: 230, onProgress });
      const failure = expect(capped).rejects.toMatchObject({
        code: "timeout",
        message: "tools/call did not finish within 230 ms (maxTimeoutMs)",
      });
      await vi.advanceTimersByTimeAsync(2_000);
      await failure;
      expect(progress).toBe(5);
      expect(server.cancelled).toEqual([3]);
      await client.close();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it("a timeout longer than the default cap raises the cap", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    try {
      const client = await clientOf(scripted({ "tools/call": never }));
      const failure = expect(client.callTool("a", {}, { timeoutMs: 700_000 })).rejects.toThrow(
        /within 700000 ms \(timeoutMs\)/,
      );
      await vi.advanceTimersByTimeAsync(700_000);
      await failure;
      await client.close();
    } finally {
      vi.useRealTimers();
    }
  });

  it("an abort cancels, before and during; no listener stays behind on a shared signal", async () => {
    const started = gate();
    const server = scripted({
      "tools/call": ({ name }) => {
        if (name === "quick") return done;
        started.open();
        return never();
      },
    });
    const client = await clientOf(server);
    const controller = new AbortController();
    const { signal } = controller;
    for (let call = 0; call < 20; call += 1) await client.callTool("quick", {}, { signal });
    expect(getEventListeners(signal, "abort")).toHaveLength(0);

    const calls = Array.from({ length: 50 }, () => client.callTool("slow", {}, { signal }));
    const outcomes = Promise.allSettled(calls);
    await started.passed;
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    const reason = new Error("enough");
    controller.abort(reason);
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "aborted", cause: reason } });
    }
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
    expect(server.cancelled).toHaveLength(50);
    expect(server.open).toBe(0);

    const before = server.requests.length;
    await expect(client.callTool("quick", {}, { signal })).rejects.toMatchObject({ code: "aborted" });
    expect(server.requests).toHaveLength(before);
    await client.close();
  });

  it("no timer is left after an answer", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const client = await clientOf(scripted({ "tools/call": () => done }));
      await client.callTool("a");
      expect(vi.getTimerCount()).toBe(0);
      await client.callTool(
        "a",
        {},
        { timeoutMs: Number.POSITIVE_INFINITY, maxTimeoutMs: Number.POSITIVE_INFINITY },
      );
      await client.close();
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("answers", () => {
  it("an error response becomes protocol_error, with code and data in the cause", async () => {
    const server = scripted({
      "resources/read": () => {
        throw new ProtocolError(-32602, "Resource not found", { uri: "file:///x" });
      },
    });
    const client = await clientOf(server);
    const failure = (await client.readResource("file:///x").catch((error: unknown) => error)) as McpError;
    expect(failure).toMatchObject({
      code: "protocol_error",
      message: "resources/read: Resource not found (-32602)",
    });
    expect(failure.cause).toBeInstanceOf(ProtocolError);
    expect(failure.cause).toMatchObject({ code: -32602, data: { uri: "file:///x" } });
    await client.close();
  });

  it("-32022 on a later request is an unsupported version", async () => {
    const server = scripted({
      "tools/call": () => {
        throw new ProtocolError(-32022, "Unsupported", { supported: ["2027-01-01"] });
      },
    });
    const client = await clientOf(server);
    await expect(client.callTool("a")).rejects.toMatchObject({
      code: "unsupported_version",
      cause: { code: -32022 },
    });
    await client.close();
  });

  it.each([
    ["tools/call", { content: "text" }, /tools\/call: expected "content" to be an array, got "text"/],
    ["tools/call", { resultType: "task", content: [] }, /a task, which this client did not declare/],
    ["tools/call", [], /expected a result object/],
    ["resources/read", {}, /"contents" to be an array, got undefined/],
    ["prompts/get", { messages: null }, /"messages" to be an array, got null/],
    ["completion/complete", { values: [] }, /"completion" to be an object/],
    [
      "completion/complete",
      { completion: { values: [1] } },
      /"completion.values" to be an array of strings, got \[1\]/,
    ],
    ["tools/list", { tools: {} }, /"tools" to be an array/],
    ["tools/list", { tools: [], nextCursor: 3 }, /"nextCursor" to be a string, got 3/],
    ["prompts/list", { prompts: [], resultType: "input_required", requestState: "" }, /does not allow/],
  ])("%s is held to its shape (%#)", async (method, result, message) => {
    const client = await clientOf(scripted({ [method]: () => result }));
    const calls: Record<string, () => Promise<unknown>> = {
      "tools/call": () => client.callTool("a"),
      "resources/read": () => client.readResource("file:///a"),
      "prompts/get": () => client.getPrompt("a"),
      "completion/complete": () =>
        client.complete({ type: "ref/prompt", name: "a" }, { name: "b", value: "" }),
      "tools/list": () => client.listTools(),
      "prompts/list": () => client.listPrompts(),
    };
    await expect(calls[method]?.()).rejects.toMatchObject({
      code: "invalid_response",
      message: expect.stringMatching(message),
    });
    await client.close();
  });

  it("an absent resultType means complete, and unknown members are passed on", async () => {
    const result = { content: [], structuredContent: null, extra: [1], _meta: { a: 1 } };
    const client = await clientOf(scripted({ "tools/call": () => result }));
    expect(await client.callTool("a")).toEqual(result);
    await client.close();
  });

  it("complete sends settled arguments as its context", async () => {
    const server = scripted({ "completion/complete": () => ({ completion: { values: ["python"] } }) });
    const client = await clientOf(server);
    const ref = { type: "ref/prompt", name: "review" } as const;
    const result = await client.complete(ref, { name: "framework", value: "fla" }, { language: "python" });
    expect(result.completion.values).toEqual(["python"]);
    const { _meta, ...params } = server.requests[1]?.params ?? {};
    expect(params).toEqual({
      ref,
      argument: { name: "framework", value: "fla" },
      context: { arguments: { language: "python" } },
    });
    await client.close();
  });

  it("request sends anything, and returns it as it came", async () => {
    const server = scripted({ "com.example/x": ({ a }) => ({ doubled: (a as number) * 2 }) });
    const client = await clientOf(server);
    expect(await client.request("com.example/x", { a: 2 })).toEqual({ doubled: 4 });
    await client.close();
  });

  it("misuse is a TypeError that names the argument, and nothing is sent", async () => {
    const server = scripted({});
    const client = await clientOf(server);
    await expect(client.callTool(7 as never)).rejects.toThrow(
      new TypeError("name: expected a string, got 7"),
    );
    await expect(client.callTool("a", [] as never)).rejects.toThrow(TypeError);
    await expect(client.readResource(new URL("file:///a") as never)).rejects.toThrow(/uri/);
    await expect(client.getPrompt("a", { n: 1 } as never)).rejects.toThrow(
      /args\.n: expected a string, got 1/,
    );
    await expect(client.request("")).rejects.toMatchObject({ code: "protocol_error" });
    expect(server.requests).toHaveLength(2);
    await client.close();
  });
});

describe("closing", () => {
  it("ends what is in flight, closes the transport once, and refuses later calls", async () => {
    const started = gate();
    const server = scripted({
      "tools/call": () => {
        started.open();
        return never();
      },
    });
    const client = await clientOf(server);
    const running = client.callTool("a");
    const ended = expect(running).rejects.toMatchObject({ code: "closed" });
    await started.passed;
    await Promise.all([client.close(), client.close()]);
    await ended;
    expect([server.closes, server.open]).toEqual([1, 0]);
    await expect(client.callTool("a")).rejects.toMatchObject({
      code: "closed",
      message: expect.stringContaining("tools/call"),
    });
    await expect(client.listTools()).rejects.toMatchObject({ code: "closed" });
    await expect(client.request("x")).rejects.toMatchObject({ code: "closed" });
    expect(() => client.listen({})).toThrow(expect.objectContaining({ code: "closed" }));
    await client[Symbol.asyncDispose]();
    expect(server.closes).toBe(1);
  });
});
