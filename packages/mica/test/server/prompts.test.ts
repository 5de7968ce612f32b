/** Prompts: what is listed, how arguments are judged, and how messages are made. */
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { image, text } from "../../src/protocol/content.js";
import { ToolError } from "../../src/protocol/errors.js";
import type { GetPromptResult, ListPromptsResult } from "../../src/protocol/features.js";
import type { OnError } from "../../src/server/failure.js";
import { createServer } from "../../src/server/server.js";
import { callerOf } from "../support/caller.js";
import { checkedServer } from "../support/wire-schema.js";

function build() {
  const onError = vi.fn<OnError>();
  const server = checkedServer(createServer({ name: "test", version: "1.0.0", onError }));
  const caller = callerOf(server);
  const get = (name: string, args?: unknown) =>
    caller.result<GetPromptResult>("prompts/get", { name, ...(args !== undefined && { arguments: args }) });
  const failure = (name: unknown, args?: unknown) =>
    caller.error("prompts/get", { name, ...(args !== undefined && { arguments: args }) });
  return { server, caller, get, failure, onError };
}

describe("registration", () => {
  it.each([
    ["an object", { type: "object" }, "object"],
    ["a list", { type: "array", items: { type: "string" } }, "array"],
    ["an object or nothing", { type: ["object", "null"] }, "object or null"],
  ])("refuses an argument that is %s", (_, filter, said) => {
    const { server } = build();
    const input = { type: "object", properties: { who: { type: "string" }, filter } };
    expect(() => server.prompt("find", { input }, () => "")).toThrow(
      new TypeError(
        `prompt "find" input: argument "filter" is declared as ${said}, and prompts are called with strings only; expected a string`,
      ),
    );
  });

  it("refuses it of a library's schema as well, and takes what reads a string", () => {
    const { server } = build();
    const filter = z.object({ filter: z.object({ a: z.string() }) });
    expect(() => server.prompt("find", { input: filter }, () => "")).toThrow(
      'argument "filter" is declared as object',
    );
    const read = z.object({ n: z.coerce.number(), maybe: z.string().nullable().optional() });
    expect(() => server.prompt("read", { input: read }, () => "")).not.toThrow();
  });
});

describe("prompts/list", () => {
  it("says what the author said, and derives the arguments", async () => {
    const { server, caller } = build();
    server.prompt("bare", {}, () => "");
    server.prompt(
      "review",
      {
        title: "Review",
        description: "Reviews code",
        input: z.object({
          code: z.string().meta({ title: "Code", description: "The code to review" }),
          language: z.string().optional(),
        }),
        icons: [{ src: "data:image/png;base64,AA==" }],
        _meta: { "com.example/x": 1 },
      },
      () => "",
    );
    server.prompt("valibot", { input: toStandardJsonSchema(v.object({ a: v.string() })) }, () => "");
    server.prompt(
      "data",
      { input: { type: "object", properties: { a: true, b: { title: "B" } }, required: ["b"] } },
      () => "",
    );
    expect((await caller.result<ListPromptsResult>("prompts/list")).prompts).toEqual([
      { name: "bare" },
      {
        name: "review",
        title: "Review",
        description: "Reviews code",
        arguments: [
          { name: "code", title: "Code", description: "The code to review", required: true },
          { name: "language" },
        ],
        icons: [{ src: "data:image/png;base64,AA==" }],
        _meta: { "com.example/x": 1 },
      },
      { name: "valibot", arguments: [{ name: "a", required: true }] },
      { name: "data", arguments: [{ name: "a" }, { name: "b", title: "B", required: true }] },
    ]);
  });
});

describe("prompts/get", () => {
  const user = (content: object) => ({ role: "user", content });

  it.each<[string, unknown, object[]]>([
    ["a string", "hello", [user({ type: "text", text: "hello" })]],
    [
      "a block",
      text("hello", { annotations: { priority: 1 } }),
      [user({ type: "text", text: "hello", annotations: { priority: 1 } })],
    ],
    [
      "a message",
      { role: "assistant", content: "yes" },
      [{ role: "assistant", content: { type: "text", text: "yes" } }],
    ],
    [
      "a list",
      ["a", image("AA==", "image/png"), { role: "assistant", content: text("b") }],
      [
        user({ type: "text", text: "a" }),
        user({ type: "image", data: "AA==", mimeType: "image/png" }),
        { role: "assistant", content: { type: "text", text: "b" } },
      ],
    ],
    ["no messages", [], []],
  ])("makes messages of %s", async (_, value, messages) => {
    const { server, get } = build();
    server.prompt("p", { description: "The prompt" }, async () => value as never);
    expect(await get("p")).toMatchObject({ description: "The prompt", messages });
  });

  it("may describe itself anew", async () => {
    const { server, get } = build();
    server.prompt("p", { description: "General" }, () => ({ description: "Today", messages: ["a"] }));
    server.prompt("q", {}, () => ({ messages: ["a"] }));
    expect((await get("p")).description).toBe("Today");
    expect(await get("q")).not.toHaveProperty("description");
  });

  it("hands over what the schema makes of the arguments", async () => {
    const { server, get } = build();
    server.prompt("p", { input: z.object({ n: z.coerce.number(), unit: z.string().default("m") }) }, (args) =>
      JSON.stringify(args),
    );
    expect((await get("p", { n: "5" })).messages[0]?.content).toMatchObject({ text: '{"n":5,"unit":"m"}' });
  });

  it("is -32602 where arguments are missing or wrong, naming each", async () => {
    const { server, failure } = build();
    server.prompt("p", { input: z.object({ code: z.string(), level: z.enum(["low", "high"]) }) }, () => "");
    const { code, message } = await failure("p", { level: "mid" });
    expect(code).toBe(-32602);
    expect(message).toMatch(/^Invalid arguments for prompt "p":\n/);
    expect(message).toMatch(/^code: /m);
    expect(message).toMatch(/^level: /m);
    expect(await failure("p")).toMatchObject({ code: -32602 });
  });

  it.each([
    ["null", null],
    ["an array", []],
    ["a number as a value", { a: 1 }],
    ["null as a value", { a: null }],
    ["a string", "x"],
  ])("is -32602 where arguments are %s", async (_, args) => {
    const { server, failure } = build();
    server.prompt("p", {}, () => "");
    expect(await failure("p", args)).toEqual({
      code: -32602,
      message: "params.arguments must be an object of strings",
    });
  });

  it.each(["nope", "", "__proto__", "constructor"])("names the unknown prompt %j", async (name) => {
    const { server, failure } = build();
    server.prompt("p", {}, () => "");
    expect(await failure(name)).toEqual({ code: -32602, message: `Unknown prompt: ${name}` });
  });

  it("says that the name must be a string", async () => {
    const { server, failure } = build();
    server.prompt("p", {}, () => "");
    for (const name of [undefined, null, 5, {}])
      expect(await failure(name)).toEqual({ code: -32602, message: "params.name must be a string" });
  });

  it("conceals what was thrown, and says what a ToolError says", async () => {
    const { server, failure, onError } = build();
    server.prompt("broken", {}, () => {
      throw new Error("hunter2");
    });
    server.prompt("closed", {}, () => {
      throw new ToolError("Closed today.");
    });
    server.prompt("nothing", {}, () => undefined as never);
    const { code, message } = await failure("broken");
    expect(code).toBe(-32603);
    expect(message).toMatch(/^Prompt "broken" failed\. .* reference [0-9a-z]{8}\.$/);
    expect(await failure("closed")).toEqual({ code: -32603, message: "Closed today." });
    expect(await failure("nothing")).toMatchObject({ code: -32603 });
    expect(onError).toHaveBeenCalledTimes(2);
  });
});

describe("registration", () => {
  it("refuses what cannot work, naming the prompt", () => {
    const { server } = build();
    server.prompt("p", {}, () => "");
    expect(() => server.prompt("p", {}, () => "")).toThrow('prompt "p" is registered already');
    expect(() => server.prompt("", {}, () => "")).toThrow("prompt: name must be a non-empty string");
    expect(() => server.prompt("q", {}, "x" as never)).toThrow(
      'prompt "q": handler must be a function, got string',
    );
    expect(() => server.prompt("q", { input: z.string() as never }, () => "")).toThrow(
      'prompt "q" input: the schema must describe an object',
    );
    expect(() => server.prompt("q", { input: z.object({ when: z.date() }) }, () => "")).toThrow(
      'prompt "q" input: JSON Schema cannot express when: Date',
    );
    expect(() =>
      server.prompt("q", { input: z.object({ a: z.string() }), complete: { b: [] } }, () => ""),
    ).toThrow('prompt "q": complete.b names no argument; it has a');
    expect(() => server.prompt("q", { complete: { a: [] } }, () => "")).toThrow("it has none");
    expect(() =>
      server.prompt("q", { input: z.object({ a: z.string() }), complete: { a: 5 as never } }, () => ""),
    ).toThrow("complete.a must be a list or a function, got number");
  });
});
