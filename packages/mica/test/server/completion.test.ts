/** Completion: lists and functions, how much is sent, and what is said of arguments that are none. */
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { CompleteResult } from "../../src/protocol/features.js";
import type { Completer } from "../../src/server/completion.js";
import type { OnError } from "../../src/server/failure.js";
import { createServer } from "../../src/server/server.js";
import { callerOf } from "../support/caller.js";
import { checkedServer } from "../support/wire-schema.js";

function build(complete: Record<string, Completer>) {
  const onError = vi.fn<OnError>();
  const server = checkedServer(createServer({ name: "test", version: "1.0.0", onError }));
  server.prompt(
    "review",
    { input: z.object({ language: z.string(), framework: z.string(), free: z.string() }), complete },
    () => "",
  );
  const caller = callerOf(server);
  const ref = { type: "ref/prompt", name: "review" };
  const complete_ = async (name: string, value: string, more: Record<string, unknown> = {}) =>
    (await caller.result<CompleteResult>("completion/complete", { ref, argument: { name, value }, ...more }))
      .completion;
  return { server, caller, ref, onError, complete: complete_ };
}

describe("a list", () => {
  const languages = ["Python", "Cython", "TypeScript", "python2", "ruby"];

  it("offers what contains the typed text, beginnings first, whatever the case", async () => {
    const { complete } = build({ language: languages });
    expect(await complete("language", "PY")).toEqual({
      values: ["Python", "python2"],
      total: 2,
      hasMore: false,
    });
    expect((await complete("language", "yt")).values).toEqual(["Python", "Cython", "python2"]);
    expect((await complete("language", "")).values).toEqual(languages);
    expect((await complete("language", "none")).values).toEqual([]);
  });

  it("is cut at a hundred, and counted", async () => {
    const many = Array.from({ length: 250 }, (_, index) => `v${index}`);
    const { complete } = build({ language: many });
    expect(await complete("language", "")).toEqual({ values: many.slice(0, 100), total: 250, hasMore: true });
    expect(await complete("language", "v24")).toMatchObject({ total: 11, hasMore: false });
  });
});

describe("a function", () => {
  it("gets the text, the other arguments and the context of the request", async () => {
    const completer = vi.fn<Extract<Completer, (...args: never[]) => unknown>>(async (value, ctx) => [
      `${value}!`,
      ctx.arguments["language"] ?? "none",
      ctx.client.info?.name ?? "",
      String(ctx.signal.aborted),
    ]);
    const { complete } = build({ framework: completer });
    expect(
      (await complete("framework", "fla", { context: { arguments: { language: "python" } } })).values,
    ).toEqual(["fla!", "python", "test", "false"]);
    expect((await complete("framework", "fla")).values[1]).toBe("none");
    expect((await complete("framework", "fla", { context: {} })).values[1]).toBe("none");
  });

  it("is cut at a hundred, and counted", async () => {
    const { complete } = build({ framework: () => Array.from({ length: 1_000 }, (_, index) => `${index}`) });
    const { values, total, hasMore } = await complete("framework", "");
    expect([values.length, total, hasMore]).toEqual([100, 1_000, true]);
  });

  it("may report progress", async () => {
    const { caller, ref } = build({
      framework: (_, ctx) => {
        ctx.progress(1, 2);
        ctx.log("info", "halfway");
        return [];
      },
    });
    const methods: string[] = [];
    await caller.send(
      "completion/complete",
      { ref, argument: { name: "framework", value: "" } },
      {
        meta: { progressToken: 7, "io.modelcontextprotocol/logLevel": "info" },
        onNotification: ({ method }) => methods.push(method),
      },
    );
    expect(methods).toEqual(["notifications/progress", "notifications/message"]);
  });

  it.each<[string, Completer]>([
    [
      "throws",
      () => {
        throw new Error("hunter2");
      },
    ],
    [
      "rejects",
      async () => {
        throw new Error("hunter2");
      },
    ],
    ["returns nothing", () => undefined as never],
    ["returns numbers", () => [1, 2] as never],
    ["returns an object", () => ({ values: ["hunter2"] }) as never],
  ])("that %s is a concealed failure", async (_, completer) => {
    const { caller, ref, onError } = build({ framework: completer });
    const error = await caller.error("completion/complete", {
      ref,
      argument: { name: "framework", value: "" },
    });
    expect(error.code).toBe(-32603);
    expect(error.message).toMatch(/^completion\/complete failed\. .*reference/);
    expect(JSON.stringify(error)).not.toContain("hunter2");
    expect(onError).toHaveBeenCalledOnce();
  });
});

describe("what can be completed", () => {
  it("includes the variables of a template", async () => {
    const { server, caller } = build({ language: ["x"] });
    server.resourceTemplate(
      "file:///{dir}/{name}",
      { name: "file", complete: { name: (value, ctx) => [`${ctx.arguments["dir"]}/${value}`] } },
      () => "",
    );
    const { completion } = await caller.result<CompleteResult>("completion/complete", {
      ref: { type: "ref/resource", uri: "file:///{dir}/{name}" },
      argument: { name: "name", value: "a" },
      context: { arguments: { dir: "d" } },
    });
    expect(completion.values).toEqual(["d/a"]);
  });

  it("includes arguments that nothing is known of", async () => {
    const { complete } = build({ language: ["x"] });
    expect(await complete("free", "a")).toEqual({ values: [], total: 0, hasMore: false });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["no reference", { ref: undefined }, "params.ref must be"],
    ["a reference of no kind", { ref: { type: "ref/tool", name: "review" } }, "params.ref must be"],
    ["a reference that is a string", { ref: "review" }, "params.ref must be"],
    ["a prompt without a name", { ref: { type: "ref/prompt" } }, "params.ref must be"],
    ["an unknown prompt", { ref: { type: "ref/prompt", name: "nope" } }, "Unknown prompt: nope"],
    [
      "a prompt called __proto__",
      { ref: { type: "ref/prompt", name: "__proto__" } },
      "Unknown prompt: __proto__",
    ],
    [
      "an unknown template",
      { ref: { type: "ref/resource", uri: "x:{a}" } },
      "Unknown resource or template: x:{a}",
    ],
    ["no argument", { argument: undefined }, "params.argument must be an object"],
    ["an argument without a value", { argument: { name: "language" } }, "params.argument must be an object"],
    [
      "a value that is a number",
      { argument: { name: "language", value: 1 } },
      "params.argument must be an object",
    ],
    [
      "an unknown argument",
      { argument: { name: "nope", value: "" } },
      'Unknown argument "nope": expected one of language, framework, free',
    ],
    [
      "an argument called constructor",
      { argument: { name: "constructor", value: "" } },
      'Unknown argument "constructor"',
    ],
    ["a context that is a string", { context: "x" }, "params.context must be an object"],
    [
      "arguments that are a list",
      { context: { arguments: [] } },
      "params.context.arguments must be an object of strings",
    ],
    [
      "arguments that are numbers",
      { context: { arguments: { a: 1 } } },
      "params.context.arguments must be an object of strings",
    ],
  ])("does not include %s", async (_, change, message) => {
    const { caller, ref } = build({ language: ["x"], framework: () => [] });
    const params = { ref, argument: { name: "framework", value: "" }, ...change };
    const error = await caller.error("completion/complete", params);
    expect(error.code).toBe(-32602);
    expect(error.message).toContain(message);
  });

  it("does not include resources without variables", async () => {
    const { server, caller } = build({ language: ["x"] });
    server.resource("x:a", { name: "a" }, () => "");
    const params = { ref: { type: "ref/resource", uri: "x:a" }, argument: { name: "a", value: "" } };
    expect(await caller.error("completion/complete", params)).toMatchObject({
      code: -32602,
      message: 'Unknown argument "a": expected one of none',
    });
  });
});
