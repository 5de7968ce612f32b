/** Scopes on the server's side of the seam: declared, asked for, enforced, and lists that are filtered by them. */
import { describe, expect, it } from "vitest";
import { createCatalogue } from "../../src/server/catalogue.js";
import { createServer } from "../../src/server/server.js";
import type { AuthInfo } from "../../src/transport.js";
import { callerOf } from "../support/caller.js";
import { checkedServer } from "../support/wire-schema.js";

const holding = (...scopes: string[]): { auth: AuthInfo } => ({
  auth: { principal: "p", scopes, claims: {} },
});

function build(options: { filterByScope?: boolean; limits?: { pageSize: number } } = {}) {
  const server = checkedServer(createServer({ name: "test", version: "1.0.0", ...options }));
  server.tool("open", {}, () => "open");
  server.tool("close", { scopes: ["write"] }, () => "closed");
  server.tool("purge", { scopes: ["write", "admin"] }, () => "purged");
  server.resource(
    "x://log",
    { name: "log", scopes: ["read"], cache: { ttlMs: 9, cacheScope: "public" } },
    () => "l",
  );
  server.resource("x://free", { name: "free", cache: { ttlMs: 9, cacheScope: "public" } }, () => "f");
  server.resourceTemplate("x://{id}/part", { name: "part", scopes: ["parts"] }, () => "p");
  server.prompt("report", { scopes: ["report"] }, () => "r");
  return server;
}

describe("what a request needs", () => {
  it.each<[string, Record<string, unknown> | undefined, string[]]>([
    ["tools/call", { name: "open" }, []],
    ["tools/call", { name: "purge" }, ["write", "admin"]],
    ["tools/call", { name: "nope" }, []],
    ["tools/call", { name: 7 }, []],
    ["tools/call", { name: "__proto__" }, []],
    ["tools/call", undefined, []],
    ["prompts/get", { name: "report" }, ["report"]],
    ["resources/read", { uri: "x://log" }, ["read"]],
    ["resources/read", { uri: "x://7/part" }, ["parts"]],
    ["resources/read", { uri: "x://free" }, []],
    ["completion/complete", { ref: { type: "ref/prompt", name: "report" } }, ["report"]],
    ["completion/complete", { ref: { type: "ref/resource", uri: "x://{id}/part" } }, ["parts"]],
    ["completion/complete", { ref: { type: "ref/resource", uri: "x://log" } }, ["read"]],
    ["completion/complete", { ref: null }, []],
    ["subscriptions/listen", { notifications: { toolsListChanged: true } }, []],
    [
      "subscriptions/listen",
      { notifications: { resourceSubscriptions: ["x://log", 7, "x://1/part", "x://2/part"] } },
      ["read", "parts"],
    ],
    ["subscriptions/listen", { notifications: { resourceSubscriptions: "x://log" } }, []],
    ["server/discover", {}, []],
  ])("%s %j: %j", (method, params, scopes) => {
    expect(build().requiredScopes?.({ method, ...(params && { params }) })).toEqual(scopes);
  });
});

describe("whatever binding authenticates", () => {
  it("a caller who lacks scopes is refused, with all that are missing", async () => {
    const { error, result } = callerOf(build(), holding("other"));
    expect(await error("tools/call", { name: "purge" })).toEqual({
      code: -32600,
      message: "Insufficient scope: tools/call needs write, admin",
      data: { missingScopes: ["write", "admin"] },
    });
    expect(await error("resources/read", { uri: "x://log" })).toMatchObject({
      data: { missingScopes: ["read"] },
    });
    expect(await result("tools/call", { name: "open" })).toMatchObject({ content: [{ text: "open" }] });
  });

  it("one who holds them is served, and so is everybody where nobody is asked", async () => {
    for (const options of [holding("write", "admin"), {}]) {
      expect(await callerOf(build(), options).result("tools/call", { name: "purge" })).toMatchObject({
        content: [{ text: "purged" }],
      });
    }
  });

  it("what needs scopes is never for everybody to keep", async () => {
    const { result } = callerOf(build(), holding("read"));
    expect(await result("resources/read", { uri: "x://log" })).toMatchObject({
      ttlMs: 9,
      cacheScope: "private",
    });
    expect(await result("resources/read", { uri: "x://free" })).toMatchObject({
      ttlMs: 9,
      cacheScope: "public",
    });
  });
});

describe("lists", () => {
  const names = async (options: object, auth: object = {}) => {
    const { result } = callerOf(build(options), auth);
    const { tools, cacheScope } = await result<{ tools: { name: string }[]; cacheScope: string }>(
      "tools/list",
    );
    return [cacheScope, ...tools.map(({ name }) => name)];
  };

  it("hold everything, for everybody, by default", async () => {
    expect(await names({}, holding())).toEqual(["public", "open", "close", "purge"]);
  });

  it("hold what the caller may use where they are filtered, and are private then", async () => {
    const filtered = { filterByScope: true };
    expect(await names(filtered, holding())).toEqual(["private", "open"]);
    expect(await names(filtered, holding("write"))).toEqual(["private", "open", "close"]);
    expect(await names(filtered, holding("admin"))).toEqual(["private", "open"]);
    expect(await names(filtered, holding("admin", "write"))).toEqual(["private", "open", "close", "purge"]);
    expect(await names(filtered)).toEqual(["private", "open", "close", "purge"]);
  });

  it("are cut into pages of what the caller sees", async () => {
    const server = build({ filterByScope: true, limits: { pageSize: 1 } });
    const walk = async (...scopes: string[]) => {
      const { result } = callerOf(server, holding(...scopes));
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await result<{ tools: { name: string }[]; nextCursor?: string }>("tools/list", {
          ...(cursor !== undefined && { cursor }),
        });
        found.push(page.tools.map(({ name }) => name).join("+"));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return found;
    };
    expect(await walk("write", "admin")).toEqual(["open", "close", "purge"]);
    expect(await walk()).toEqual(["open"]);
    server.tool("last", {}, () => "last");
    expect(await walk()).toEqual(["open", "last"]);
    expect(await walk("write")).toEqual(["open", "close", "last"]);
  });

  it("are built once for all callers with the same scopes, as far as anything needs them, and not kept for ever", () => {
    let built = 0;
    const catalogue = createCatalogue<{ scopes: string[] }>(
      "thing",
      10,
      () => {
        built += 1;
        return {};
      },
      () => {},
    );
    for (let index = 0; index < 200; index++) catalogue.add(`${index}`, { scopes: [`s${index}`] });
    const first = catalogue.page(undefined, ["s1", "s2", "unrelated"]);
    expect(catalogue.page(undefined, ["other", "s2", "s1"])).toBe(first);
    expect(built).toBe(1);
    for (let index = 0; index < 200; index++) catalogue.page(undefined, [`s${index}`]);
    expect(catalogue.page(undefined, ["s1", "s2"])).not.toBe(first);
  });
});

it.each<[string, (server: ReturnType<typeof build>) => void]>([
  ["tool", (server) => server.tool("x", { scopes: ["a b"] }, () => "")],
  ["prompt", (server) => server.prompt("x", { scopes: ["a b"] }, () => "")],
  ["resource", (server) => server.resource("x://x", { name: "x", scopes: ["a b"] }, () => "")],
  [
    "resource template",
    (server) => server.resourceTemplate("y://{x}", { name: "x", scopes: ["a b"] }, () => ""),
  ],
])("scopes of a %s that are none are refused by name", (kind, register) => {
  expect(() => register(build())).toThrow(new RegExp(`^${kind} ".*": scopes must hold scopes .*got "a b"`));
});
