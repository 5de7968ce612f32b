/** Fulfil and retry (patterns/mrtr, client/elicitation, client/sampling, client/roots). */
import { describe, expect, it, vi } from "vitest";
import type { InputContext } from "../../src/client/input-handlers.js";
import type { ClientOptions } from "../../src/client/options.js";
import type { ElicitResult } from "../../src/protocol/input-requests.js";
import { type Act, clientOf, gate, never, scripted } from "./scripted.js";

const text = { content: [{ type: "text", text: "done" }] };
const form = (message = "Name?", properties: Record<string, unknown> = { name: { type: "string" } }) => ({
  method: "elicitation/create",
  params: { message, requestedSchema: { type: "object", properties } },
});
const ask = (inputRequests: unknown, requestState?: string) => ({
  resultType: "input_required",
  inputRequests,
  ...(requestState !== undefined && { requestState }),
});
/** A server that asks once, then is content. */
const asksOnce = (inputRequests: unknown, requestState?: string): Act => {
  return (params) => ("inputResponses" in params ? text : ask(inputRequests, requestState));
};
const bare = (params: Record<string, unknown> | undefined) => {
  const { _meta, ...rest } = params ?? {};
  return rest;
};

describe("the loop", () => {
  it("answers, and retries under a new id with the original parameters and the state as it came", async () => {
    const state = '{"not":"json to us"}\u0000 ü ';
    const server = scripted({
      "tools/call": asksOnce({ login: form(), where: { method: "roots/list" } }, state),
    });
    const client = await clientOf(server, {
      onElicit: ({ message }) => ({ action: "accept", content: { name: message } }),
      roots: [{ uri: "file:///work", name: "Work" }],
    });
    expect(await client.callTool("t", { a: 1 }, { _meta: { traceparent: "00-1" } })).toEqual(text);
    const [first, second] = server.sent("tools/call");
    expect(bare(first?.params)).toEqual({ name: "t", arguments: { a: 1 } });
    expect(bare(second?.params)).toEqual({
      name: "t",
      arguments: { a: 1 },
      inputResponses: {
        login: { action: "accept", content: { name: "Name?" } },
        where: { roots: [{ uri: "file:///work", name: "Work" }] },
      },
      requestState: state,
    });
    expect(second?.id).not.toBe(first?.id);
    expect(second?.params?.["_meta"]).toMatchObject({ traceparent: "00-1" });
    await client.close();
  });

  it("sends no state where none came, and none of an earlier round", async () => {
    const server = scripted({
      "prompts/get": ({ inputResponses, requestState }) => {
        if (inputResponses === undefined) return ask({ a: form() }, "s1");
        return requestState === "s1" ? ask({ b: form() }) : { messages: [] };
      },
    });
    const client = await clientOf(server, { onElicit: () => ({ action: "decline" }) });
    await client.getPrompt("p");
    expect(server.sent("prompts/get").map(({ params }) => bare(params))).toEqual([
      { name: "p" },
      { name: "p", inputResponses: { a: { action: "decline" } }, requestState: "s1" },
      { name: "p", inputResponses: { b: { action: "decline" } } },
    ]);
    await client.close();
  });

  it("an empty state is a state, and a key is only a key", async () => {
    const requests = JSON.parse(
      `{"__proto__":${JSON.stringify(form())},"toString":${JSON.stringify(form())}}`,
    ) as unknown;
    const seen: unknown[] = [];
    const server = scripted({
      "tools/call": (params) => {
        if (!("inputResponses" in params)) return ask(requests, "");
        seen.push(Object.entries(params["inputResponses"] as object), params["requestState"]);
        return text;
      },
    });
    const client = await clientOf(server, { onElicit: () => ({ action: "cancel" }) });
    await client.callTool("t");
    expect(seen).toEqual([
      [
        ["__proto__", { action: "cancel" }],
        ["toString", { action: "cancel" }],
      ],
      "",
    ]);
    await client.close();
  });

  it("with state alone retries at once, then with growing pauses, within bounds", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    try {
      const times: number[] = [];
      const server = scripted({
        "tools/call": () => {
          times.push(Date.now());
          return times.length < 6 ? { resultType: "input_required", requestState: `s${times.length}` } : text;
        },
      });
      const client = await clientOf(server, { limits: { maxStatePauseMs: 300 } });
      const call = client.callTool("t");
      await vi.advanceTimersByTimeAsync(5_000);
      expect(await call).toEqual(text);
      // Two at once, then after 100, 200 and twice 300 ms.
      expect(times.map((time) => time - times[0]!)).toEqual([0, 0, 100, 300, 600, 900]);
      expect(server.sent("tools/call").map(({ params }) => params?.["requestState"])).toEqual([
        undefined,
        "s1",
        "s2",
        "s3",
        "s4",
        "s5",
      ]);
      await client.close();
    } finally {
      vi.useRealTimers();
    }
  });

  it("ends after too many rounds of either kind", async () => {
    const server = scripted({
      "tools/call": ({ name }) =>
        name === "asks" ? ask({ a: form() }, "s") : { resultType: "input_required", requestState: "s" },
    });
    const onElicit = vi.fn(() => ({ action: "decline" }) as const);
    const client = await clientOf(server, { onElicit, limits: { maxStateRounds: 3, statePauseMs: 0 } });
    await expect(client.callTool("asks")).rejects.toMatchObject({
      code: "input_unavailable",
      message: expect.stringContaining("more than 10 rounds of questions"),
    });
    expect(onElicit).toHaveBeenCalledTimes(10);
    expect(server.sent("tools/call")).toHaveLength(11);
    await expect(client.callTool("waits")).rejects.toMatchObject({
      code: "input_unavailable",
      message: expect.stringContaining("more than 3 rounds of retries"),
    });
    expect(server.sent("tools/call")).toHaveLength(15);
    await client.close();
  });

  it("is not entered where the caller wants the questions", async () => {
    const server = scripted({ "tools/call": () => ask({ a: form() }, "s") });
    const client = await clientOf(server);
    const result = await client.request("tools/call", { name: "t" }, { fulfil: false });
    expect(result).toMatchObject({ resultType: "input_required", requestState: "s" });
    await client.close();
  });

  it.each([
    ["nothing", { resultType: "input_required" }, /expected input_required with/],
    ["a list", { resultType: "input_required", inputRequests: [] }, /expected input_required with/],
    ["a state that is no string", { resultType: "input_required", requestState: 7 }, /"requestState":7/],
    ["a question that is none", ask({ a: "elicit" }), /inputRequests\["a"\]: expected a request/],
    [
      "an elicitation without a message",
      ask({ a: { method: "elicitation/create", params: {} } }),
      /with a message/,
    ],
    [
      "a form without fields",
      ask({ a: { method: "elicitation/create", params: { message: "m", requestedSchema: true } } }),
      /requestedSchema has properties/,
    ],
    [
      "a URL that is none",
      ask({ a: { method: "elicitation/create", params: { mode: "url", message: "m", url: "nowhere" } } }),
      /valid url/,
    ],
    [
      "sampling without messages",
      ask({ a: { method: "sampling/createMessage", params: {} } }),
      /with messages/,
    ],
  ])("refuses %s", async (_, result, message) => {
    const server = scripted({ "tools/call": () => result });
    const client = await clientOf(server, {
      onElicit: () => ({ action: "cancel" }),
      onElicitUrl: () => ({ action: "cancel" }),
      onSample: () => ({ role: "assistant", model: "m", content: [] }),
    });
    await expect(client.callTool("t")).rejects.toMatchObject({
      code: "invalid_response",
      message: expect.stringMatching(message),
    });
    expect(server.sent("tools/call")).toHaveLength(1);
    await client.close();
  });
});

describe("who answers", () => {
  it.each<[string, unknown, Partial<ClientOptions>, RegExp]>([
    ["a form", form(), {}, /form mode.*"a".*onElicit would answer it/],
    ["a form in a URL client", form(), { onElicitUrl: () => ({ action: "cancel" }) }, /form mode/],
    [
      "a URL",
      { method: "elicitation/create", params: { mode: "url", message: "m", url: "https://example.com" } },
      { onElicit: () => ({ action: "cancel" }) },
      /URL mode.*onElicitUrl/,
    ],
    [
      "a mode nobody knows",
      { method: "elicitation/create", params: { mode: "voice", message: "m" } },
      {},
      /mode "voice"/,
    ],
    [
      "sampling",
      { method: "sampling/createMessage", params: { messages: [] } },
      {},
      /sampling\/createMessage.*onSample/,
    ],
    [
      "sampling with tools",
      { method: "sampling/createMessage", params: { messages: [], tools: [] } },
      { onSample: () => ({ role: "assistant", model: "m", content: [] }) },
      /with tools.*sampling\.tools/,
    ],
    ["roots", { method: "roots/list" }, {}, /roots\/list.*options\.roots/],
    ["something new", { method: "com.example/ask", params: {} }, {}, /"com\.example\/ask"/],
  ])("%s without a handler is refused by name, and nothing is sent", async (_, request, options, message) => {
    const server = scripted({ "tools/call": asksOnce({ a: request }) });
    const client = await clientOf(server, options);
    await expect(client.callTool("t")).rejects.toMatchObject({
      code: "input_unavailable",
      message: expect.stringMatching(message),
    });
    expect(server.sent("tools/call")).toHaveLength(1);
    await client.close();
  });

  it("nobody is asked where one question of a round cannot be answered", async () => {
    const server = scripted({ "tools/call": asksOnce({ a: form(), b: { method: "roots/list" } }) });
    const onElicit = vi.fn(() => ({ action: "cancel" }) as const);
    const client = await clientOf(server, { onElicit });
    await expect(client.callTool("t")).rejects.toMatchObject({ code: "input_unavailable" });
    expect(onElicit).not.toHaveBeenCalled();
    await client.close();
  });

  it("too many questions at once are refused", async () => {
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`q${index}`, form()]));
    const server = scripted({ "tools/call": asksOnce(many) });
    const client = await clientOf(server, { onElicit: () => ({ action: "cancel" }) });
    await expect(client.callTool("t")).rejects.toMatchObject({
      code: "limit_exceeded",
      message: expect.stringContaining("33 questions"),
    });
    await client.close();
  });

  it("handlers learn who asks and why", async () => {
    let context: InputContext | undefined;
    const server = scripted({ "tools/call": asksOnce({ login: form(), where: { method: "roots/list" } }) });
    const client = await clientOf(server, {
      roots: [],
      onElicit: (_, given) => {
        context = given;
        return { action: "cancel" };
      },
    });
    await client.callTool("t", { a: 1 });
    expect(context).toMatchObject({
      key: "login",
      requests: { login: form(), where: { method: "roots/list" } },
      method: "tools/call",
      params: { name: "t", arguments: { a: 1 } },
      server: { name: "scripted", version: "1.2.3" },
    });
    expect(context?.signal.aborted).toBe(false);
    await client.close();
  });

  it("a handler that throws fails the call with its error as the cause; the others are told", async () => {
    const told = gate<unknown>();
    const server = scripted({
      "tools/call": asksOnce({
        a: form(),
        b: { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } },
      }),
    });
    const mistake = new Error("no terminal");
    const client = await clientOf(server, {
      onElicit: () => {
        throw mistake;
      },
      onSample: (_, { signal }) => {
        signal.addEventListener("abort", () => told.open(signal.reason));
        return never();
      },
    });
    await expect(client.callTool("t")).rejects.toMatchObject({
      code: "input_unavailable",
      message: expect.stringContaining('"a" could not be answered: no terminal'),
      cause: mistake,
    });
    expect(await told.passed).toMatchObject({ cause: mistake });
    expect(server.sent("tools/call")).toHaveLength(1);
    await client.close();
  });

  it("model and roots are asked in parallel, a person one form at a time, over all calls of the client", async () => {
    const samples = [gate(), gate()];
    let forms = 0;
    let sampling = 0;
    const order: string[] = [];
    const bothSampling = gate();
    const server = scripted({
      "tools/call": ({ name, ...params }) =>
        asksOnce({
          [`${name}-1`]: form(`${name}-1`),
          [`${name}-2`]: form(`${name}-2`),
          sample: { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } },
        })(params, undefined as never),
    });
    const client = await clientOf(server, {
      onElicit: async ({ message }) => {
        forms += 1;
        expect(forms).toBe(1);
        order.push(message);
        await new Promise((resolve) => setTimeout(resolve, 2));
        forms -= 1;
        return { action: "decline" };
      },
      onSample: async () => {
        const index = sampling++;
        if (sampling === 2) bothSampling.open();
        await samples[index]?.passed;
        return { role: "assistant", model: "m", content: [] };
      },
    });
    const calls = Promise.all([client.callTool("x"), client.callTool("y")]);
    await bothSampling.passed;
    for (const sample of samples) sample.open();
    await calls;
    expect(order).toHaveLength(4);
    await client.close();
  });

  it("an abort while somebody thinks ends the call, tells the handler, and lets the next be asked", async () => {
    const asked = gate<AbortSignal>();
    const server = scripted({ "tools/call": asksOnce({ a: form() }, "s") });
    let first = true;
    const client = await clientOf(server, {
      onElicit: (_, { signal }) => {
        if (!first) return { action: "decline" };
        first = false;
        asked.open(signal);
        return never();
      },
    });
    const controller = new AbortController();
    const call = client.callTool("t", {}, { signal: controller.signal });
    const failure = expect(call).rejects.toMatchObject({ code: "aborted" });
    const signal = await asked.passed;
    controller.abort();
    await failure;
    expect(signal.aborted).toBe(true);
    expect(await client.callTool("t")).toEqual(text);
    await client.close();
  });

  it("a form that is no longer wanted when its turn comes is not shown", async () => {
    const shown: string[] = [];
    const first = gate();
    const asked = gate();
    const server = scripted({
      "tools/call": ({ name, ...params }) =>
        asksOnce({ a: form(name as string) })(params, undefined as never),
    });
    const client = await clientOf(server, {
      onElicit: async ({ message }) => {
        shown.push(message);
        if (message === "one") {
          asked.open();
          await first.passed;
          shown.push("one is gone");
        }
        return { action: "decline" };
      },
    });
    const controller = new AbortController();
    const one = client.callTool("one");
    await asked.passed;
    const two = expect(client.callTool("two", {}, { signal: controller.signal })).rejects.toMatchObject({
      code: "aborted",
    });
    const three = client.callTool("three");
    while (server.sent("tools/call").length < 3) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    await two;
    await new Promise((resolve) => setImmediate(resolve));
    first.open();
    await Promise.all([one, three]);
    expect(shown).toEqual(["one", "one is gone", "three"]);
    await client.close();
  });

  it("closing the client ends a call that waits for a person", async () => {
    const asked = gate();
    const server = scripted({ "tools/call": asksOnce({ a: form() }, "s") });
    const client = await clientOf(server, {
      onElicit: () => {
        asked.open();
        return never();
      },
    });
    const failure = expect(client.callTool("t")).rejects.toMatchObject({ code: "closed" });
    await asked.passed;
    await client.close();
    await failure;
  });

  it("the time a person takes does not count", async () => {
    const server = scripted({ "tools/call": asksOnce({ a: form() }) });
    const client = await clientOf(server, {
      onElicit: async () => {
        await new Promise((resolve) => setTimeout(resolve, 60));
        return { action: "decline" };
      },
    });
    expect(await client.callTool("t", {}, { timeoutMs: 30, maxTimeoutMs: 30 })).toEqual(text);
    await client.close();
  });
});

describe("what is answered", () => {
  const answering = async (
    given: unknown,
    properties?: Record<string, unknown>,
    options: Partial<ClientOptions> = {},
  ) => {
    const server = scripted({ "tools/call": asksOnce({ a: form("m", properties) }) });
    const client = await clientOf(server, { onElicit: () => given as ElicitResult, ...options });
    try {
      await client.callTool("t");
      return (
        server.sent("tools/call")[1]?.params?.["inputResponses"] as Record<string, unknown> | undefined
      )?.["a"];
    } finally {
      await client.close();
    }
  };

  it.each([
    [{ action: "cancel", content: null }],
    [{ action: "decline", content: { name: 7, nonsense: {} } }],
    [{ action: "cancel" }],
  ])("content is looked at only on accept (case 17, %#)", async (given) => {
    expect(await answering(given)).toEqual({ action: given.action });
  });

  it("accepted content is checked against the form, and the error names the field", async () => {
    expect(await answering({ action: "accept", content: { name: "octocat" } })).toEqual({
      action: "accept",
      content: { name: "octocat" },
    });
    await expect(answering({ action: "accept", content: { name: 7 } })).rejects.toMatchObject({
      code: "input_unavailable",
      message: expect.stringContaining('field "name": expected a string, got 7'),
      cause: expect.any(TypeError),
    });
    expect(await answering({ action: "accept", content: null })).toEqual({ action: "accept", content: {} });
  });

  it("defaults are filled in only where that was asked for", async () => {
    const fields = { name: { type: "string", default: "nobody" }, age: { type: "integer" } };
    const given = { action: "accept", content: { age: 3 } };
    expect(await answering(given, fields)).toEqual(given);
    expect(await answering(given, fields, { elicitDefaults: true })).toEqual({
      action: "accept",
      content: { age: 3, name: "nobody" },
    });
  });

  it.each([[undefined], [{}], [{ action: "yes" }], ["accept"]])(
    "an action that is none is refused (%#)",
    async (given) => {
      await expect(answering(given)).rejects.toMatchObject({
        code: "input_unavailable",
        message: expect.stringContaining('"accept", "decline" or "cancel"'),
      });
    },
  );

  it("URL mode answers with an action alone", async () => {
    const server = scripted({
      "tools/call": asksOnce({
        a: {
          method: "elicitation/create",
          params: { mode: "url", message: "Sign in", url: "https://example.com/a" },
        },
      }),
    });
    const onElicitUrl = vi.fn(() => ({ action: "accept", content: { a: "b" } }) as const);
    const client = await clientOf(server, { onElicitUrl });
    await client.callTool("t");
    expect(onElicitUrl.mock.lastCall).toMatchObject([
      { url: "https://example.com/a", message: "Sign in" },
      { key: "a" },
    ]);
    expect(server.sent("tools/call")[1]?.params?.["inputResponses"]).toEqual({ a: { action: "accept" } });
    await client.close();
  });

  it("sampling passes on what the model said, and refuses what is no message", async () => {
    const server = scripted({
      "tools/call": asksOnce({
        a: { method: "sampling/createMessage", params: { messages: [], maxTokens: 5, tools: [] } },
      }),
    });
    const message = {
      role: "assistant",
      model: "m",
      stopReason: "toolUse",
      content: [{ type: "tool_use", id: "1", name: "n", input: {} }],
    } as const;
    const client = await clientOf(server, {
      onSample: () => ({ ...message, content: [...message.content] }),
      sampling: { tools: true },
    });
    await client.callTool("t");
    expect(server.sent("tools/call")[1]?.params?.["inputResponses"]).toEqual({ a: message });
    await client.close();

    const wrong = await clientOf(
      scripted({
        "tools/call": asksOnce({ a: { method: "sampling/createMessage", params: { messages: [] } } }),
      }),
      {
        onSample: () => ({ text: "hi" }) as never,
      },
    );
    await expect(wrong.callTool("t")).rejects.toMatchObject({
      message: expect.stringContaining("role, content and model"),
    });
    await wrong.close();
  });

  it("roots of a function are asked for each time, and checked", async () => {
    const server = scripted({ "tools/call": asksOnce({ a: { method: "roots/list" } }) });
    let uri = "file:///a";
    const client = await clientOf(server, { roots: async () => [{ uri }] });
    await client.callTool("t");
    expect(server.sent("tools/call")[1]?.params?.["inputResponses"]).toEqual({
      a: { roots: [{ uri: "file:///a" }] },
    });
    uri = "https://example.com";
    await expect(client.callTool("t")).rejects.toMatchObject({
      message: expect.stringContaining("roots[0].uri"),
    });
    await client.close();
  });
});
