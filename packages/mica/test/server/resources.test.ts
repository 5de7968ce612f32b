/** Resources and templates: what is listed, what is read, and what is said of what does not exist. */
import { describe, expect, it, vi } from "vitest";
import { ErrorCode, ProtocolError, ToolError } from "../../src/protocol/errors.js";
import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
} from "../../src/protocol/features.js";
import type { OnError } from "../../src/server/failure.js";
import { contents } from "../../src/server/resource-contents.js";
import { createServer } from "../../src/server/server.js";
import { parseUriTemplate } from "../../src/server/uri-template.js";
import { callerOf } from "../support/caller.js";
import { checkedServer } from "../support/wire-schema.js";

function build(options: Partial<Parameters<typeof createServer>[0]> = {}) {
  const onError = vi.fn<OnError>();
  const server = checkedServer(createServer({ name: "test", version: "1.0.0", onError, ...options }));
  const caller = callerOf(server);
  const read = (uri: string) => caller.result<ReadResourceResult>("resources/read", { uri });
  const failure = (uri: unknown) => caller.error("resources/read", { uri });
  return { server, caller, read, failure, onError };
}

describe("lists", () => {
  it("say what the author said", async () => {
    const { server, caller } = build();
    const traits = {
      title: "Week",
      description: "This week",
      mimeType: "application/json",
      icons: [{ src: "data:image/png;base64,AA==" }],
      annotations: { audience: ["user" as const], priority: 1, lastModified: "2026-01-01T00:00:00Z" },
      _meta: { "com.example/x": 1 },
    };
    server.resource(
      "calendar://week",
      { name: "week", size: 12, ...traits, cache: { ttlMs: 1, cacheScope: "public" } },
      () => ({}),
    );
    server.resourceTemplate(
      "calendar://{day}",
      { name: "day", ...traits, complete: { day: ["monday"] } },
      () => ({}),
    );
    expect(await caller.result<ListResourcesResult>("resources/list")).toMatchObject({
      resources: [{ uri: "calendar://week", name: "week", size: 12, ...traits }],
      ttlMs: 300_000,
      cacheScope: "public",
    });
    const { resourceTemplates } =
      await caller.result<ListResourceTemplatesResult>("resources/templates/list");
    expect(resourceTemplates).toEqual([{ uriTemplate: "calendar://{day}", name: "day", ...traits }]);
  });
});

describe("reading", () => {
  it.each<[string, unknown, object]>([
    ["a string", "hello", { text: "hello" }],
    ["an empty string", "", { text: "" }],
    ["bytes", new Uint8Array([255, 254]), { blob: "//4=" }],
    ["a view of bytes", new Uint8Array([0, 1, 2, 3]).subarray(1, 3), { blob: "AQI=" }],
    ["no bytes", new Uint8Array(), { blob: "" }],
    ["a buffer", Buffer.from("ä"), { blob: "w6Q=" }],
    ["an array buffer", new Uint8Array([1, 2]).buffer, { blob: "AQI=" }],
    ["an object", { a: [1] }, { text: '{"a":[1]}', mimeType: "application/json" }],
    ["null", null, { text: "null", mimeType: "application/json" }],
    ["a number", 5, { text: "5", mimeType: "application/json" }],
  ])("%s", async (_, value, item) => {
    const { server, read } = build();
    server.resource("x:a", { name: "a" }, async () => value);
    expect((await read("x:a")).contents).toEqual([{ uri: "x:a", ...item }]);
  });

  it("uses the declared type", async () => {
    const { server, read } = build();
    server.resource("x:text", { name: "a", mimeType: "text/x-rust" }, () => "fn main() {}");
    server.resource("x:json", { name: "a", mimeType: "application/geo+json" }, () => ({ type: "Point" }));
    expect((await read("x:text")).contents).toEqual([
      { uri: "x:text", mimeType: "text/x-rust", text: "fn main() {}" },
    ]);
    expect((await read("x:json")).contents).toMatchObject([{ mimeType: "application/geo+json" }]);
  });

  it("gives several contents, with addresses, types and hints of their own", async () => {
    const { server, read } = build();
    server.resource("x:dir", { name: "dir", mimeType: "inode/directory" }, () =>
      contents(
        [
          { uri: "x:dir/a", text: "a", mimeType: "text/plain" },
          { uri: "x:dir/b", blob: new Uint8Array([1]), _meta: { "com.example/x": 1 } },
          { blob: "AQ==" },
        ],
        { ttlMs: 5_000, cacheScope: "public" },
      ),
    );
    expect(await read("x:dir")).toMatchObject({
      contents: [
        { uri: "x:dir/a", mimeType: "text/plain", text: "a" },
        { uri: "x:dir/b", mimeType: "inode/directory", blob: "AQ==", _meta: { "com.example/x": 1 } },
        { uri: "x:dir", mimeType: "inode/directory", blob: "AQ==" },
      ],
      ttlMs: 5_000,
      cacheScope: "public",
    });
  });

  it("gives no contents where there are none: an empty folder exists", async () => {
    const { server, read } = build();
    server.resource("x:empty", { name: "empty" }, () => contents([]));
    expect((await read("x:empty")).contents).toEqual([]);
  });

  it("gives hints of the resource, then of the server, stale and private by default", async () => {
    const { server, read } = build();
    const own = { ttlMs: 60_000, cacheScope: "public" as const };
    server.resource("x:own", { name: "a", cache: own }, () => "");
    server.resource("x:default", { name: "a" }, () => "");
    server.resourceTemplate("y:{a}", { name: "a", cache: own }, () => "");
    expect(await read("x:own")).toMatchObject(own);
    expect(await read("y:1")).toMatchObject(own);
    expect(await read("x:default")).toMatchObject({ ttlMs: 0, cacheScope: "private" });
    const other = build({ cache: { read: { ttlMs: 9, cacheScope: "private" } } });
    other.server.resource("x:default", { name: "a" }, () => "");
    expect(await other.read("x:default")).toMatchObject({ ttlMs: 9 });
  });

  it("prefers the exact address, then templates in the order they came", async () => {
    const { server, read } = build();
    server.resourceTemplate("x:{a}", { name: "first" }, ({ a }) => `first ${a}`);
    server.resourceTemplate("x:{+b}", { name: "second" }, ({ b }) => `second ${b}`);
    server.resource("x:1", { name: "exact" }, () => "exact");
    const text = async (uri: string) =>
      (await read(uri)).contents.map((item) => ("text" in item ? item.text : ""))[0];
    expect(await text("x:1")).toBe("exact");
    expect(await text("x:2")).toBe("first 2");
    expect(await text("x:2/3")).toBe("second 2/3");
  });

  it("hands template readers decoded variables, and the address as it came", async () => {
    const { server, read } = build();
    const reader = vi.fn((variables: Record<string, string | string[]>) => variables);
    server.resourceTemplate("file:///{path}", { name: "file" }, (variables, _, uri) => {
      reader(variables);
      return { variables, uri };
    });
    const uri = "file:///My%20File.txt";
    expect((await read(uri)).contents).toMatchObject([
      { uri, text: JSON.stringify({ variables: { path: "My File.txt" }, uri }) },
    ]);
    expect(reader).toHaveBeenCalledWith({ path: "My File.txt" });
    // What it got makes the same address again.
    expect(parseUriTemplate("file:///{path}").expand({ path: "My File.txt" })).toBe(uri);
  });
});

describe("what does not exist", () => {
  it.each(["x:nope", "x:a ", "X:a", "", "file:///a/b", "__proto__", "x:ä", `x:${"a".repeat(1_000_000)}`])(
    "is -32602 with its address: %.30s",
    async (uri) => {
      const { server, failure } = build();
      server.resource("x:a", { name: "a" }, () => "");
      server.resourceTemplate("file:///{path}", { name: "file" }, () => "");
      expect(await failure(uri)).toEqual({
        code: -32602,
        message: `Resource not found: ${uri}`,
        data: { uri },
      });
    },
  );

  it("includes what a reader knows not to exist", async () => {
    const { server, failure } = build();
    server.resourceTemplate("file:///{path}", { name: "file" }, ({ path }) =>
      path === "a" ? "a" : undefined,
    );
    expect(await failure("file:///b")).toMatchObject({ code: -32602, data: { uri: "file:///b" } });
  });

  it("includes what was removed", async () => {
    const { server, read, failure } = build();
    const registration = server.resource("x:a", { name: "a" }, () => "a");
    await read("x:a");
    registration.remove();
    expect(await failure("x:a")).toMatchObject({ code: -32602, data: { uri: "x:a" } });
  });

  it("is not looked for beyond the length that templates are matched with", async () => {
    const { server, read, failure } = build({ limits: { maxUriLength: 20 } });
    const long = `x:${"a".repeat(30)}`;
    server.resourceTemplate("x:{a}", { name: "a" }, ({ a }) => a);
    expect(await failure(long)).toMatchObject({ code: -32602 });
    expect((await read("x:aaaaaaaaaaaaaaaaaa")).contents).toHaveLength(1);
    server.resource(long, { name: "long" }, () => "exact");
    expect((await read(long)).contents).toMatchObject([{ text: "exact" }]);
  });

  it.each([[undefined], [null], [5], [{ toString: 1, valueOf: 1 }], [["x:a"]]])(
    "is malformed as %j",
    async (uri) => {
      const { server, failure } = build();
      server.resource("x:a", { name: "a" }, () => "");
      expect(await failure(uri)).toEqual({ code: -32602, message: "params.uri must be a string" });
    },
  );
});

describe("failures", () => {
  it("conceal what was thrown, under a reference", async () => {
    const { server, failure, onError } = build();
    const error = new Error("EACCES /etc/shadow");
    server.resource("x:a", { name: "a" }, () => {
      throw error;
    });
    const { code, message } = await failure("x:a");
    expect(code).toBe(-32603);
    expect(message).toMatch(/^Reading resource x:a failed\. .* reference [0-9a-z]{8}\.$/);
    expect(onError).toHaveBeenCalledExactlyOnceWith(
      error,
      expect.objectContaining({ what: "Reading resource x:a" }),
    );
  });

  it("say what the author decided to say", async () => {
    const { server, failure, onError } = build();
    server.resource("x:tool", { name: "a" }, () => {
      throw new ToolError("The archive is closed on Sundays.");
    });
    server.resource("x:protocol", { name: "a" }, () => {
      throw new ProtocolError(ErrorCode.InvalidParams, "Page 9 of 8", { pages: 8 });
    });
    expect(await failure("x:tool")).toEqual({ code: -32603, message: "The archive is closed on Sundays." });
    expect(await failure("x:protocol")).toEqual({ code: -32602, message: "Page 9 of 8", data: { pages: 8 } });
    expect(onError).not.toHaveBeenCalled();
  });

  it.each<[string, () => unknown]>([
    ["a function", () => () => 1],
    [
      "a cycle",
      () => {
        const cycle: Record<string, unknown> = {};
        cycle["self"] = cycle;
        return cycle;
      },
    ],
    ["an item with neither text nor blob", () => contents([{ mimeType: "text/plain" }])],
  ])("include contents that cannot be sent: %s", async (_, reader) => {
    const { server, failure, onError } = build();
    server.resource("x:a", { name: "a" }, reader);
    expect(await failure("x:a")).toMatchObject({ code: -32603 });
    expect(onError).toHaveBeenCalledOnce();
  });
});

describe("registration", () => {
  it.each(["file:///a", "calendar://week", "urn:isbn:1", "x:", "git+ssh://a@b/c", "test:ä"])(
    "takes the address %s",
    (uri) => {
      expect(() => build().server.resource(uri, { name: "a" }, () => "")).not.toThrow();
    },
  );

  it.each([[""], ["week"], ["/a/b"], ["1x:a"], ["x:a b"], ["x:a\n"], [5], [undefined]])(
    "refuses the address %j",
    (uri) => {
      expect(() => build().server.resource(uri as string, { name: "a" }, () => "")).toThrow(
        /expected an absolute URI/,
      );
    },
  );

  it("refuses what cannot work, naming the resource", () => {
    const { server } = build();
    server.resource("x:a", { name: "a" }, () => "");
    server.resourceTemplate("x:{a}", { name: "a" }, () => "");
    expect(() => server.resource("x:a", { name: "b" }, () => "")).toThrow(
      'resource "x:a" is registered already',
    );
    expect(() => server.resourceTemplate("x:{a}", { name: "b" }, () => "")).toThrow(
      'resource template "x:{a}" is registered already',
    );
    expect(() => server.resource("x:b", { name: "" }, () => "")).toThrow(
      'resource "x:b": definition.name must be a non-empty string',
    );
    expect(() => server.resource("x:b", { name: "b" }, "text" as never)).toThrow(
      'resource "x:b": the reader must be a function, got string',
    );
    expect(() =>
      server.resource("x:b", { name: "b", cache: { ttlMs: 1.5, cacheScope: "public" } }, () => ""),
    ).toThrow('resource "x:b": ttlMs');
    expect(() => server.resourceTemplate("x:{", { name: "b" }, () => "")).toThrow(
      'URI template "x:{" has a { without its }',
    );
    expect(() => server.resourceTemplate("x:{a}{b}", { name: "b" }, () => "")).toThrow(
      'resource template "x:{a}{b}" has two expressions',
    );
    expect(() => server.resourceTemplate("x:{a}/{a}", { name: "b" }, () => "")).toThrow(
      'resource template "x:{a}/{a}" has the variable a twice',
    );
    expect(() => server.resourceTemplate("y:{a}", { name: "b", complete: { c: [] } }, () => "")).toThrow(
      'resource template "y:{a}": complete.c names no argument; it has a',
    );
    expect(() => contents([], { ttlMs: -1, cacheScope: "public" })).toThrow("contents: ttlMs");
  });
});
