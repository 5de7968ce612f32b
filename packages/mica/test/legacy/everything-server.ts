/** A server that has one of everything. */
import { z } from "zod";
import { audio, content, embedded, image, resourceLink, text } from "../../src/protocol/content.js";
import { ToolError } from "../../src/protocol/errors.js";
import { contents } from "../../src/server/resource-contents.js";
import { createServer, type Server } from "../../src/server/server.js";

export const PNG = "iVBORw0KGgo=";
const icons = [{ src: "https://example.com/icon.png", mimeType: "image/png", sizes: ["48x48"] }];
const annotations = { audience: ["user" as const], priority: 0.5, lastModified: "2026-01-02T03:04:05Z" };
const _meta = { "example.com/note": "kept where there is room" };

/** Tools, resources, prompts, completion, every kind of content and every kind of question. */
export function everythingServer(): Server {
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
  const counting = z.object({ to: z.number(), pauseMs: z.number().optional() });
  server.tool("count", { input: counting }, async ({ to, pauseMs }, ctx) => {
    for (let step = 1; step <= to; step++) ctx.progress(step, to, `step ${step}`);
    ctx.log("info", { counted: to }, "counter");
    ctx.log("debug", "details");
    if (pauseMs) await new Promise((resolve) => setTimeout(resolve, pauseMs));
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
  return server;
}
