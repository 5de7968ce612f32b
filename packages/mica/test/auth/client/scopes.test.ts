/** Which scopes are asked for, and asking for more: united with what there was, and not for ever. */
import { beforeEach, describe, expect, it } from "vitest";
import { selectScopes } from "../../../src/auth/client/scope-selection.js";
import { memoryStore, oauth } from "../../../src/entry/auth/client.js";
import { authorizationServer, type TestAuthorizationServer } from "./authorization-server.js";
import { call, type GuardedServer, guardedServer, open } from "./guarded-server.js";
import { nobody, someone } from "./person.js";

describe("selectScopes", () => {
  const nothing = {
    challenged: [],
    wanted: undefined,
    supported: undefined,
    before: [],
    offered: undefined,
    offline: true,
  };

  it.each([
    ["the challenge, before what the resource names", { challenged: ["b"], supported: ["a", "c"] }, ["b"]],
    ["all that the resource names", { supported: ["b", "a"] }, ["a", "b"]],
    ["none", {}, []],
    ["none, where the resource names an empty list", { supported: [] }, []],
    [
      "what the author wants, in place of what the resource names",
      { wanted: ["w"], supported: ["a"] },
      ["w"],
    ],
    ["what the author wants, besides the challenge", { wanted: ["w"], challenged: ["c"] }, ["c", "w"]],
    [
      "what there was, besides the challenge",
      { before: ["a", "b"], challenged: ["c"], supported: ["x"] },
      ["a", "b", "c"],
    ],
    [
      "offline_access, where it is offered",
      { challenged: ["a"], offered: ["offline_access"] },
      ["a", "offline_access"],
    ],
    ["not where it is not", { challenged: ["a"], offered: ["a"] }, ["a"]],
    ["not alone, in place of what is given by default", { offered: ["offline_access"] }, []],
    ["not where it is not wanted", { challenged: ["a"], offered: ["offline_access"], offline: false }, ["a"]],
  ])("%s", (_what, given, expected) => {
    expect(selectScopes({ ...nothing, ...given }).scopes).toEqual(expected);
  });
});

let as: TestAuthorizationServer;
let server: GuardedServer;
beforeEach(async () => {
  as = await authorizationServer();
  server = await guardedServer(as);
});
const asked = () => as.requestsTo("/authorize").map(({ query }) => query.get("scope"));

describe("at first", () => {
  it("what the challenge names", async () => {
    server.asksFor = "mcp:basic";
    server.describe({ scopes_supported: ["mcp:all"] });
    await open(server.url, { auth: oauth(someone().options) });
    expect(asked()).toEqual(["mcp:basic"]);
  });

  it("what the resource names, else", async () => {
    server.describe({ scopes_supported: ["mcp:read", "mcp:write"] });
    await open(server.url, { auth: oauth(someone().options) });
    expect(asked()).toEqual(["mcp:read mcp:write"]);
  });

  it("nothing, else: the parameter is left out", async () => {
    await open(server.url, { auth: oauth(someone().options) });
    expect(as.requestsTo("/authorize")[0]!.query.has("scope")).toBe(false);
  });

  it("offline_access with consent, where the authorization server offers it", async () => {
    as.metadata = { scopes_supported: ["mcp:basic", "offline_access"] };
    server.asksFor = "mcp:basic";
    await open(server.url, { auth: oauth(someone().options) });
    expect(as.requestsTo("/authorize")[0]!.query.get("prompt")).toBe("consent");
    expect(asked()).toEqual(["mcp:basic offline_access"]);
  });
});

describe("when more are needed", () => {
  const perTool = (scopes: Record<string, string[]>) => {
    server.needs = ({ method, params }) => (method === "tools/call" ? (scopes[params!.name!] ?? []) : []);
  };

  it("row 20: the scopes of successive challenges are united, and nobody signs in endlessly", async () => {
    perTool({ read: ["mcp:tools:read"], write: ["mcp:tools:write"], admin: ["mcp:admin"] });
    const client = await open(server.url, { auth: oauth(someone().options) });
    expect(await call(client, "read")).toBe("read");
    expect(await call(client, "write")).toBe("written");
    expect(await call(client, "read")).toBe("read");
    expect(await call(client, "admin")).toBe("administered");
    for (const tool of ["read", "write", "admin", "read"]) await call(client, tool);
    expect(asked()).toEqual([
      null,
      "mcp:tools:read",
      "mcp:tools:read mcp:tools:write",
      "mcp:admin mcp:tools:read mcp:tools:write",
    ]);
  });

  it("row 20: they are united across processes, too", async () => {
    perTool({ read: ["mcp:tools:read"], write: ["mcp:tools:write"] });
    const { options } = someone({ store: memoryStore() });
    await call(await open(server.url, { auth: oauth(options) }), "read");
    await call(await open(server.url, { auth: oauth(options) }), "write");
    expect(asked().at(-1)).toBe("mcp:tools:read mcp:tools:write");
  });

  it("what was granted without being asked for is kept, too", async () => {
    as.grant = (scopes) => [...scopes, "given:anyway"];
    perTool({ write: ["mcp:tools:write"] });
    const client = await open(server.url, { auth: oauth(someone().options) });
    await call(client, "write");
    expect(asked()).toEqual([null, "given:anyway mcp:tools:write"]);
  });

  it("a request is not sent again, and nobody asked, for scopes that the token has", async () => {
    server.asksFor = "mcp:admin";
    const client = await open(server.url, { auth: oauth(someone().options) });
    server.intercept = ({ method, body }) =>
      method === "POST" && body.method === "tools/call"
        ? {
            status: 403,
            headers: { "www-authenticate": 'Bearer error="insufficient_scope", scope="mcp:admin"' },
          }
        : undefined;
    await expect(call(client, "admin")).rejects.toMatchObject({
      code: "connect_failed",
      reason: "scope_refused",
      message: `${server.url} asks for the scopes mcp:admin, although the token has them`,
    });
    expect(server.posts().filter(({ body }) => body.method === "tools/call")).toHaveLength(1);
    expect(asked()).toHaveLength(1);
  });

  it("a server that asks for others again and again is not followed for ever", async () => {
    const client = await open(server.url, {
      auth: oauth({ ...someone().options, limits: { maxStepUps: 2 } }),
    });
    let next = 0;
    server.intercept = ({ method, body }) => {
      if (method !== "POST" || body.method !== "tools/call") return undefined;
      next += 1;
      return {
        status: 403,
        headers: { "www-authenticate": `Bearer error="insufficient_scope", scope="scope:${next}"` },
      };
    };
    await expect(call(client, "admin")).rejects.toMatchObject({
      reason: "scope_refused",
      message: expect.stringContaining("2 times (maxStepUps)"),
    });
    expect(next).toBe(3);
    expect(asked()).toEqual([null, "scope:1", "scope:1 scope:2"]);
  });

  it("what the authorization server does not grant is asked for once", async () => {
    as.grant = (scopes) => scopes.filter((scope) => scope !== "mcp:admin");
    perTool({ admin: ["mcp:admin"] });
    const client = await open(server.url, { auth: oauth(someone().options) });
    await expect(call(client, "admin")).rejects.toMatchObject({
      reason: "scope_refused",
      message: expect.stringContaining("did not grant mcp:admin"),
    });
    await expect(call(client, "admin")).rejects.toMatchObject({
      message: expect.stringContaining("asked for before"),
    });
    expect(asked()).toEqual([null, "mcp:admin"]);
    expect(await call(client, "read")).toBe("read");
  });

  it("a person who says no is asked once for all the calls that wait", async () => {
    perTool({ admin: ["mcp:admin"] });
    const client = await open(server.url, { auth: oauth(someone().options) });
    as.redirect = (parameters) => {
      parameters.delete("code");
      parameters.set("error", "access_denied");
    };
    const calls = await Promise.allSettled([1, 2, 3, 4].map(() => call(client, "admin")));
    for (const one of calls)
      expect(one).toMatchObject({ status: "rejected", reason: { reason: "access_denied" } });
    expect(asked()).toHaveLength(2);
    expect(await call(client, "read")).toBe("read");
  });

  it("calls at the same time sign in once, and each goes on", async () => {
    perTool({ read: ["a"], write: ["a"], admin: ["a"] });
    const client = await open(server.url, { auth: oauth(someone().options) });
    const said = await Promise.all(["read", "write", "admin"].map((tool) => call(client, tool)));
    expect(said).toEqual(["read", "written", "administered"]);
    expect(asked()).toEqual([null, "a"]);
  });

  it("calls that need different scopes at the same time get them all", async () => {
    perTool({ read: ["a"], write: ["b"], admin: ["c"] });
    const client = await open(server.url, { auth: oauth(someone().options) });
    await Promise.all(["read", "write", "admin"].map((tool) => call(client, tool)));
    expect(asked().at(-1)).toBe("a b c");
  });

  it.each([
    ["without scopes", 'Bearer error="insufficient_scope"'],
    ["of another kind", 'Bearer error="invalid_request", scope="x"'],
    ["of another scheme", 'Basic realm="x"'],
  ])("a challenge %s is the failure that it is", async (_what, challenge) => {
    const client = await open(server.url, { auth: oauth(someone().options) });
    server.intercept = ({ method, body }) =>
      method === "POST" && body.method === "tools/call"
        ? { status: 403, headers: { "www-authenticate": challenge } }
        : undefined;
    await expect(call(client, "read")).rejects.toThrow(/HTTP 403/);
    expect(asked()).toHaveLength(1);
  });

  it("where nobody can be asked, the next one who signs in is asked for them", async () => {
    perTool({ admin: ["mcp:admin"] });
    const { options } = someone({ store: memoryStore() });
    await open(server.url, { auth: oauth(options) });
    const { redirect: _, ...unattended } = options;
    const client = await open(server.url, { auth: oauth(unattended) });
    await expect(call(client, "admin")).rejects.toMatchObject({
      reason: "sign_in_needed",
      message: `Somebody has to sign in to ${server.url}: it needs the scopes mcp:admin`,
    });
    // The token is as good as before.
    expect(await call(client, "read")).toBe("read");
    const account = await oauth(options).signIn(server.url, { again: true });
    expect(asked()).toEqual([null, "mcp:admin"]);
    expect(account.scopes).toEqual(["mcp:admin"]);
    // And takes it from there, without anybody.
    expect(await call(client, "admin")).toBe("administered");
  });
});

it("a server that refuses every token is not given a third", async () => {
  server.intercept = ({ method }) => (method === "POST" ? { status: 401, headers: {} } : undefined);
  await expect(open(server.url, { auth: oauth(someone().options) })).rejects.toMatchObject({
    reason: "token_rejected",
  });
  expect(server.posts()).toHaveLength(2);
  expect(asked()).toHaveLength(1);
});

it("a server that takes no sign-in is no reason to ask anybody", async () => {
  server.intercept = ({ method }) =>
    method === "POST" ? { status: 401, headers: { "www-authenticate": 'Basic realm="x"' } } : undefined;
  const auth = oauth({ clientName: "Test", redirect: nobody });
  await expect(open(server.url, { auth })).rejects.toThrow(/HTTP 401.*Basic realm/);
  expect(server.received.filter(({ method }) => method === "GET")).toEqual([]);
});
