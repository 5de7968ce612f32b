/** What a server of an earlier revision asks its client for, answered by the handlers of any other client. */
import { describe, expect, it, vi } from "vitest";
import { legacyTransport } from "../../../src/legacy/client/transport.js";
import { ProtocolError } from "../../../src/protocol/errors.js";
import type { ElicitFormParams, ElicitResult, InputRequest } from "../../../src/protocol/input-requests.js";
import type { JSONRPCRequest, JSONRPCResultResponse, Result } from "../../../src/protocol/types.js";
import { type Act, clientOf, oldServer, text, textOf } from "./old-server.js";

const form = (message: string) => ({
  message,
  requestedSchema: { type: "object", properties: { name: { type: "string" } } },
});
const accept = (name: string): ElicitResult => ({ action: "accept", content: { name } });
/** Asks one form after the other, and says what was answered. */
const asks =
  (...messages: string[]): Act =>
  async (_, { ask }) => {
    const answers = [];
    for (const message of messages) answers.push((await ask("elicitation/create", form(message))).result);
    return text(answers);
  };
const never = () => new Promise<never>(() => {});

describe("a question during a request", () => {
  it("is asked of the handler that answers modern servers", async () => {
    const server = oldServer("2025-06-18", { "tools/call": asks("Who?") });
    const seen: unknown[] = [];
    const { client } = await clientOf(server, {
      onElicit: (request, { method, params, server, key }) => {
        seen.push({ request, method, params, server, key });
        return accept("Ann");
      },
    });
    expect(JSON.parse(textOf(await client.callTool("t", { a: 1 })))).toEqual([accept("Ann")]);
    expect(seen).toEqual([
      {
        request: form("Who?"),
        method: "tools/call",
        params: { name: "t", arguments: { a: 1 } },
        server: { name: "old", version: "0.9.0" },
        key: "elicitation-1",
      },
    ]);
    expect(server.of("tools/call")).toHaveLength(1);
  });

  it.each([
    [{ action: "decline" } as const, { action: "decline" }],
    [{ action: "cancel", content: null } as const, { action: "cancel" }],
  ])("may be answered %j (case 17)", async (given, expected) => {
    const server = oldServer("2025-11-25", { "tools/call": asks("Who?") });
    const { client } = await clientOf(server, { onElicit: () => given });
    expect(JSON.parse(textOf(await client.callTool("t")))).toEqual([expected]);
  });

  it("may be followed by others, each in a round of its own, with progress of every exchange", async () => {
    const server = oldServer("2025-11-25", {
      "tools/call": async ({ _meta }, { ask, notify }) => {
        const { progressToken } = _meta as { progressToken: number };
        for (const progress of [1, 2, 3]) {
          notify("notifications/progress", { progressToken, progress });
          await ask("elicitation/create", form(String(progress)));
        }
        notify("notifications/progress", { progressToken, progress: 4 });
        return text("done");
      },
    });
    const asked: string[] = [];
    const progress: number[] = [];
    const { client } = await clientOf(server, {
      onElicit: ({ message }) => {
        asked.push(message);
        return accept(message);
      },
    });
    await client.callTool("t", {}, { onProgress: (one) => progress.push(one.progress) });
    expect([asked, progress]).toEqual([
      ["1", "2", "3"],
      [1, 2, 3, 4],
    ]);
  });

  it("makes one round with those that come together", async () => {
    const server = oldServer("2025-11-25", {
      "tools/call": async (_, { ask }) => {
        const answers = await Promise.all([
          ask("elicitation/create", form("a")),
          ask("roots/list"),
          ask("sampling/createMessage", { messages: [], maxTokens: 5 }),
        ]);
        return text(answers.map(({ result }) => result));
      },
    });
    const { client } = await clientOf(server, {
      onElicit: () => accept("Ann"),
      roots: [{ uri: "file:///a" }],
      onSample: () => ({ role: "assistant", model: "m", content: { type: "text", text: "hi" } }),
    });
    const first = await client.request("tools/call", { name: "t" }, { fulfil: false });
    expect(first).toEqual({
      resultType: "input_required",
      requestState: expect.any(String),
      inputRequests: {
        "elicitation-1": { method: "elicitation/create", params: form("a") },
        "roots-2": { method: "roots/list" },
        "sampling-3": { method: "sampling/createMessage", params: { messages: [], maxTokens: 5 } },
      },
    });
    const inputResponses = {
      "elicitation-1": accept("Ann"),
      "roots-2": { roots: [] },
      "sampling-3": { role: "assistant", model: "m", content: { type: "text", text: "hi" } },
    };
    const { requestState } = first;
    const last = await client.request("tools/call", { name: "t", requestState, inputResponses });
    expect(JSON.parse(textOf(last as { content: unknown }))).toEqual(Object.values(inputResponses));
    expect(server.of("tools/call")).toHaveLength(1);
  });

  it("that was left without an answer is asked again", async () => {
    const server = oldServer("2025-11-25", { "tools/call": asks("Who?") });
    const { client } = await clientOf(server, { onElicit: () => accept("Ann") });
    const raw = (params: object) => client.request("tools/call", { name: "t", ...params }, { fulfil: false });
    const { requestState, inputRequests } = await raw({});
    const again = await raw({ requestState, inputResponses: { other: accept("x") } });
    expect(again).toMatchObject({
      resultType: "input_required",
      requestState,
      inputRequests: inputRequests as object,
    });
    const last = await raw({ requestState, inputResponses: { "elicitation-1": accept("Bo") } });
    expect(textOf(last as { content: unknown })).toContain("Bo");
  });

  it("may be asked by prompts and resources, too", async () => {
    const server = oldServer("2025-11-25", {
      "resources/read": async ({ uri }, { ask }) => {
        const { result } = await ask("elicitation/create", form("Sure?"));
        return { contents: [{ uri, text: String(result?.["action"]) }] };
      },
      "prompts/get": async (_, { ask }) => {
        await ask("roots/list");
        return { messages: [] };
      },
    });
    const { client } = await clientOf(server, { onElicit: () => ({ action: "decline" }), roots: [] });
    expect((await client.readResource("a:b")).contents).toMatchObject([{ text: "decline" }]);
    expect(await client.getPrompt("p")).toMatchObject({ messages: [] });
  });

  it("does not count against the time of the request", async () => {
    const server = oldServer("2025-11-25", { "tools/call": asks("Who?") });
    const { client } = await clientOf(server, {
      onElicit: async () => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        return accept("Ann");
      },
    });
    expect(textOf(await client.callTool("t", {}, { timeoutMs: 200 }))).toContain("Ann");
  });
});

describe("who is not asked", () => {
  it("a client that did not declare it", async () => {
    const server = oldServer("2025-11-25", {
      "tools/call": async ({ name, arguments: params }, { ask }) =>
        text((await ask(name as string, params as Record<string, unknown>)).error?.code),
    });
    const plain = await clientOf(server);
    const withForms = await clientOf(server, { onElicit: () => accept("Ann") });
    const withModel = await clientOf(server, {
      onSample: () => ({ role: "assistant", model: "m", content: { type: "text", text: "" } }),
    });
    const code = async ({ client }: typeof plain, method: string, params: Record<string, unknown> = {}) =>
      Number(textOf(await client.callTool(method, params)));
    expect(await code(plain, "elicitation/create", form("x"))).toBe(-32601);
    expect(await code(plain, "sampling/createMessage")).toBe(-32601);
    expect(await code(plain, "roots/list")).toBe(-32601);
    // "Server sends an `elicitation/create` request with a mode not declared in client capabilities".
    expect(await code(withForms, "elicitation/create", { mode: "url", url: "https://a.b" })).toBe(-32602);
    expect(await code(withForms, "elicitation/create", { mode: "dance" })).toBe(-32602);
    expect(await code(withModel, "sampling/createMessage", { tools: [] })).toBe(-32602);
  });
});

describe("a question outside of requests", () => {
  it("is answered by the same handlers, at once", async () => {
    const server = oldServer("2025-11-25");
    const contexts: unknown[] = [];
    await clientOf(server, {
      roots: ({ method }) => {
        contexts.push(method);
        return [{ uri: "file:///a" }];
      },
      onElicit: () => accept("Ann"),
    });
    expect(await server.ask("roots/list")).toMatchObject({ result: { roots: [{ uri: "file:///a" }] } });
    expect(await server.ask("elicitation/create", form("Who?"))).toMatchObject({ result: accept("Ann") });
    expect(contexts).toEqual([""]);
  });

  it("or while several requests may be meant, or none that may ask", async () => {
    const release: (() => void)[] = [];
    const hold: Act = () =>
      new Promise((resolve) => release.push(() => resolve({ ...text("ok"), tools: [] })));
    const server = oldServer("2025-11-25", { "tools/call": hold, "tools/list": hold });
    const { client } = await clientOf(server, { onElicit: () => accept("Ann") });
    const listing = client.listTools();
    await vi.waitFor(() => expect(release).toHaveLength(1));
    expect(await server.ask("elicitation/create", form("1"))).toMatchObject({ result: accept("Ann") });
    const calls = [client.callTool("a"), client.callTool("b")];
    await vi.waitFor(() => expect(release).toHaveLength(3));
    expect(await server.ask("elicitation/create", form("2"))).toMatchObject({ result: accept("Ann") });
    for (const go of release) go();
    await Promise.all([listing, ...calls]);
  });

  it("that fails is an error, a form is cancelled", async () => {
    const fail = () => {
      throw new Error("out of order");
    };
    const server = oldServer("2025-11-25");
    await clientOf(server, { onElicit: fail, onSample: fail });
    expect(await server.ask("elicitation/create", form("x"))).toMatchObject({ result: { action: "cancel" } });
    expect(await server.ask("sampling/createMessage", { messages: [], maxTokens: 1 })).toMatchObject({
      error: { code: -32603, message: expect.stringContaining("out of order") },
    });
  });

  it("is bounded, and withdrawn by the server or by the end of the session", async () => {
    const signals: AbortSignal[] = [];
    const server = oldServer("2025-11-25");
    const { client } = await clientOf(server, {
      onSample: (_, { signal }) => {
        signals.push(signal);
        return never();
      },
    });
    const params = { messages: [], maxTokens: 1 };
    for (let i = 0; i < 32; i++) void server.ask("sampling/createMessage", params);
    await vi.waitFor(() => expect(signals).toHaveLength(32));
    expect(await server.ask("sampling/createMessage", params)).toMatchObject({ error: { code: -32603 } });
    server.notify("notifications/cancelled", { requestId: "s1" });
    const aborted = () => signals.map(({ aborted }) => aborted);
    await vi.waitFor(() => expect(aborted()).toEqual([true, ...Array(31).fill(false)]));
    await client.close();
    await vi.waitFor(() => expect(aborted()).toEqual(Array(32).fill(true)));
  });
});

describe("an answer that never comes", () => {
  const failing = async (act: Act = asks("Who?")) => {
    const server = oldServer("2025-11-25", { "tools/call": act });
    const { client } = await clientOf(server, {
      onElicit: () => {
        throw new Error("nobody there");
      },
    });
    return { server, client };
  };

  it("takes the request back where the handler fails", async () => {
    const { server, client } = await failing();
    await expect(client.callTool("t")).rejects.toMatchObject({
      code: "input_unavailable",
      message: expect.stringContaining("nobody there"),
    });
    const [call] = server.of("tools/call");
    expect(server.of("notifications/cancelled")[0]?.params).toMatchObject({ requestId: call?.id });
    // The server gets an answer, so that nothing of it waits for ever.
    expect(server.received).toContainEqual({ jsonrpc: "2.0", id: "s1", result: { action: "cancel" } });
  });

  it("takes it back where the caller goes away, while it waits and while somebody is asked", async () => {
    const server = oldServer("2025-11-25", { "tools/call": asks("Who?") });
    const asked: AbortSignal[] = [];
    const { client } = await clientOf(server, {
      onElicit: (_, { signal }) => {
        asked.push(signal);
        return never();
      },
    });
    const controller = new AbortController();
    const calling = client.callTool("t", {}, { signal: controller.signal });
    await vi.waitFor(() => expect(asked).toHaveLength(1));
    controller.abort();
    await expect(calling).rejects.toMatchObject({ code: "aborted" });
    expect(server.of("notifications/cancelled")).toHaveLength(1);
    expect(asked[0]?.aborted).toBe(true);
  });

  it("takes it back after a while, and where too many wait, and refuses what comes then", async () => {
    const server = oldServer("2025-11-25", { "tools/call": asks("Who?") });
    const transport = await legacyTransport(server.openWire, {
      clientInfo: { name: "test", version: "1" },
      clientCapabilities: { elicitation: { form: {} } },
      inputTimeoutMs: 50,
    });
    let id = 0;
    const call = (params: object = {}): JSONRPCRequest => ({
      jsonrpc: "2.0",
      id: ++id,
      method: "tools/call",
      params: { name: "t", ...params },
    });
    const first = ((await transport.exchange(call())) as JSONRPCResultResponse).result;
    await vi.waitFor(() => expect(server.of("notifications/cancelled")).toHaveLength(1));
    const { requestState } = first;
    expect(await transport.exchange(call({ requestState, inputResponses: {} }))).toMatchObject({
      error: { code: -32602, message: expect.stringContaining("requestState") },
    });
    await transport.close();

    const patient = await legacyTransport(server.openWire, {
      clientInfo: { name: "test", version: "1" },
      clientCapabilities: { elicitation: { form: {} } },
    });
    const cancelled = () => server.of("notifications/cancelled").length;
    const before = cancelled();
    for (let i = 0; i < 101; i++) await patient.exchange(call());
    expect(cancelled()).toBe(before + 1);
    await patient.close();
    expect(cancelled()).toBe(before + 101);
    expect(server.open).toBe(0);
  });

  it("is not missed by a server that goes on without it, or that withdraws the question", async () => {
    const server = oldServer("2025-11-25", {
      "tools/call": ({ name }, { ask, notify }) => {
        void ask("elicitation/create", form("Who?"));
        if (name === "withdraw") {
          setTimeout(() => notify("notifications/cancelled", { requestId: "s1" }), 20);
          return new Promise((resolve) => setTimeout(resolve, 40, text("withdrawn")));
        }
        return new Promise((resolve) => setTimeout(resolve, 20, text("went on")));
      },
    });
    const { client } = await clientOf(server, {
      onElicit: () => new Promise((resolve) => setTimeout(resolve, 60, accept("late"))),
    });
    expect(textOf(await client.callTool("withdraw"))).toBe("withdrawn");
    expect(server.received.filter(({ method }) => method === undefined)).toEqual([]);
    expect(textOf(await client.callTool("go on"))).toBe("went on");
    expect(server.received.filter(({ method }) => method === undefined)).toEqual([]);
  });

  it("is told to those who wait for it when the session is lost", async () => {
    const server = oldServer("2025-11-25", { "tools/call": asks("Who?") });
    const { client } = await clientOf(server, {
      onElicit: () => {
        server.breakOff();
        return accept("Ann");
      },
    });
    await expect(client.callTool("t")).rejects.toMatchObject({ code: "connection_lost" });
  });
});

describe("sampling", () => {
  const blocks = [
    { type: "text" as const, text: "one" },
    { type: "text" as const, text: "two" },
  ];
  it.each([
    ["2025-11-25", blocks, blocks],
    ["2025-06-18", blocks, { type: "text", text: "one\ntwo" }],
    ["2024-11-05", [blocks[0]], blocks[0]],
    [
      "2024-11-05",
      [{ type: "audio" as const, data: "UklGRg==", mimeType: "audio/wav" }],
      { type: "text", text: "[audio/wav left out: MCP 2024-11-05 has no audio here]" },
    ],
    [
      "2025-06-18",
      [{ type: "image" as const, data: "UklGRg==", mimeType: "image/png" }],
      { type: "image", data: "UklGRg==", mimeType: "image/png" },
    ],
    ["2025-06-18", [], { type: "text", text: "" }],
  ] as const)("answers a server of %s in its words (%#)", async (version, content, expected) => {
    const server = oldServer(version, {
      "tools/call": async (_, { ask }) =>
        text((await ask("sampling/createMessage", { messages: [], maxTokens: 1 })).result),
    });
    const { client } = await clientOf(server, {
      onSample: () => ({ role: "assistant", model: "m", content: [...content] as never }),
    });
    expect(JSON.parse(textOf(await client.callTool("t")))).toEqual({
      role: "assistant",
      model: "m",
      content: expected,
    });
  });
});

describe("pages that must be visited first", () => {
  const page = (id: string) => ({
    mode: "url",
    elicitationId: id,
    url: `https://a.example/${id}`,
    message: "Sign in",
  });
  const required = (...ids: string[]) =>
    new ProtocolError(-32042, "Sign in first", { elicitations: ids.map(page) });

  it("are asked for, and the request is sent again until they are done with", async () => {
    let refusals = 0;
    const server = oldServer("2025-11-25", {
      "tools/call": () => {
        if (++refusals <= 3) throw required("p");
        return text("in");
      },
    });
    const asked: unknown[] = [];
    const { client } = await clientOf(server, {
      onElicitUrl: (request) => {
        asked.push(request);
        return { action: "accept" };
      },
      limits: { statePauseMs: 1 },
    });
    expect(textOf(await client.callTool("t"))).toBe("in");
    expect(asked).toEqual([page("p")]);
    expect(server.of("tools/call")).toHaveLength(4);
  });

  it("are all asked for, one after the other where the server names them so", async () => {
    const visited: string[] = [];
    const server = oldServer("2025-11-25", {
      "tools/call": () => {
        if (!visited.includes("https://a.example/2")) throw required("1", "2");
        if (!visited.includes("https://a.example/3")) throw required("3");
        return text("in");
      },
    });
    const { client } = await clientOf(server, {
      onElicitUrl: ({ url }) => {
        visited.push(url);
        return { action: "accept" };
      },
    });
    expect(textOf(await client.callTool("t"))).toBe("in");
    expect(visited).toEqual(["https://a.example/1", "https://a.example/2", "https://a.example/3"]);
  });

  it("that are declined leave the refusal", async () => {
    const server = oldServer("2025-11-25", {
      "tools/call": () => {
        throw required("p");
      },
    });
    const { client } = await clientOf(server, { onElicitUrl: () => ({ action: "decline" }) });
    await expect(client.callTool("t")).rejects.toMatchObject({
      code: "protocol_error",
      cause: { code: -32042, message: "Sign in first" },
    });
    expect(server.of("tools/call")).toHaveLength(1);
  });

  it("are an error to a client that visits none, and where none is named", async () => {
    const named = oldServer("2025-11-25", {
      "tools/call": () => {
        throw required("p");
      },
    });
    const unnamed = oldServer("2025-11-25", {
      "tools/call": () => {
        throw new ProtocolError(-32042, "Sign in", { elicitations: [{ url: 7 }] });
      },
    });
    const plain = await clientOf(named, { onElicit: () => accept("x") });
    await expect(plain.client.callTool("t")).rejects.toMatchObject({ cause: { code: -32042 } });
    const visits = await clientOf(unnamed, { onElicitUrl: () => ({ action: "accept" }) });
    await expect(visits.client.callTool("t")).rejects.toMatchObject({ cause: { code: -32042 } });
  });

  it("are asked for after a question that was open when the server thought better of it", async () => {
    let calls = 0;
    const server = oldServer("2025-11-25", {
      "tools/call": async (_, { ask }) => {
        if (++calls > 1) return text("in");
        void ask("elicitation/create", form("Who?"));
        await new Promise((resolve) => setTimeout(resolve, 20));
        throw required("p");
      },
    });
    const asked: string[] = [];
    const { client } = await clientOf(server, {
      onElicit: async ({ message }: ElicitFormParams) => {
        asked.push(message);
        await new Promise((resolve) => setTimeout(resolve, 50));
        return accept("Ann");
      },
      onElicitUrl: ({ url }) => {
        asked.push(url);
        return { action: "accept" };
      },
    });
    expect(textOf(await client.callTool("t"))).toBe("in");
    expect(asked).toEqual(["Who?", "https://a.example/p"]);
  });
});

it("two exchanges cannot bring answers at the same time", async () => {
  const server = oldServer("2025-11-25", {
    "tools/call": async (_, { ask }) => {
      await ask("elicitation/create", form("Who?"));
      return never();
    },
  });
  const transport = await legacyTransport(server.openWire, {
    clientInfo: { name: "test", version: "1" },
    clientCapabilities: { elicitation: { form: {} } },
  });
  const request = { jsonrpc: "2.0" as const, id: 1, method: "tools/call", params: { name: "t" } };
  const { result } = (await transport.exchange(request)) as { result: Result };
  const { requestState } = result;
  const inputResponses = { "elicitation-1": accept("Ann") };
  expect(result["inputRequests"]).toEqual({
    "elicitation-1": { method: "elicitation/create", params: form("Who?") } satisfies InputRequest | object,
  });
  const retry = { ...request, id: 2, params: { name: "t", requestState, inputResponses } };
  const waiting = transport.exchange(retry).catch((error: unknown) => error);
  expect(await transport.exchange({ ...retry, id: 3 })).toMatchObject({
    id: 3,
    error: { code: -32602, message: expect.stringContaining("requestState") },
  });
  await transport.close();
  expect(await waiting).toMatchObject({ code: "closed" });
});
