/** Listing: all pages, one page, cursors that are nobody's business, entries that cannot be used. */
import { describe, expect, it } from "vitest";
import { ProtocolError } from "../../src/protocol/errors.js";
import { clientOf, scripted } from "./scripted.js";

const tool = (name: string, more: Record<string, unknown> = {}) => ({
  name,
  inputSchema: { type: "object" },
  ...more,
});
const HINTS = { ttlMs: 0, cacheScope: "private" };
const cursorsSent = (server: ReturnType<typeof scripted>, method = "tools/list") =>
  server.sent(method).map(({ params }) => (params && "cursor" in params ? params["cursor"] : undefined));

describe("collecting", () => {
  it("goes through all pages, and an empty cursor is a cursor (case 13)", async () => {
    const pages = new Map<unknown, unknown>([
      [undefined, { tools: [tool("a")], nextCursor: "", ...HINTS }],
      ["", { tools: [tool("b")], nextCursor: "0", ...HINTS }],
      ["0", { tools: [tool("c")], ...HINTS }],
    ]);
    const server = scripted({ "tools/list": ({ cursor }) => pages.get(cursor) });
    const client = await clientOf(server);
    const listed = await client.listTools();
    expect(listed).toEqual({ tools: [tool("a"), tool("b"), tool("c")], complete: true, leftOut: [] });
    expect(cursorsSent(server)).toEqual([undefined, "", "0"]);
    await client.close();
  });

  it("a null cursor is none", async () => {
    const client = await clientOf(
      scripted({ "tools/list": () => ({ tools: [], nextCursor: null, ...HINTS }) }),
    );
    expect(await client.listTools()).toEqual({ tools: [], complete: true, leftOut: [] });
    await client.close();
  });

  it.each([0, 60_000])(
    "a repeated cursor is followed like any other, cached for %i ms (case 13)",
    async (ttlMs) => {
      let page = 0;
      const server = scripted({
        "tools/list": () => {
          page += 1;
          return {
            tools: [tool(`t${page}`)],
            ...(page % 4 !== 0 && { nextCursor: "p" }),
            ttlMs,
            cacheScope: "public",
          };
        },
      });
      const client = await clientOf(server);
      const listed = await client.listTools();
      expect(listed.tools.map(({ name }) => name)).toEqual(["t1", "t2", "t3", "t4"]);
      expect(listed.complete).toBe(true);
      // Nor does what is cached of it shorten the next listing.
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["t5", "t6", "t7", "t8"]);
      await client.close();
    },
  );

  it("a list without an end is cut, and says so", async () => {
    const server = scripted({ "tools/list": () => ({ tools: [tool("t")], nextCursor: "p", ...HINTS }) });
    const client = await clientOf(server, { limits: { maxPages: 7 } });
    const listed = await client.listTools();
    expect(listed.tools).toHaveLength(7);
    expect(listed).toMatchObject({
      complete: false,
      nextCursor: "p",
      reason: expect.stringContaining("7 pages (maxPages)"),
    });
    expect(server.sent("tools/list")).toHaveLength(7);
    await client.close();

    const narrow = await clientOf(server, { limits: { maxEntries: 3 } });
    expect(await narrow.listTools()).toMatchObject({
      complete: false,
      reason: expect.stringContaining("3 entries"),
    });
    await narrow.close();
  });

  it("by default ends after a thousand pages", async () => {
    const server = scripted({ "prompts/list": () => ({ prompts: [], nextCursor: "p", ...HINTS }) });
    const client = await clientOf(server);
    expect((await client.listPrompts()).complete).toBe(false);
    expect(server.sent("prompts/list")).toHaveLength(1_000);
    await client.close();
  });

  it("a cursor that has become invalid starts the list again, once", async () => {
    let round = 0;
    const server = scripted({
      "resources/list": ({ cursor }) => {
        if (cursor === undefined) {
          round += 1;
          const resources = [{ uri: `file:///${round}`, name: "r" }];
          return { resources, nextCursor: `c${round}`, ttlMs: 60_000, cacheScope: "public" };
        }
        if (cursor === "c1") throw new ProtocolError(-32602, "Invalid cursor");
        return { resources: [], ...HINTS };
      },
    });
    const client = await clientOf(server);
    const listed = await client.listResources();
    expect(listed.resources.map(({ uri }) => uri)).toEqual(["file:///2"]);
    expect(cursorsSent(server, "resources/list")).toEqual([undefined, "c1", undefined, "c2"]);
    await client.close();

    const hopeless = scripted({
      "resources/list": ({ cursor }) => {
        if (cursor !== undefined) throw new ProtocolError(-32602, "Invalid cursor");
        return { resources: [], nextCursor: "x", ...HINTS };
      },
    });
    const other = await clientOf(hopeless);
    await expect(other.listResources()).rejects.toMatchObject({ code: "protocol_error" });
    expect(hopeless.sent("resources/list")).toHaveLength(4);
    await other.close();
  });
});

describe("one page", () => {
  it("is the one at the cursor, or the first with null", async () => {
    const server = scripted({
      "resources/templates/list": ({ cursor }) => ({
        resourceTemplates: [{ uriTemplate: `file:///${cursor ?? "first"}/{x}`, name: "t" }],
        ...(cursor !== "last" && { nextCursor: "last" }),
        ...HINTS,
      }),
    });
    const client = await clientOf(server);
    const first = await client.listResourceTemplates({ cursor: null });
    expect(first).toMatchObject({ complete: false, nextCursor: "last" });
    expect(first.reason).toBeUndefined();
    const last = await client.listResourceTemplates({ cursor: "last" });
    expect(last.resourceTemplates[0]?.uriTemplate).toBe("file:///last/{x}");
    expect(last).toMatchObject({ complete: true });
    await client.listResourceTemplates({ cursor: "" });
    expect(cursorsSent(server, "resources/templates/list")).toEqual([undefined, "last", ""]);
    await client.close();
  });
});

it("entries that are none are left out, the others stay, and it is said once which and why", async () => {
  const server = scripted({
    "tools/list": () => ({
      tools: [
        tool("good"),
        { name: "no-schema" },
        tool("null", { inputSchema: null }),
        { inputSchema: {} },
        "text",
        tool("fine"),
      ],
      ...HINTS,
    }),
    "resources/list": () => ({
      resources: [{ uri: "file:///a" }, { uri: "file:///b", name: "b" }],
      ...HINTS,
    }),
  });
  const client = await clientOf(server);
  const listed = await client.listTools();
  expect(listed.tools.map(({ name }) => name)).toEqual(["good", "fine"]);
  expect(listed.complete).toBe(true);
  expect(listed.leftOut).toEqual([
    { name: "no-schema", reason: "inputSchema must be an object, got undefined" },
    { name: "null", reason: "inputSchema must be an object, got null" },
    { name: "", reason: "name must be a string, got undefined" },
    { name: "", reason: 'expected an object, got "text"' },
  ]);
  expect(client.warnings.map(({ code }) => code)).toEqual(Array(4).fill("entry_left_out"));
  await client.listTools();
  expect(client.warnings).toHaveLength(4);
  const { resources, leftOut } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toEqual(["file:///b"]);
  expect(leftOut).toEqual([{ name: "file:///a", reason: "name must be a string, got undefined" }]);
  await client.close();
});
