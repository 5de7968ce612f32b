/** Tools through the front door: what is advertised, how arguments are judged, and what becomes of results and errors. */
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { audio, content, embedded, image, resourceLink, text } from "../../src/protocol/content.js";
import { ErrorCode, ProtocolError, ToolError } from "../../src/protocol/errors.js";
import type { CallToolResult, ListToolsResult } from "../../src/protocol/features.js";
import type { OnError } from "../../src/server/failure.js";
import { createServer } from "../../src/server/server.js";
import { callerOf } from "../support/caller.js";
import { checkedServer } from "../support/wire-schema.js";

function build() {
  const onError = vi.fn<OnError>();
  const server = checkedServer(createServer({ name: "test", version: "1.0.0", onError }));
  const caller = callerOf(server);
  const call = (name: string, args?: unknown, more: Record<string, unknown> = {}) =>
    caller.result<CallToolResult>("tools/call", {
      name,
      ...(args !== undefined && { arguments: args }),
      ...more,
    });
  const list = async () => (await caller.result<ListToolsResult>("tools/list")).tools;
  return { server, caller, call, list, onError };
}

const textOf = (result: CallToolResult) =>
  result.content.map((block) => (block.type === "text" ? block.text : block.type)).join("|");

describe("what is listed", () => {
  it("is what the author said, and nothing else", async () => {
    const { server, list } = build();
    server.tool("bare", {}, () => 1);
    server.tool(
      "full",
      {
        title: "Full",
        description: "Everything.",
        input: z.object({ a: z.string() }),
        output: z.object({ b: z.int() }),
        annotations: { readOnlyHint: true },
        icons: [{ src: "data:image/png;base64,AA==" }],
        _meta: { "com.example/x": 1 },
      },
      () => ({ b: 1 }),
    );
    expect(await list()).toEqual([
      { name: "bare", inputSchema: { type: "object", additionalProperties: false } },
      {
        name: "full",
        title: "Full",
        description: "Everything.",
        inputSchema: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
        outputSchema: { type: "object", properties: { b: { type: "integer" } }, required: ["b"] },
        annotations: { readOnlyHint: true },
        icons: [{ src: "data:image/png;base64,AA==" }],
        _meta: { "com.example/x": 1 },
      },
    ]);
  });

  it("says that input is an object, also where a union or a reference left that out", async () => {
    const { server, list } = build();
    const union = z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("a") }),
      z.object({ kind: z.literal("b") }),
    ]);
    server.tool("union", { input: union }, ({ kind }) => kind);
    server.tool("reference", { input: { $ref: "#/$defs/o", $defs: { o: { type: "object" } } } }, () => 1);
    server.tool("record", { input: z.record(z.string(), z.number()) }, (args) => args);
    for (const { inputSchema } of await list()) expect(inputSchema["type"]).toBe("object");
  });

  it("may describe output that is no object", async () => {
    const { server, call, list } = build();
    server.tool("numbers", { output: z.array(z.number()) }, () => [1, 2]);
    expect((await list())[0]?.outputSchema).toEqual({ type: "array", items: { type: "number" } });
    expect((await call("numbers")).structuredContent).toEqual([1, 2]);
  });
});

describe("registration", () => {
  it.each([
    "getUser",
    "DATA_EXPORT_v2",
    "admin.tools.list",
    "a",
    "a-b",
    "0",
    "x".repeat(128),
    "__proto__",
    "constructor",
  ])("takes the name %s", async (name) => {
    const { server, call } = build();
    server.tool(name, {}, () => "ok");
    expect(textOf(await call(name))).toBe("ok");
  });

  it.each<[unknown]>([
    [""],
    ["a b"],
    ["a,b"],
    ["ü"],
    ["a/b"],
    ["x".repeat(129)],
    ["a\n"],
    [5],
    [undefined],
    [null],
  ])("refuses the name %j", (name) => {
    const { server } = build();
    expect(() => server.tool(name as string, {}, () => 1)).toThrow(TypeError);
  });

  it("refuses a name that is taken, a handler that is none, and input that is no object", () => {
    const { server } = build();
    server.tool("a", {}, () => 1);
    expect(() => server.tool("a", {}, () => 2)).toThrow('tool "a" is registered already');
    expect(() => server.tool("b", {}, undefined as never)).toThrow(
      'tool "b": handler must be a function, got undefined',
    );
    expect(() => server.tool("c", { input: z.string() as never }, () => 1)).toThrow(
      'tool "c" input: the schema must describe an object, got type "string"',
    );
    expect(() => server.tool("d", { input: { properties: {} } }, () => 1)).toThrow(
      'tool "d" input: the schema must describe an object',
    );
    expect(() => server.tool("e", { input: 5 as never }, () => 1)).toThrow(
      'tool "e" input: a schema must be',
    );
    expect(() => server.tool("f", { output: { type: "what" } }, () => 1)).toThrow(
      'tool "f" output: the schema: type must be one of',
    );
  });

  it("refuses one tool of forty whose schema cannot be expressed, naming it and the place, and lists the others", async () => {
    const { server, list } = build();
    for (let index = 0; index < 40; index++) {
      const define = () =>
        server.tool(
          `tool_${index}`,
          {
            input: z.object({
              events: z.array(z.object({ when: index === 17 ? z.date() : z.iso.datetime() })),
            }),
          },
          () => index,
        );
      if (index === 17) {
        expect(define).toThrow('tool "tool_17" input: JSON Schema cannot express events[].when: Date');
        expect(define).toThrow(TypeError);
      } else define();
    }
    const names = (await list()).map(({ name }) => name);
    expect(names).toHaveLength(39);
    expect(names).not.toContain("tool_17");
  });

  it("refuses arguments that cannot be mirrored into headers", () => {
    const { server } = build();
    const mirrored = (type: string) => ({
      type: "object",
      properties: { score: { type, "x-mcp-header": "Score" } },
    });
    expect(() => server.tool("fast", { input: mirrored("number") }, () => 1)).toThrow(
      /tool "fast": x-mcp-header "Score" at properties\.score: the type must be "string", "integer" or "boolean"; got "number"/,
    );
    expect(() => server.tool("fast", { input: mirrored("integer") }, () => 1)).not.toThrow();
  });
});

describe("mirroredHeaders", () => {
  const { server } = (() => ({ server: createServer({ name: "test", version: "1.0.0" }) }))();
  server.tool(
    "query",
    {
      input: {
        type: "object",
        properties: {
          region: { type: "string", "x-mcp-header": "Region" },
          options: { type: "object", properties: { dry: { type: "boolean", "x-mcp-header": "Dry-Run" } } },
        },
      },
    },
    () => 1,
  );
  server.tool("plain", {}, () => 1);
  const headersOf = (method: string, params?: Record<string, unknown>) =>
    server.mirroredHeaders({ jsonrpc: "2.0", id: 1, method, ...(params !== undefined && { params }) });

  it("gives the values of the call, undefined where there is none", () => {
    expect(
      headersOf("tools/call", { name: "query", arguments: { region: "eu", options: { dry: false } } }),
    ).toEqual([
      { header: "mcp-param-region", type: "string", value: "eu" },
      { header: "mcp-param-dry-run", type: "boolean", value: false },
    ]);
    for (const args of [undefined, null, [], "x", {}, { region: null, options: null }]) {
      expect(headersOf("tools/call", { name: "query", arguments: args }).map(({ value }) => value)).toEqual([
        undefined,
        undefined,
      ]);
    }
  });

  it("gives none for other tools, other methods and malformed calls", () => {
    expect(headersOf("tools/call", { name: "plain" })).toEqual([]);
    expect(headersOf("tools/call", { name: "nope" })).toEqual([]);
    expect(headersOf("tools/call", { name: 5 })).toEqual([]);
    expect(headersOf("tools/call")).toEqual([]);
    expect(headersOf("tools/list", { name: "query" })).toEqual([]);
  });
});

describe("arguments", () => {
  const event = z.object({
    title: z.string(),
    startsAt: z.iso.datetime().optional(),
    guests: z.array(z.string()).optional(),
  });

  it("are what the schema makes of them", async () => {
    const { server, call } = build();
    server.tool(
      "convert",
      { input: z.object({ n: z.coerce.number(), unit: z.string().default("m") }) },
      (args) => args,
    );
    expect(JSON.parse(textOf(await call("convert", { n: "5", extra: true })))).toEqual({ n: 5, unit: "m" });
  });

  it("may be left out where all of them are optional", async () => {
    const { server, call } = build();
    server.tool("search", { input: z.object({ q: z.string().optional() }) }, (args) => args);
    server.tool("none", {}, (args) => args);
    for (const name of ["search", "none"]) {
      expect(textOf(await call(name))).toBe("{}");
      expect(textOf(await call(name, {}))).toBe("{}");
    }
  });

  it("are a result that names every problem where they do not fit", async () => {
    const { server, call, onError } = build();
    const handler = vi.fn(() => 1);
    server.tool("create", { input: event }, handler);
    const result = await call("create", { startsAt: "tomorrow", guests: ["a", 5] });
    expect(result.isError).toBe(true);
    const lines = textOf(result).split("\n");
    expect(lines[0]).toBe('Invalid arguments for tool "create":');
    expect(
      lines
        .slice(1)
        .map((line) => line.split(":")[0])
        .sort(),
    ).toEqual(["guests[1]", "startsAt", "title"]);
    expect(handler).not.toHaveBeenCalled();
    expect(onError).not.toHaveBeenCalled();
  });

  it("that are missing are named, too", async () => {
    const { server, call } = build();
    server.tool("create", { input: event }, () => 1);
    expect(textOf(await call("create"))).toMatch(/^Invalid arguments for tool "create":\ntitle: /);
  });

  it.each([
    ["null", null],
    ["an array", []],
    ["a string", "x"],
    ["a number", 1],
  ])("are refused as %s", async (_, args) => {
    const { server, caller } = build();
    server.tool("create", { input: event }, () => 1);
    expect(await caller.error("tools/call", { name: "create", arguments: args })).toEqual({
      code: -32602,
      message: "params.arguments must be an object",
    });
  });

  it("of a tool that takes none are refused by name", async () => {
    const { server, call } = build();
    server.tool("none", {}, () => 1);
    const args = JSON.parse('{"a":1,"__proto__":{"x":1}}') as object;
    const result = await call("none", args);
    expect(result.isError).toBe(true);
    expect(textOf(result).split("\n").slice(1)).toEqual([
      "a: this tool takes no arguments",
      "__proto__: this tool takes no arguments",
    ]);
  });

  it("called __proto__ or constructor are ordinary", async () => {
    const { server, call } = build();
    const input = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"object"},"constructor":{"type":"string"}},"required":["constructor"],"additionalProperties":false}',
    ) as Record<string, unknown>;
    server.tool("odd", { input }, (args) => ({
      keys: Object.keys(args),
      polluted: (args as { admin?: boolean }).admin ?? false,
    }));
    const args = JSON.parse('{"__proto__":{"admin":true},"constructor":"c"}') as object;
    expect(JSON.parse(textOf(await call("odd", args)))).toEqual({
      keys: ["__proto__", "constructor"],
      polluted: false,
    });
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
    expect(textOf(await call("odd"))).toContain("constructor: is required");
    expect(textOf(await call("odd", { toString: 1, constructor: "c" }))).toContain(
      "toString: is not allowed",
    );
  });

  it("are validated by the dialect that the schema declares", async () => {
    const { server, call } = build();
    const input = {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: {
        pair: { type: "array", items: [{ type: "string" }, { type: "number" }], additionalItems: false },
      },
    };
    server.tool("pair", { input }, () => "ok");
    expect(textOf(await call("pair", { pair: ["a", 1] }))).toBe("ok");
    expect(textOf(await call("pair", { pair: ["a", 1, 2] }))).toContain("pair[2]: is not allowed");
  });

  it("that are wrong in thousands of places make an answer of bounded size", async () => {
    const { server, call } = build();
    server.tool("many", { input: z.object({ list: z.array(z.number()) }) }, () => 1);
    const result = await call("many", { list: Array.from({ length: 50_000 }, () => "x") });
    expect(textOf(result)).toMatch(/\.\.\. and 49900 more$/);
    expect(textOf(result).length).toBeLessThan(20_000);
  });

  it("whose schema throws make a concealed failure", async () => {
    const { server, call, onError } = build();
    const input = z.object({
      a: z.string().transform(() => {
        throw new Error("password in transform");
      }),
    });
    server.tool("broken", { input }, () => 1);
    const result = await call("broken", { a: "x" });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/^Tool "broken" failed\. .* reference [0-9a-z]{8}\.$/);
    expect(onError).toHaveBeenCalledOnce();
  });
});

describe("results", () => {
  it.each<[string, unknown, CallToolResult["content"]]>([
    ["a string", "line\n2", [{ type: "text", text: "line\n2" }]],
    ["an empty string", "", [{ type: "text", text: "" }]],
    ["an object", { a: [1, null], b: undefined }, [{ type: "text", text: '{"a":[1,null]}' }]],
    ["an array", ["a"], [{ type: "text", text: '["a"]' }]],
    ["a number", 0, [{ type: "text", text: "0" }]],
    ["false", false, [{ type: "text", text: "false" }]],
    ["null", null, [{ type: "text", text: "null" }]],
    ["undefined", undefined, []],
    ["a date", new Date(0), [{ type: "text", text: '"1970-01-01T00:00:00.000Z"' }]],
    ["content from a string", content("x"), [{ type: "text", text: "x" }]],
    ["no content", content([]), []],
  ])("of %s", async (_, value, expected) => {
    const { server, call } = build();
    server.tool("sync", {}, () => value);
    server.tool("async", {}, async () => value);
    for (const name of ["sync", "async"]) {
      const result = await call(name);
      expect(result.content).toEqual(expected);
      expect(result).not.toHaveProperty("isError");
      expect(result).not.toHaveProperty("structuredContent");
    }
  });

  it("may be built by hand from every kind of block", async () => {
    const { server, call } = build();
    const bytes = new Uint8Array([0, 250, 251, 252, 253, 254, 255]).subarray(1);
    server.tool("all", {}, () =>
      content(
        [
          "plain",
          text("hint", { annotations: { audience: ["user"], priority: 0.5 } }),
          image(bytes, "image/png"),
          audio("AAEC", "audio/wav"),
          resourceLink("file:///a.txt", "a.txt", { mimeType: "text/plain" }),
          embedded({ uri: "file:///b.txt", text: "b" }),
        ],
        { structured: { n: 1 }, _meta: { "com.example/x": true } },
      ),
    );
    const result = await call("all");
    expect(result.content).toEqual([
      { type: "text", text: "plain" },
      { type: "text", text: "hint", annotations: { audience: ["user"], priority: 0.5 } },
      { type: "image", data: "+vv8/f7/", mimeType: "image/png" },
      { type: "audio", data: "AAEC", mimeType: "audio/wav" },
      { type: "resource_link", uri: "file:///a.txt", name: "a.txt", mimeType: "text/plain" },
      { type: "resource", resource: { uri: "file:///b.txt", text: "b" } },
    ]);
    expect(result.structuredContent).toEqual({ n: 1 });
    expect(result._meta).toMatchObject({ "com.example/x": true });
  });

  it("are also structured where there is an output schema", async () => {
    const { server, call } = build();
    server.tool(
      "weather",
      { output: z.object({ celsius: z.number() }) },
      () => ({ celsius: 21.5, secret: "x" }) as never,
    );
    const result = await call("weather");
    // What the schema leaves out is not sent.
    expect(result.structuredContent).toEqual({ celsius: 21.5 });
    expect(textOf(result)).toBe('{"celsius":21.5}');
    expect(result).not.toHaveProperty("isError");
  });

  it("may be structured and described in one's own words", async () => {
    const { server, call } = build();
    server.tool(
      "count",
      { output: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } },
      () => content("Three rows.", { structured: { n: 3 } }),
    );
    expect(await call("count")).toMatchObject({
      content: [{ text: "Three rows." }],
      structuredContent: { n: 3 },
    });
  });

  it("take the output schema's own values: null, numbers, strings", async () => {
    const { server, call } = build();
    server.tool("null", { output: z.null() }, () => null);
    server.tool("zero", { output: z.number() }, () => 0);
    server.tool("text", { output: z.string() }, () => "plain");
    server.tool(
      "codec",
      { output: z.codec(z.bigint(), z.string(), { decode: String, encode: BigInt }) },
      () => 12n as never,
    );
    expect(await call("null")).toMatchObject({ structuredContent: null, content: [{ text: "null" }] });
    expect(await call("zero")).toMatchObject({ structuredContent: 0, content: [{ text: "0" }] });
    expect(await call("text")).toMatchObject({ structuredContent: "plain", content: [{ text: "plain" }] });
    expect(await call("codec")).toMatchObject({ structuredContent: "12", content: [{ text: "12" }] });
  });

  it.each<[string, () => unknown]>([
    ["another shape", () => ({ celsius: "warm SECRET" })],
    ["nothing", () => undefined],
    ["content without structure", () => content("SECRET")],
    ["content with another shape", () => content("x", { structured: { SECRET: 1 } })],
  ])("that do not fit the output schema are a concealed failure: %s", async (_, handler) => {
    for (const output of [
      z.object({ celsius: z.number() }),
      { type: "object", properties: { celsius: { type: "number" } }, required: ["celsius"] },
    ]) {
      const { server, call, onError } = build();
      server.tool("weather", { output: output as never }, handler as never);
      const result = await call("weather");
      expect(result.isError).toBe(true);
      expect(result).not.toHaveProperty("structuredContent");
      expect(JSON.stringify(result)).not.toContain("SECRET");
      expect(onError).toHaveBeenCalledOnce();
      expect(String(onError.mock.calls[0]?.[0])).toContain(
        "the result of weather does not fit its output schema",
      );
    }
  });

  it("that say they are errors need not fit the output schema", async () => {
    const { server, call, onError } = build();
    server.tool("weather", { output: z.object({ celsius: z.number() }) }, () =>
      content("No such city.", { isError: true, structured: { code: "no_city" } }),
    );
    expect(await call("weather")).toMatchObject({
      isError: true,
      content: [{ text: "No such city." }],
      structuredContent: { code: "no_city" },
    });
    expect(onError).not.toHaveBeenCalled();
  });

  it.each<[string, () => unknown]>([
    ["a function", () => () => "source"],
    ["a symbol", () => Symbol("s")],
    ["a bigint", () => 1n],
    [
      "a cycle",
      () => {
        const cycle: Record<string, unknown> = {};
        cycle["self"] = cycle;
        return cycle;
      },
    ],
  ])("that have no JSON are a concealed failure: %s", async (_, handler) => {
    const { server, call, onError } = build();
    server.tool("odd", {}, handler);
    const result = await call("odd");
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/^Tool "odd" failed\./);
    expect(onError).toHaveBeenCalledOnce();
  });
});

describe("failures", () => {
  it("say word for word what a ToolError says", async () => {
    const { server, call, onError } = build();
    server.tool("close", {}, () => {
      throw new ToolError("No open incident 7.\nCall search_incidents first.");
    });
    expect(await call("close")).toMatchObject({
      isError: true,
      content: [{ type: "text", text: "No open incident 7.\nCall search_incidents first." }],
    });
    expect(onError).not.toHaveBeenCalled();
  });

  it.each<[string, unknown]>([
    ["an error", new Error("connect ECONNREFUSED db:5432 password=hunter2")],
    ["an error with a cause", new Error("outer hunter2", { cause: new Error("inner hunter2") })],
    ["a string", "hunter2"],
    ["an object", { password: "hunter2" }],
    ["undefined", undefined],
  ])("conceal %s, under a reference that the log has", async (_, thrown) => {
    for (const fail of [
      () => {
        throw thrown;
      },
      () => Promise.reject(thrown),
    ]) {
      const { server, caller, onError } = build();
      server.tool("query", {}, fail);
      const response = await caller.send("tools/call", { name: "query" });
      expect(JSON.stringify(response)).not.toContain("hunter2");
      const result = (response as unknown as { result: CallToolResult }).result;
      expect(result.isError).toBe(true);
      const reference =
        /^Tool "query" failed\. The server's log has the details under reference ([0-9a-z]{8})\.$/.exec(
          textOf(result),
        )?.[1];
      expect(onError).toHaveBeenCalledExactlyOnceWith(thrown, { what: 'Tool "query"', reference });
    }
  });

  it("are the error that a ProtocolError says", async () => {
    const { server, caller, onError } = build();
    server.tool("strict", {}, () => {
      throw new ProtocolError(ErrorCode.InvalidParams, "Not like this", { why: "because" });
    });
    expect(await caller.error("tools/call", { name: "strict" })).toEqual({
      code: -32602,
      message: "Not like this",
      data: { why: "because" },
    });
    expect(onError).not.toHaveBeenCalled();
  });

  it("stay concealed where onError fails itself", async () => {
    const stderr = vi.spyOn(console, "error").mockImplementation(() => {});
    const server = checkedServer(
      createServer({
        name: "test",
        version: "1.0.0",
        onError: () => {
          throw new Error("log is full");
        },
      }),
    );
    server.tool("query", {}, () => {
      throw new Error("hunter2");
    });
    const result = await callerOf(server).result<CallToolResult>("tools/call", { name: "query" });
    expect(textOf(result)).toMatch(/^Tool "query" failed\./);
    expect(stderr).toHaveBeenCalledOnce();
    stderr.mockRestore();
  });

  it("go to stderr where nobody else takes them", async () => {
    const stderr = vi.spyOn(console, "error").mockImplementation(() => {});
    const server = checkedServer(createServer({ name: "test", version: "1.0.0" }));
    const error = new Error("hunter2");
    server.tool("query", {}, () => {
      throw error;
    });
    const result = await callerOf(server).result<CallToolResult>("tools/call", { name: "query" });
    const reference = /reference ([0-9a-z]{8})/.exec(textOf(result))?.[1];
    expect(stderr).toHaveBeenCalledExactlyOnceWith(`Tool "query" failed (reference ${reference}):`, error);
    stderr.mockRestore();
  });

  it.each(["nope", "", "__proto__", "constructor", "toString", "hasOwnProperty"])(
    "name the unknown tool %j",
    async (name) => {
      const { server, caller } = build();
      server.tool("known", {}, () => 1);
      expect(await caller.error("tools/call", { name })).toEqual({
        code: -32602,
        message: `Unknown tool: ${name}`,
      });
    },
  );

  it.each([[undefined], [null], [5], [{}], [["known"]]])(
    "say that the name must be a string, not %j",
    async (name) => {
      const { server, caller } = build();
      server.tool("known", {}, () => 1);
      expect(await caller.error("tools/call", { name })).toEqual({
        code: -32602,
        message: "params.name must be a string",
      });
    },
  );

  it("come to a tool that was removed as to one that never was", async () => {
    const { server, caller, call } = build();
    server.tool("other", {}, () => 1);
    const registration = server.tool("gone", {}, () => "here");
    expect(textOf(await call("gone"))).toBe("here");
    registration.remove();
    registration.remove();
    expect(await caller.error("tools/call", { name: "gone" })).toMatchObject({ code: -32602 });
    server.tool("gone", {}, () => "back");
    registration.remove();
    expect(textOf(await call("gone"))).toBe("back");
  });
});
