/** A server that has one of everything, and a client of an earlier revision that speaks to it in memory. */
import { onTestFinished } from "vitest";
import { z } from "zod";
import { createLegacySession, type LegacySession } from "../../src/legacy/session.js";
import { DEFAULT_LEGACY_LIMITS, type LegacyLimits } from "../../src/legacy-options.js";
import { audio, content, embedded, image, resourceLink, text } from "../../src/protocol/content.js";
import { ToolError } from "../../src/protocol/errors.js";
import { isErrorResponse } from "../../src/protocol/jsonrpc.js";
import type {
  ErrorObject,
  JSONRPCMessage,
  JSONRPCRequest,
  RequestId,
  Result,
} from "../../src/protocol/types.js";
import { contents } from "../../src/server/resource-contents.js";
import { createServer, type Server } from "../../src/server/server.js";
import type { RequestHandler } from "../../src/transport.js";
import { checkedServer } from "../support/wire-schema.js";
import { assertFits, type Version } from "./legacy-schema.js";

export const PNG = "iVBORw0KGgo=";
const icons = [{ src: "https://example.com/icon.png", mimeType: "image/png", sizes: ["48x48"] }];
const annotations = { audience: ["user" as const], priority: 0.5, lastModified: "2026-01-02T03:04:05Z" };
const _meta = { "example.com/note": "kept where there is room" };

/** Tools, resources, prompts, completion, every kind of content and every kind of question. */
export function everything(): Server {
  const server = createServer({
    name: "everything",
    version: "1.2.3",
    title: "Everything",
    description: "One of each",
    websiteUrl: "https://example.com",
    icons,
    instructions: "Ask for anything.",
    onError: () => {},
  });

  server.tool(
    "add",
    {
      title: "Addition",
      description: "Adds two numbers.",
      icons,
      annotations: { readOnlyHint: true },
      _meta,
      input: z.object({ a: z.number(), b: z.number() }),
      output: z.object({ sum: z.number() }),
    },
    ({ a, b }) => ({ sum: a + b }),
  );
  server.tool("numbers", { output: z.array(z.number()) }, () => [1, 2, 3]);
  server.tool("data_only", { output: z.array(z.number()) }, () => content([], { structured: [4, 5] }));
  server.tool(
    "loose",
    { input: { type: "object", properties: { anything: true, nothing: false, text: { type: "string" } } } },
    (args) => JSON.stringify(args),
  );
  server.tool("mixed", {}, () =>
    content(
      [
        text("hello", { annotations, _meta }),
        image(PNG, "image/png", { annotations }),
        audio("UklGRg==", "audio/wav", { annotations }),
        resourceLink("note://1", "one", {
          title: "Note one",
          description: "The first",
          mimeType: "text/plain",
          icons,
        }),
        embedded({ uri: "note://1", text: "one", _meta }),
        embedded({ uri: "note://blob", blob: PNG, mimeType: "image/png" }),
      ],
      { _meta },
    ),
  );
  server.tool("fail", {}, () => {
    throw new ToolError("It does not work today.");
  });
  server.tool("crash", {}, () => {
    throw new Error("secret");
  });
  server.tool("count", { input: z.object({ to: z.number() }) }, async ({ to }, ctx) => {
    for (let step = 1; step <= to; step++) ctx.progress(step, to, `step ${step}`);
    ctx.log("info", { counted: to }, "counter");
    ctx.log("debug", "details");
    return `counted to ${to}`;
  });

  server.tool("book", {}, async (_args, ctx) => {
    ctx.progress(1, 2);
    const answer = await ctx.elicit("trip", {
      message: "Where to?",
      schema: {
        type: "object",
        properties: {
          city: { type: "string", title: "City", minLength: 2, maxLength: 40, default: "Oslo" },
          nights: { type: "integer", minimum: 1, maximum: 30, default: 2 },
          window: { type: "boolean", default: true },
          meal: {
            oneOf: [
              { const: "v", title: "Vegan" },
              { const: "m", title: "Meat" },
            ],
            default: "v",
          },
          size: { type: "string", enum: ["s", "l"] },
          extras: {
            type: "array",
            title: "Extras",
            minItems: 1,
            items: {
              anyOf: [
                { const: "wifi", title: "Wi-Fi" },
                { const: "spa", title: "Spa" },
              ],
            },
            default: ["wifi"],
          },
          email: { type: "string", format: "email" },
        },
        required: ["city", "extras"],
      },
    });
    ctx.progress(2, 2);
    return JSON.stringify(answer);
  });
  server.tool("visit", {}, async (_args, ctx) =>
    JSON.stringify(
      await ctx.elicitUrl("page", { message: "Please sign in", url: "https://example.com/sign-in" }),
    ),
  );
  server.tool("think", { input: z.object({ many: z.boolean().optional() }) }, async ({ many }, ctx) => {
    const message = await ctx.sample("thought", {
      messages: [
        {
          role: "user",
          content: many ? [text("one"), audio("UklGRg==", "audio/wav")] : text("one", { _meta }),
        },
        { role: "assistant", content: image(PNG, "image/png") },
      ],
      systemPrompt: "Think.",
      maxTokens: 10,
      includeContext: "none",
    });
    return JSON.stringify(message.content);
  });
  server.tool("agent", {}, async (_args, ctx) => {
    const message = await ctx.sample("agent", {
      messages: [
        { role: "user", content: text("Weather?") },
        { role: "assistant", content: [{ type: "tool_use", id: "1", name: "w", input: {} }] },
        {
          role: "user",
          content: [{ type: "tool_result", toolUseId: "1", content: [text("rain")], structuredContent: [1] }],
        },
      ],
      tools: [
        {
          name: "w",
          inputSchema: { type: "object", properties: { any: true } },
          outputSchema: { type: "array" },
        },
      ],
      toolChoice: { mode: "auto" },
      maxTokens: 10,
    });
    return message.model;
  });
  server.tool("where", {}, async (_args, ctx) => (await ctx.roots()).map(({ uri }) => uri).join(" "));
  server.tool("both", {}, async (_args, ctx) => {
    const schema = z.object({ yes: z.boolean() });
    const { first, second } = await ctx.ask({
      first: { elicit: { message: "First?", schema } },
      second: { elicit: { message: "Second?", schema } },
    });
    return JSON.stringify([first, second]);
  });
  server.tool("twice", {}, async (_args, ctx) => {
    const schema = z.object({ yes: z.boolean() });
    const taken = await ctx.step("once", ({ idempotencyKey }) => idempotencyKey);
    const first = await ctx.elicit("first", { message: "First?", schema });
    const second = await ctx.elicit("second", { message: "Second?", schema });
    return JSON.stringify([first, second, typeof taken]);
  });

  server.resource(
    "note://1",
    {
      name: "one",
      title: "Note one",
      description: "The first",
      mimeType: "text/plain",
      icons,
      annotations,
      size: 3,
      _meta,
    },
    () => contents([{ text: "one", _meta }], { ttlMs: 5, cacheScope: "public" }),
  );
  server.resource("note://blob", { name: "blob", mimeType: "image/png" }, () => new Uint8Array([1, 2, 3]));
  server.resource("note://asks", { name: "asks" }, async (ctx) => {
    const answer = await ctx.elicit("sure", { message: "Sure?", schema: z.object({ yes: z.boolean() }) });
    return answer.action;
  });
  server.resourceTemplate(
    "note://by-day/{day}",
    { name: "day", title: "By day", icons, annotations, _meta, complete: { day: ["monday", "sunday"] } },
    ({ day }) => (day === "never" ? undefined : `notes of ${String(day)}`),
  );
  server.prompt(
    "review",
    {
      title: "Review",
      description: "Reviews code.",
      icons,
      _meta,
      input: z.object({ code: z.string().meta({ title: "Code", description: "What to review" }) }),
      complete: { code: (value) => [`${value}()`] },
    },
    ({ code }) => [
      `Review: ${code}`,
      audio("UklGRg==", "audio/wav"),
      { role: "assistant", content: resourceLink("note://1", "one") },
      embedded({ uri: "note://1", text: "one", _meta }),
    ],
  );
  return checkedServer(server);
}

type Message = Record<string, unknown> & {
  id?: RequestId;
  method?: string;
  params?: Record<string, unknown>;
  result?: Result;
  error?: ErrorObject;
};

export type Answerer = (
  request: Message,
) =>
  | Record<string, unknown>
  | { error: ErrorObject }
  | undefined
  | Promise<Record<string, unknown> | undefined>;

export interface LegacyClient {
  readonly session: LegacySession;
  /** Everything the server has sent, each checked against the schema of the revision. */
  readonly received: Message[];
  readonly problems: string[];
  /** Sends one message as it is, and resolves when the session is done with it. */
  send(message: Record<string, unknown>): Promise<void>;
  /** Sends a request, and resolves to its response. */
  request(method: string, params?: Record<string, unknown>, id?: RequestId): Promise<Message>;
  result<T = Result>(method: string, params?: Record<string, unknown>): Promise<T>;
  error(method: string, params?: Record<string, unknown>): Promise<ErrorObject>;
  notify(method: string, params?: Record<string, unknown>): Promise<void>;
  initialize(capabilities?: Record<string, unknown>): Promise<Result>;
  /** The messages of one method, requests and notifications. */
  of(method: string): Message[];
}

export interface ClientOptions {
  limits?: Partial<LegacyLimits>;
  /** Answers requests of the server: with a result, with `{ error }`, or not at all. */
  answer?: Answerer;
  /** Which revision to check against; default: the one that is asked for. */
  checkAs?: Version;
}

/** @example const client = legacyClient(everything(), "2025-06-18"); await client.initialize(); */
export function legacyClient(
  handler: RequestHandler,
  version: string,
  { limits, answer, checkAs = version as Version }: ClientOptions = {},
): LegacyClient {
  const received: Message[] = [];
  const problems: string[] = [];
  const faults: unknown[] = [];
  const methods = new Map<RequestId, string>();
  let lastId = 0;
  onTestFinished(() => {
    if (faults.length > 0) throw faults[0];
  });

  function arrive(message: JSONRPCMessage): void {
    const copy = JSON.parse(JSON.stringify(message)) as Message;
    received.push(copy);
    try {
      assertFits(checkAs, copy, copy.method === undefined ? methods.get(copy.id as RequestId) : undefined);
    } catch (error) {
      faults.push(error);
    }
    if (copy.method === undefined || copy.id === undefined || answer === undefined) return;
    const { id } = copy;
    void Promise.resolve(answer(copy)).then((answered) => {
      if (answered === undefined) return;
      return send("error" in answered ? { id, ...answered } : { id, result: answered });
    });
  }

  const channel = { send: arrive, canAsk: true };
  const session = createLegacySession({
    handler,
    limits: { ...DEFAULT_LEGACY_LIMITS, ...limits },
    send: arrive,
    onProblem: (problem) => void problems.push(problem),
    onNote: (note) => void problems.push(note),
  });

  async function send(message: Record<string, unknown>): Promise<void> {
    const whole = { jsonrpc: "2.0", ...message };
    const { id, method } = message as Message;
    if (id !== undefined && method !== undefined) methods.set(id, method);
    await session.receive(JSON.parse(JSON.stringify(whole)) as JSONRPCMessage, channel);
    if (faults.length > 0) throw faults[0];
  }

  async function request(
    method: string,
    params?: Record<string, unknown>,
    id: RequestId = ++lastId,
  ): Promise<Message> {
    const from = received.length;
    await send({ id, method, ...(params && { params }) } as unknown as JSONRPCRequest &
      Record<string, unknown>);
    const response = received
      .slice(from)
      .find((message) => message.id === id && message.method === undefined);
    if (response === undefined) throw new Error(`no response to ${method}`);
    return response;
  }

  return {
    session,
    received,
    problems,
    send,
    request,
    async result<T>(method: string, params?: Record<string, unknown>) {
      const response = await request(method, params);
      if (isErrorResponse(response as never))
        throw new Error(`got an error: ${JSON.stringify(response.error)}`);
      return response.result as T;
    },
    async error(method, params) {
      const response = await request(method, params);
      if (response.error === undefined) throw new Error(`got a result: ${JSON.stringify(response.result)}`);
      return response.error;
    },
    notify: (method, params) => send({ method, ...(params && { params }) }),
    async initialize(capabilities = {}) {
      const params = {
        protocolVersion: version,
        capabilities,
        clientInfo: { name: "old", version: "0.1.0" },
      };
      const response = await request("initialize", params);
      if (response.result === undefined) throw new Error(`got an error: ${JSON.stringify(response.error)}`);
      await send({ method: "notifications/initialized" });
      return response.result;
    },
    of: (method) => received.filter((message) => message.method === method),
  };
}
