/** Lists in pages: the order, cursors that survive changes, and how much memory strange cursors may take. */
import { describe, expect, it } from "vitest";
import type {
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListToolsResult,
} from "../../src/protocol/features.js";
import type { Registration } from "../../src/server/catalogue.js";
import { createCatalogue } from "../../src/server/catalogue.js";
import { createServer } from "../../src/server/server.js";
import { type Caller, callerOf } from "../support/caller.js";
import { checkedServer } from "../support/wire-schema.js";

function build(count: number, pageSize?: number) {
  const server = checkedServer(
    createServer({ name: "test", version: "1.0.0", ...(pageSize !== undefined && { limits: { pageSize } }) }),
  );
  const registrations: Registration[] = [];
  for (let index = 0; index < count; index++) registrations.push(server.tool(`t${index}`, {}, () => index));
  return { server, registrations, caller: callerOf(server) };
}

const page = async ({ result }: Caller, cursor?: string) => {
  const { tools, nextCursor } = await result<ListToolsResult>(
    "tools/list",
    cursor === undefined ? {} : { cursor },
  );
  return { names: tools.map(({ name }) => name), nextCursor };
};

async function pages(caller: Caller): Promise<string[][]> {
  const all: string[][] = [];
  let cursor: string | undefined;
  do {
    const { names, nextCursor } = await page(caller, cursor);
    all.push(names);
    cursor = nextCursor;
  } while (cursor !== undefined);
  return all;
}

const names = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `t${from + index}`);

describe("pages", () => {
  it("of three over ten", async () => {
    const { caller } = build(10, 3);
    expect(await pages(caller)).toEqual([names(0, 3), names(3, 6), names(6, 9), names(9, 10)]);
  });

  it("end without an empty one where they come out even", async () => {
    expect(await pages(build(6, 3).caller)).toEqual([names(0, 3), names(3, 6)]);
    expect(await pages(build(3, 3).caller)).toEqual([names(0, 3)]);
    expect(await pages(build(1, 1).caller)).toEqual([["t0"]]);
  });

  it("list ten thousand in the order of registration, the same every time", async () => {
    const { caller } = build(10_000);
    const first = await pages(caller);
    expect(first).toHaveLength(20);
    expect(first.flat()).toEqual(names(0, 10_000));
    expect(await pages(caller)).toEqual(first);
    expect(await pages(callerOf(build(10_000).server))).toEqual(first);
  });

  it("are there for every kind of list", async () => {
    const { server, caller } = build(0, 2);
    for (let index = 0; index < 3; index++) {
      server.prompt(`p${index}`, {}, () => "");
      server.resource(`x:${index}`, { name: `${index}` }, () => "");
      server.resourceTemplate(`y${index}:{a}`, { name: `${index}` }, () => "");
    }
    const { result } = caller;
    const second = async <T>(method: string) => {
      const { nextCursor } = await result<{ nextCursor: string }>(method);
      const last = await result<T & { nextCursor?: string }>(method, { cursor: nextCursor });
      expect(last.nextCursor).toBeUndefined();
      return last;
    };
    expect((await second<ListPromptsResult>("prompts/list")).prompts).toEqual([{ name: "p2" }]);
    expect((await second<ListResourcesResult>("resources/list")).resources).toEqual([
      { uri: "x:2", name: "2" },
    ]);
    const { resourceTemplates } = await second<ListResourceTemplatesResult>("resources/templates/list");
    expect(resourceTemplates).toEqual([{ uriTemplate: "y2:{a}", name: "2" }]);
  });
});

describe("cursors", () => {
  it("skip nothing and repeat nothing when entries go", async () => {
    const { caller, registrations } = build(10, 3);
    const { nextCursor } = await page(caller);
    // Before the cursor, at it, and behind it.
    for (const index of [0, 2, 4]) registrations[index]?.remove();
    expect((await page(caller, nextCursor)).names).toEqual(["t3", "t5", "t6"]);
    expect(await pages(caller)).toEqual([["t1", "t3", "t5"], ["t6", "t7", "t8"], ["t9"]]);
  });

  it("skip nothing and repeat nothing when entries come", async () => {
    const { server, caller } = build(5, 3);
    const { nextCursor } = await page(caller);
    for (let index = 5; index < 8; index++) server.tool(`t${index}`, {}, () => index);
    const second = await page(caller, nextCursor);
    expect(second.names).toEqual(["t3", "t4", "t5"]);
    expect((await page(caller, second.nextCursor)).names).toEqual(["t6", "t7"]);
  });

  it("stay good when everything behind them is gone", async () => {
    const { caller, registrations } = build(5, 3);
    const { nextCursor } = await page(caller);
    for (const registration of registrations.slice(2)) registration.remove();
    expect(await page(caller, nextCursor)).toEqual({ names: [], nextCursor: undefined });
    expect((await page(caller)).names).toEqual(["t0", "t1"]);
  });

  it("put what is registered again at the end", async () => {
    const { server, caller, registrations } = build(4, 2);
    registrations[0]?.remove();
    server.tool("t0", {}, () => 0);
    expect(await pages(caller)).toEqual([
      ["t1", "t2"],
      ["t3", "t0"],
    ]);
  });

  it.each<[unknown]>([
    [""],
    ["p0"],
    ["p"],
    ["p11"],
    ["p-1"],
    ["P1"],
    ["p01"],
    ["p1 "],
    ["1"],
    ["eyJwYWdlIjogMn0="],
    [`p${"z".repeat(8)}`],
    [`p${"z".repeat(1_000)}`],
    [1],
    [null],
    [{}],
    [["p1"]],
  ])("are refused with -32602 where they were not handed out: %j", async (cursor) => {
    const { caller } = build(3, 1);
    const error = await caller.error("tools/list", { cursor });
    expect(error.code).toBe(-32602);
    expect(error.message).toContain("Invalid cursor");
  });
});

describe("memory", () => {
  it("is not filled by strange cursors", () => {
    let built = 0;
    const catalogue = createCatalogue<number>(
      "thing",
      10,
      (entries) => {
        built++;
        return { things: entries };
      },
      () => {},
    );
    for (let index = 0; index < 1_000; index++) catalogue.add(`${index}`, index);
    const cursors = Array.from({ length: 1_000 }, (_, index) => `p${(index + 1).toString(36)}`);
    const once = cursors.map((cursor) => catalogue.page(cursor));
    const kept = cursors.filter((cursor, index) => catalogue.page(cursor) === once[index]);
    // One for each page behind the first; the last cursor is behind them all.
    expect(kept).toHaveLength(100);
    built = 0;
    for (const cursor of kept) catalogue.page(cursor);
    expect(built).toBe(0);
  });

  it("gives the same page to every caller until something changes", () => {
    const catalogue = createCatalogue<number>(
      "thing",
      10,
      (things) => ({ things }),
      () => {},
    );
    const first = catalogue.add("a", 1);
    const before = catalogue.page(undefined);
    expect(catalogue.page(undefined)).toBe(before);
    first.remove();
    expect(catalogue.page(undefined)).not.toBe(before);
    expect(before).toEqual({ things: [1] });
  });
});
