/** What a client makes of tool definitions: mirrored arguments (case 10) and checked output (case 14). */
import { describe, expect, it } from "vitest";
import { ProtocolError } from "../../src/protocol/errors.js";
import { clientOf, gate, never, scripted } from "./scripted.js";

const HINTS = { ttlMs: 60_000, cacheScope: "public" };
const text = { content: [{ type: "text", text: "done" }] };
const annotated = (type: string, header = "Region") => ({
  type: "object",
  properties: { region: { type, "x-mcp-header": header } },
});

describe("x-mcp-header", () => {
  const listing = {
    "tools/list": () => ({
      tools: [
        { name: "good", inputSchema: annotated("string") },
        {
          name: "bad",
          inputSchema: { type: "object", properties: { score: { type: "number", "x-mcp-header": "Score" } } },
        },
        { name: "plain", inputSchema: { type: "object" } },
      ],
      ...HINTS,
    }),
    "tools/call": () => text,
  };

  it("a tool with an invalid annotation is left out over HTTP, the others stay, and it is said why (case 10)", async () => {
    const server = scripted(listing, { mirrors: true });
    const client = await clientOf(server);
    const { tools, leftOut, complete } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["good", "plain"]);
    expect(complete).toBe(true);
    expect(leftOut).toEqual([
      { name: "bad", reason: expect.stringMatching(/"Score" at properties\.score.*got "number"/) },
    ]);
    expect(client.warnings).toEqual([
      {
        code: "entry_left_out",
        message: expect.stringMatching(/tool "bad" was left out.*"Score".*got "number"/),
      },
    ]);
    await expect(client.callTool("bad", { score: 1 })).rejects.toMatchObject({
      code: "invalid_response",
      message: expect.stringMatching(/"bad" cannot be called.*Score/),
    });
    expect(server.sent("tools/call")).toHaveLength(0);
    await client.close();
  });

  it("means nothing on other transports", async () => {
    const server = scripted(listing);
    const client = await clientOf(server);
    expect((await client.listTools()).tools).toHaveLength(3);
    await client.callTool("bad", { score: 1 });
    expect(client.warnings).toEqual([]);
    expect(server.sent("tools/list")).toHaveLength(1);
    await client.close();
  });

  it("arguments are mirrored after listing the tools once, however many calls wait for that", async () => {
    const mirrored: unknown[] = [];
    const server = scripted(
      {
        "tools/list": () => ({
          tools: [
            {
              name: "t",
              inputSchema: {
                type: "object",
                properties: {
                  region: { type: "string", "x-mcp-header": "Region" },
                  deep: { type: "object", properties: { dry: { type: "boolean", "x-mcp-header": "Dry" } } },
                  count: { type: "integer", "x-mcp-header": "Count" },
                },
              },
            },
          ],
          ttlMs: 0,
          cacheScope: "private",
        }),
        "tools/call": (_, scene) => {
          mirrored.push(scene.mirrored);
          return text;
        },
      },
      { mirrors: true },
    );
    const client = await clientOf(server);
    await Promise.all([
      client.callTool("t", { region: "eu", deep: { dry: false }, count: 0 }),
      client.callTool("t", { region: null, other: 1 }),
    ]);
    await client.request("tools/call", { name: "t", arguments: { region: "" } });
    await client.callTool("unknown", {});
    expect(mirrored).toEqual([
      [
        { header: "mcp-param-region", type: "string", value: "eu" },
        { header: "mcp-param-dry", type: "boolean", value: false },
        { header: "mcp-param-count", type: "integer", value: 0 },
      ],
      [],
      [{ header: "mcp-param-region", type: "string", value: "" }],
      [],
    ]);
    expect(server.sent("tools/list")).toHaveLength(1);
    await expect(client.callTool("t", { count: 2 ** 53 })).rejects.toThrow(
      /arguments\.count: expected an integer/,
    );
    await expect(client.callTool("t", { region: "\ud800" })).rejects.toThrow(TypeError);
    await client.close();
  });

  it("a header mismatch lists the tools again and repeats the call, once", async () => {
    let header = "Old";
    const tries: unknown[] = [];
    const server = scripted(
      {
        "tools/list": () => ({ tools: [{ name: "t", inputSchema: annotated("string", header) }], ...HINTS }),
        "tools/call": (_, { mirrored, id }) => {
          tries.push([id, mirrored?.map(({ header: name }) => name)]);
          if (mirrored?.[0]?.header !== "mcp-param-new") throw new ProtocolError(-32020, "Header mismatch");
          return text;
        },
      },
      { mirrors: true },
    );
    const client = await clientOf(server);
    await client.listTools();
    header = "New";
    expect(await client.callTool("t", { region: "eu" })).toEqual(text);
    expect(tries).toEqual([
      [3, ["mcp-param-old"]],
      [5, ["mcp-param-new"]],
    ]);
    header = "Newer";
    await client.listTools({ fresh: true });
    await expect(client.callTool("t", { region: "eu" })).rejects.toMatchObject({ cause: { code: -32020 } });
    expect(tries).toHaveLength(4);
    await client.close();
  });

  it("tools that cannot be listed are called without headers, and it is said", async () => {
    const server = scripted(
      {
        "tools/list": () => {
          throw new ProtocolError(-32603, "Internal error");
        },
        "tools/call": () => text,
      },
      { mirrors: true },
    );
    const client = await clientOf(server);
    expect(await client.callTool("t")).toEqual(text);
    expect(client.warnings).toMatchObject([
      { code: "headers_unknown", message: expect.stringContaining('"t"') },
    ]);
    await client.close();
  });

  it("a caller that gives up waiting for the list does not take it from the others", async () => {
    const listed = gate();
    const server = scripted(
      {
        "tools/list": async () => {
          await listed.passed;
          return { tools: [], ...HINTS };
        },
        "tools/call": () => text,
      },
      { mirrors: true },
    );
    const client = await clientOf(server);
    const controller = new AbortController();
    const impatient = client.callTool("t", {}, { signal: controller.signal });
    const patient = client.callTool("t");
    controller.abort();
    await expect(impatient).rejects.toMatchObject({ code: "aborted" });
    listed.open();
    expect(await patient).toEqual(text);
    expect(server.sent("tools/list")).toHaveLength(1);
    await client.close();
  });

  it("a changed list is forgotten", async () => {
    const server = scripted(
      {
        ...listing,
        "subscriptions/listen": (_, { id, notify }) => {
          notify("notifications/subscriptions/acknowledged", { notifications: { toolsListChanged: true } });
          notify("notifications/tools/list_changed", {
            _meta: { "io.modelcontextprotocol/subscriptionId": id },
          });
          return {};
        },
      },
      { mirrors: true },
    );
    const client = await clientOf(server);
    await client.callTool("good");
    await client.callTool("good");
    expect(server.sent("tools/list")).toHaveLength(1);
    for await (const _ of client.listen({ toolsListChanged: true }));
    await client.callTool("good");
    expect(server.sent("tools/list")).toHaveLength(2);
    await client.close();
  });
});

describe("output schemas", () => {
  const withOutput = (
    outputSchema: unknown,
    structuredContent: unknown,
    more: Record<string, unknown> = {},
  ) =>
    scripted({
      "tools/list": () => ({
        tools: [{ name: "t", inputSchema: { type: "object" }, outputSchema }],
        ...HINTS,
      }),
      "tools/call": () => ({
        ...text,
        ...(structuredContent !== undefined && { structuredContent }),
        ...more,
      }),
    });
  const rows = { type: "object", properties: { rows: { type: "integer" } }, required: ["rows"] };

  it.each([
    [rows, { rows: 3 }],
    [{ type: "array", items: { type: "string" } }, ["a"]],
    [{ type: "null" }, null],
    [{ $schema: "https://json-schema.org/draft/2020-12/schema", const: false }, false],
    [{ $schema: "http://json-schema.org/draft-07/schema#", type: "object" }, {}],
  ])("output that fits passes, by its own dialect (case 14, %#)", async (schema, structured) => {
    const client = await clientOf(withOutput(schema, structured));
    await client.listTools();
    expect((await client.callTool("t")).structuredContent).toEqual(structured);
    expect(client.warnings).toEqual([]);
    await client.close();
  });

  it.each([
    [rows, { rows: "3" }, /tool "t" does not fit its output schema: rows: /],
    [rows, {}, /rows/],
    [rows, undefined, /structuredContent is missing/],
    [
      { $schema: "http://json-schema.org/draft-07/schema#", type: "array", items: [{ type: "string" }] },
      [1],
      /\[0\]/,
    ],
  ])("output that does not is refused, naming the place (%#)", async (schema, structured, message) => {
    const client = await clientOf(withOutput(schema, structured));
    await client.listTools();
    await expect(client.callTool("t")).rejects.toMatchObject({
      code: "invalid_response",
      message: expect.stringMatching(message),
    });
    await client.close();
  });

  it("is not held against a failure, an unlisted tool, or with validateOutput false", async () => {
    const failed = await clientOf(withOutput(rows, undefined, { isError: true }));
    await failed.listTools();
    expect((await failed.callTool("t")).isError).toBe(true);

    const unlisted = await clientOf(withOutput(rows, {}));
    expect((await unlisted.callTool("t")).structuredContent).toEqual({});

    const lax = await clientOf(withOutput(rows, {}), { validateOutput: false });
    await lax.listTools();
    expect((await lax.callTool("t")).structuredContent).toEqual({});
    await Promise.all([failed.close(), unlisted.close(), lax.close()]);
  });

  it.each([
    [
      { $schema: "https://example.com/dialect", type: "object" },
      /unsupported JSON Schema dialect "https:\/\/example.com\/dialect"/,
    ],
    [{ type: "object", properties: { a: { $ref: "https://example.com/a.json" } } }, /local references/],
    [{ type: "nonsense" }, /"nonsense"/],
    ["object", /expected|must be/i],
  ])("a schema that cannot be used warns, and never blocks a call (case 14, %#)", async (schema, message) => {
    const client = await clientOf(withOutput(schema, { anything: 1 }));
    await client.listTools();
    for (let call = 0; call < 2; call += 1) {
      expect((await client.callTool("t")).structuredContent).toEqual({ anything: 1 });
    }
    expect(client.warnings).toMatchObject([
      { code: "output_unchecked", message: expect.stringMatching(message) },
    ]);
    expect(client.warnings[0]?.message).toContain('"t"');
    await client.close();
  });

  it("a schema that changed meanwhile is looked at before a result is refused", async () => {
    let outputSchema: unknown = rows;
    const server = scripted({
      "tools/list": () => ({
        tools: [{ name: "t", inputSchema: { type: "object" }, outputSchema }],
        ...HINTS,
      }),
      "tools/call": () => ({ ...text, structuredContent: { lines: 3 } }),
    });
    const client = await clientOf(server);
    await client.listTools();
    outputSchema = { type: "object", required: ["lines"] };
    expect((await client.callTool("t")).structuredContent).toEqual({ lines: 3 });
    expect(server.sent("tools/list")).toHaveLength(2);
    await client.callTool("t");
    expect(server.sent("tools/list")).toHaveLength(2);
    await client.close();
  });

  it("waiting for the current schema can be given up", async () => {
    let silent = false;
    const server = scripted({
      "tools/list": () =>
        silent
          ? never()
          : { tools: [{ name: "t", inputSchema: { type: "object" }, outputSchema: rows }], ...HINTS },
      "tools/call": () => ({ ...text, structuredContent: {} }),
    });
    const client = await clientOf(server);
    await client.listTools();
    silent = true;
    const controller = new AbortController();
    const call = client.callTool("t", {}, { signal: controller.signal });
    const failure = expect(call).rejects.toMatchObject({ code: "aborted" });
    while (server.sent("tools/list").length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    controller.abort();
    await failure;
    await client.close();
    expect(server.open).toBe(0);
  });
});
