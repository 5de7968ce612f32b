/** Questions to a client that is asked directly: forms, pages, samples and roots, in the words of each revision. */
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { createServer } from "../../src/server/server.js";
import type { RequestHandler } from "../../src/transport.js";
import { gate } from "../stdio/channel.js";
import { type Answerer, everything, type LegacyClient, legacyClient } from "./everything.js";
import { VERSIONS } from "./legacy-schema.js";

const ALL = { roots: { listChanged: true }, sampling: { tools: {} }, elicitation: { form: {}, url: {} } };

async function open(
  version: string,
  answer?: Answerer,
  capabilities = {},
  limits = {},
): Promise<LegacyClient> {
  const client = legacyClient(everything(), version, { ...(answer && { answer }), limits });
  await client.initialize({ ...ALL, ...capabilities });
  client.received.length = 0;
  return client;
}

async function textOf(client: LegacyClient, name: string, args?: Record<string, unknown>): Promise<string> {
  const { content } = await client.result<{ content: { text: string }[] }>("tools/call", {
    name,
    ...(args && { arguments: args }),
  });
  return content[0]!.text;
}

describe("forms", () => {
  const accept =
    (content: Record<string, unknown>): Answerer =>
    () => ({ action: "accept", content });

  it("go to 2025-11-25 as they are", async () => {
    const client = await open("2025-11-25", accept({ city: "Rome", extras: ["spa"] }));
    expect(JSON.parse(await textOf(client, "book"))).toEqual({
      action: "accept",
      content: { city: "Rome", extras: ["spa"] },
    });
    const [asked] = client.of("elicitation/create");
    expect(asked).toMatchObject({
      params: {
        mode: "form",
        message: "Where to?",
        requestedSchema: {
          properties: {
            city: { default: "Oslo" },
            meal: { oneOf: [{ const: "v", title: "Vegan" }, { const: "m" }] },
            extras: { type: "array", items: { anyOf: [{ const: "wifi" }, { const: "spa" }] } },
          },
        },
      },
    });
  });

  it("go to 2025-06-18 in the fields that it has, and the answer comes back in those that were meant", async () => {
    const client = await open(
      "2025-06-18",
      accept({ city: "Rome", meal: "m", "extras.1": false, "extras.2": true, window: false }),
    );
    expect(JSON.parse(await textOf(client, "book"))).toEqual({
      action: "accept",
      content: { city: "Rome", meal: "m", extras: ["spa"], window: false },
    });
    expect(client.of("elicitation/create")[0]?.params).toEqual({
      message: "Where to?",
      requestedSchema: {
        type: "object",
        properties: {
          city: { type: "string", title: "City", minLength: 2, maxLength: 40 },
          nights: { type: "integer", minimum: 1, maximum: 30 },
          window: { type: "boolean", default: true },
          meal: { type: "string", enum: ["v", "m"], enumNames: ["Vegan", "Meat"] },
          size: { type: "string", enum: ["s", "l"] },
          "extras.1": { type: "boolean", title: "Extras: Wi-Fi", default: true },
          "extras.2": { type: "boolean", title: "Extras: Spa" },
          email: { type: "string", format: "email" },
        },
        required: ["city"],
      },
    });
  });

  it("are asked again where the answer does not fit, with what is wrong", async () => {
    const answers = [{ city: "Rome" }, { city: "R", "extras.1": true }, { city: "Rome", "extras.1": true }];
    const client = await open("2025-06-18", () => ({ action: "accept", content: answers.shift() }));
    expect(JSON.parse(await textOf(client, "book"))).toEqual({
      action: "accept",
      content: { city: "Rome", extras: ["wifi"] },
    });
    const messages = client.of("elicitation/create").map(({ params }) => params?.["message"]);
    expect(messages).toEqual([
      "Where to?",
      expect.stringMatching(/The last answer does not fit: .*extras/s),
      expect.stringMatching(/The last answer does not fit: .*city/s),
    ]);
  });

  it.each(["2025-06-18", "2025-11-25"])(
    "of %s may be declined and cancelled, whatever comes with it",
    async (version) => {
      for (const action of ["decline", "cancel"]) {
        const client = await open(version, () => ({ action, content: { city: 1 } }));
        expect(JSON.parse(await textOf(client, "book"))).toEqual({ action });
      }
      const client = await open(version, () => ({ action: "cancel", content: null }));
      expect(JSON.parse(await textOf(client, "book"))).toEqual({ action: "cancel" });
    },
  );

  it("that the client answers with an error count as cancelled, and the error is reported", async () => {
    const client = await open("2025-11-25", () => ({ error: { code: -32602, message: "no such mode" } }));
    expect(JSON.parse(await textOf(client, "book"))).toEqual({ action: "cancel" });
    expect(client.problems).toEqual([
      "The client answered elicitation/create with error -32602: no such mode",
    ]);
  });

  it("choose names for the options of a choice that no other field has", async () => {
    const server = createServer({ name: "a", version: "1.0.0" });
    server.tool("pick", {}, async (_args, ctx) =>
      JSON.stringify(
        await ctx.elicit("pick", {
          message: "Pick",
          schema: {
            type: "object",
            properties: {
              "of.1": { type: "string" },
              of: { type: "array", items: { type: "string", enum: ["x", "y"] } },
              none: { type: "array", items: { type: "string", enum: ["z"] } },
            },
          },
        }),
      ),
    );
    const client = legacyClient(server, "2025-06-18", {
      answer: () => ({ action: "accept", content: { "of.1": "mine", "of.1_": true, "of.2": true } }),
    });
    await client.initialize({ elicitation: {} });
    expect(JSON.parse(await textOf(client, "pick"))).toEqual({
      action: "accept",
      content: { "of.1": "mine", of: ["x", "y"] },
    });
  });
});

describe("pages", () => {
  it("have an id of their own in 2025-11-25", async () => {
    const client = await open("2025-11-25", () => ({ action: "accept" }));
    expect(JSON.parse(await textOf(client, "visit"))).toEqual({ action: "accept" });
    await textOf(client, "visit");
    const [first, second] = client.of("elicitation/create").map(({ params }) => params);
    expect(first).toMatchObject({
      mode: "url",
      url: "https://example.com/sign-in",
      message: "Please sign in",
    });
    expect(first?.["elicitationId"]).toMatch(/^[0-9a-f-]{36}$/);
    expect(second?.["elicitationId"]).not.toBe(first?.["elicitationId"]);
  });

  it.each(["2024-11-05", "2025-03-26", "2025-06-18"])("are no part of %s", async (version) => {
    const client = await open(version);
    expect(await client.error("tools/call", { name: "visit" })).toMatchObject({
      code: -32603,
      message: expect.stringContaining("elicitation.url"),
      data: { requiredCapabilities: { elicitation: { url: {} } } },
    });
    expect(client.of("elicitation/create")).toEqual([]);
  });
});

describe("sampling", () => {
  const answer: Answerer = () => ({
    role: "assistant",
    content: { type: "text", text: "thought" },
    model: "m",
    stopReason: "endTurn",
  });

  it.each(VERSIONS)("works in %s", async (version) => {
    const client = await open(version, answer);
    expect(JSON.parse(await textOf(client, "think"))).toEqual({ type: "text", text: "thought" });
    const [asked] = client.of("sampling/createMessage");
    expect(asked?.params).toMatchObject({ maxTokens: 10, systemPrompt: "Think.", includeContext: "none" });
    expect(asked?.params?.["messages"]).toHaveLength(2);
  });

  it("splits a message of several blocks for revisions that know one, and says what it must leave out", async () => {
    for (const version of VERSIONS) {
      const client = await open(version, answer);
      await textOf(client, "think", { many: true });
      const messages = client.of("sampling/createMessage")[0]?.params?.["messages"] as {
        role: string;
        content: unknown;
      }[];
      if (version === "2025-11-25") {
        expect(messages).toHaveLength(2);
        expect(messages[0]?.content).toHaveLength(2);
        continue;
      }
      expect(messages.map(({ role }) => role)).toEqual(["user", "user", "assistant"]);
      expect(messages[1]?.content).toMatchObject(
        version === "2024-11-05"
          ? { type: "text", text: "[audio/wav left out: MCP 2024-11-05 has no audio here]" }
          : { type: "audio" },
      );
    }
  });

  it("with tools goes to clients of 2025-11-25 that declare them", async () => {
    const client = await open("2025-11-25", answer);
    expect(await textOf(client, "agent")).toBe("m");
    expect(client.of("sampling/createMessage")[0]?.params).toMatchObject({
      tools: [{ name: "w", inputSchema: { type: "object", properties: { any: {} } } }],
      toolChoice: { mode: "auto" },
      messages: [
        {},
        { content: [{ type: "tool_use" }] },
        { content: [{ type: "tool_result", toolUseId: "1" }] },
      ],
    });
    for (const [version, capabilities] of [
      ["2025-11-25", { sampling: {} }],
      ["2025-06-18", {}],
      ["2024-11-05", {}],
    ] as const) {
      const other = await open(version, answer, capabilities);
      expect(await other.error("tools/call", { name: "agent" })).toMatchObject({
        code: -32603,
        message: expect.stringContaining("sampling.tools"),
      });
      expect(other.of("sampling/createMessage")).toEqual([]);
    }
  });

  it("that is rejected fails the request that needed it", async () => {
    const client = await open("2025-06-18", () => ({
      error: { code: -1, message: "User rejected sampling request" },
    }));
    expect(await client.error("tools/call", { name: "think" })).toEqual({
      code: -32603,
      message: "The client answered sampling/createMessage with error -1: User rejected sampling request",
      data: { code: -1, message: "User rejected sampling request" },
    });
  });
});

describe("roots", () => {
  it.each(VERSIONS)("are asked for in %s whenever they are needed", async (version) => {
    let uri = "file:///a";
    const client = await open(version, ({ method }) =>
      method === "roots/list" ? { roots: [{ uri }] } : undefined,
    );
    expect(await textOf(client, "where")).toBe("file:///a");
    uri = "file:///b";
    await client.notify("notifications/roots/list_changed");
    expect(await textOf(client, "where")).toBe("file:///b");
    expect(client.of("roots/list").every((request) => request.params === undefined)).toBe(true);
  });
});

describe("several questions", () => {
  const yes: Answerer = ({ params }) => ({
    action: "accept",
    content: { yes: params?.["message"] === "First?" },
  });

  it("of one round are asked at once, under ids of their own, and answered in any order", async () => {
    const client = await open("2025-11-25");
    const call = client.send({ id: "c", method: "tools/call", params: { name: "both" } });
    await vi.waitFor(() => expect(client.of("elicitation/create")).toHaveLength(2));
    const [first, second] = client.of("elicitation/create");
    expect(first?.id).not.toBe(second?.id);
    await client.send({ id: second!.id, result: { action: "decline" } });
    await client.send({ id: String(first!.id), result: { action: "cancel" } });
    await client.send({ id: first!.id, result: { action: "accept", content: { yes: true } } });
    await call;
    expect(client.received.at(-1)?.result).toMatchObject({
      content: [
        { text: JSON.stringify([{ action: "accept", content: { yes: true } }, { action: "decline" }]) },
      ],
    });
    // The id of another type answered nothing.
    expect(client.problems).toEqual([expect.stringContaining(`nothing waits for "${first?.id}"`)]);
  });

  it("in turn make rounds; steps are taken once, and progress never goes back", async () => {
    const client = await open("2025-11-25", yes);
    const params = { name: "twice", _meta: { progressToken: "t" } };
    const { content } = await client.result<{ content: { text: string }[] }>("tools/call", params);
    expect(JSON.parse(content[0]!.text)).toEqual([
      { action: "accept", content: { yes: true } },
      { action: "accept", content: { yes: false } },
      "string",
    ]);
    const ids = client.of("elicitation/create").map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);

    const booking = await open("2025-11-25", () => ({ action: "cancel" }));
    await booking.result("tools/call", { name: "book", _meta: { progressToken: 0 } });
    expect(booking.of("notifications/progress").map(({ params }) => params?.["progress"])).toEqual([1, 2]);
  });

  it("of concurrent requests never share an answer", async () => {
    const server = createServer({ name: "a", version: "1.0.0" });
    server.tool("ask", { input: z.object({ n: z.number() }) }, async ({ n }, ctx) => {
      const answer = await ctx.elicit("n", { message: String(n), schema: z.object({ n: z.number() }) });
      return JSON.stringify([n, answer.action === "accept" ? answer.content.n : undefined]);
    });
    const pending: (() => void)[] = [];
    const client = legacyClient(server, "2025-11-25", {
      answer: ({ params }) =>
        new Promise((resolve) => {
          pending.push(() => resolve({ action: "accept", content: { n: Number(params?.["message"]) } }));
        }),
    });
    await client.initialize({ elicitation: {} });
    const calls = Array.from({ length: 30 }, (_, n) =>
      client.request("tools/call", { name: "ask", arguments: { n } }, `call ${n}`),
    );
    await vi.waitFor(() => expect(pending).toHaveLength(30));
    for (const settle of pending.reverse()) settle();
    const answers = await Promise.all(calls);
    expect(
      answers.map(({ result }) => (result as unknown as { content: { text: string }[] }).content[0]?.text),
    ).toEqual(Array.from({ length: 30 }, (_, n) => `[${n},${n}]`));
  });

  it("are also asked for prompts and resources", async () => {
    const client = await open("2025-11-25", () => ({ action: "decline" }));
    expect(await client.result("resources/read", { uri: "note://asks" })).toMatchObject({
      contents: [{ text: "decline" }],
    });
  });
});

describe("a question without an answer", () => {
  it("is taken back when the request is cancelled", async () => {
    const client = await open("2025-11-25");
    const call = client.send({ id: 0, method: "tools/call", params: { name: "both" } });
    await vi.waitFor(() => expect(client.of("elicitation/create")).toHaveLength(2));
    const ids = client.of("elicitation/create").map(({ id }) => id);
    await client.notify("notifications/cancelled", { requestId: 0, reason: "no time" });
    await call;
    expect(client.of("notifications/cancelled").map(({ params }) => params)).toEqual(
      ids.map((requestId) => ({ requestId, reason: "The client cancelled the request: no time" })),
    );
    await client.send({ id: ids[0]!, result: { action: "accept", content: { yes: true } } });
    await client.session.idle();
    expect(client.received.filter(({ method }) => method === undefined)).toEqual([]);
  });

  it("is taken back when another of the same request fails", async () => {
    const server = createServer({ name: "a", version: "1.0.0" });
    server.tool("mixed", {}, async (_args, ctx) =>
      JSON.stringify(
        await ctx.ask({
          form: { elicit: { message: "?", schema: z.object({ yes: z.boolean() }) } },
          roots: { roots: true },
        }),
      ),
    );
    const client = legacyClient(server, "2025-11-25", {
      answer: ({ method }) =>
        method === "roots/list" ? { error: { code: -32601, message: "none" } } : undefined,
    });
    await client.initialize(ALL);
    expect(await client.error("tools/call", { name: "mixed" })).toMatchObject({
      message: "The client answered roots/list with error -32601: none",
    });
    const [form] = client.of("elicitation/create");
    await vi.waitFor(() =>
      expect(client.of("notifications/cancelled").map(({ params }) => params?.["requestId"])).toEqual([
        form?.id,
      ]),
    );
  });

  it("has a deadline: a form then counts as cancelled, anything else fails", async () => {
    const client = await open("2025-11-25", undefined, {}, { inputTimeoutMs: 20 });
    expect(JSON.parse(await textOf(client, "book"))).toEqual({ action: "cancel" });
    expect(await client.error("tools/call", { name: "where" })).toEqual({
      code: -32603,
      message: "No answer to roots/list: none came within 20 ms (inputTimeoutMs)",
    });
    const asked = [...client.of("elicitation/create"), ...client.of("roots/list")].map(({ id }) => id);
    expect(client.of("notifications/cancelled").map(({ params }) => params?.["requestId"])).toEqual(asked);
  });

  it("gets none when nothing more can be received", async () => {
    const client = await open("2025-11-25");
    const form = client.send({ id: 1, method: "tools/call", params: { name: "book" } });
    const roots = client.send({ id: 2, method: "tools/call", params: { name: "where" } });
    await vi.waitFor(() => expect(client.of("roots/list")).toHaveLength(1));
    client.session.hangUp();
    await Promise.all([form, roots]);
    expect(client.received.filter(({ method }) => method === undefined)).toMatchObject([
      { id: 2, error: { message: "No answer to roots/list: the connection is closing" } },
      { id: 1, result: { content: [{ text: '{"action":"cancel"}' }] } },
    ]);
    // Nor does a question that is asked later.
    await client.send({ id: 3, method: "tools/call", params: { name: "where" } });
    expect(client.received.at(-1)).toMatchObject({
      id: 3,
      error: { message: "roots/list was not sent: the connection is closing" },
    });
  });
});

describe("a handler that breaks the rules", () => {
  const asking = (result: Record<string, unknown>): RequestHandler => {
    const server = everything();
    return {
      ...server,
      handle: (request, exchange) =>
        request.method === "tools/call"
          ? Promise.resolve({
              jsonrpc: "2.0",
              id: request.id,
              result: { resultType: "input_required", ...result },
            })
          : server.handle(request, exchange),
    };
  };

  it("and never stops asking is stopped", async () => {
    const client = legacyClient(asking({ requestState: "s" }), "2025-11-25", { limits: { maxRounds: 3 } });
    await client.initialize();
    expect(await client.error("tools/call", { name: "a" })).toEqual({
      code: -32603,
      message: "Gave up after 3 rounds of questions without a result (maxRounds)",
    });
  });

  it.each<[string, unknown, string]>([
    ["a form that the client cannot show", { method: "elicitation/create", params: {} }, "elicitation.form"],
    [
      "a page that the client cannot open",
      { method: "elicitation/create", params: { mode: "url" } },
      "elicitation.url",
    ],
    ["a sample of a client without a model", { method: "sampling/createMessage", params: {} }, "sampling"],
    ["roots of a client without any", { method: "roots/list" }, "roots"],
    ["something that nobody answers", { method: "made/up" }, '"made/up"'],
    ["nothing at all", null, '""'],
  ])("and asks for %s is told so, and the client is not asked", async (_, question, word) => {
    const client = legacyClient(asking({ inputRequests: { q: question } }), "2025-11-25");
    await client.initialize();
    client.received.length = 0;
    const error = await client.error("tools/call", { name: "a" });
    expect(error.code).toBe(-32603);
    expect(error.message).toContain(word);
    expect(client.received).toHaveLength(1);
  });
});

it("runs no handler again for a request that was cancelled while it waited", async () => {
  let rounds = 0;
  const server = createServer({ name: "a", version: "1.0.0" });
  server.tool("ask", {}, async (_args, ctx) => {
    rounds++;
    return (await ctx.elicit("q", { message: "?", schema: z.object({ yes: z.boolean() }) })).action;
  });
  const client = legacyClient(server, "2025-11-25");
  await client.initialize({ elicitation: {} });
  const call = client.send({ id: "x", method: "tools/call", params: { name: "ask" } });
  await vi.waitFor(() => expect(client.of("elicitation/create")).toHaveLength(1));
  await client.notify("notifications/cancelled", { requestId: "x" });
  await call;
  await client.session.idle();
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(rounds).toBe(1);
});

it("works on after an answer only as long as the request is wanted", async () => {
  const rounds: number[] = [];
  const held = gate();
  const server = createServer({ name: "a", version: "1.0.0" });
  server.tool("slow", {}, async (_args, ctx) => {
    rounds.push(rounds.length + 1);
    await ctx.step("wait", () => held.opened);
    await ctx.elicit("q", { message: "?", schema: z.object({ yes: z.boolean() }) });
  });
  const client = legacyClient(server, "2025-11-25", { answer: () => ({ action: "cancel" }) });
  await client.initialize({ elicitation: {} });
  const call = client.send({ id: "x", method: "tools/call", params: { name: "slow" } });
  await vi.waitFor(() => expect(rounds).toEqual([1]));
  await client.notify("notifications/cancelled", { requestId: "x" });
  held.open();
  await call;
  await client.session.idle();
  expect(client.of("elicitation/create")).toEqual([]);
  expect(rounds).toEqual([1]);
});
