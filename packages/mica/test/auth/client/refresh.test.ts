/** Staying signed in: tokens are replaced in time, by one for all, and nobody is signed out by it. */
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type AuthStore, fileStore, memoryStore, oauth } from "../../../src/entry/auth/client.js";
import { authorizationServer, type TestAuthorizationServer } from "./authorization-server.js";
import { call, type GuardedServer, guardedServer, open } from "./guarded-server.js";
import { someone } from "./person.js";
import { buildFixtures, folder, start } from "./processes.js";

let as: TestAuthorizationServer;
let server: GuardedServer;
beforeEach(async () => {
  as = await authorizationServer();
  server = await guardedServer(as);
});

const refreshes = () =>
  as.requestsTo("/token").filter(({ form }) => form.get("grant_type") === "refresh_token");
const signIns = () => as.requestsTo("/authorize").length;
const grantKey = () => `grant ${server.url}`;

/** Has the token that is kept end now, as if time had passed. */
async function expire(store: AuthStore, members: Record<string, unknown> = {}): Promise<void> {
  const record = (await store.read(grantKey()))!;
  const tokens = {
    ...(record.value["tokens"] as object),
    issuedAt: 1,
    expiresAt: Date.now() - 1,
    ...members,
  };
  await store.write(grantKey(), { ...record.value, tokens }, record.version);
  for (const [token, issued] of as.tokens) as.tokens.set(token, { ...issued, expiresAt: 0 });
}

describe("a token that is about to end", () => {
  it("is replaced before the server has to refuse it", async () => {
    as.lifetime = 1;
    const client = await open(server.url, { auth: oauth(someone().options) });
    as.lifetime = 3600;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const refused = () => server.posts().filter(({ headers }) => headers.authorization === undefined).length;
    const before = refused();
    expect(await call(client, "read")).toBe("read");
    expect(refused()).toBe(before);
    expect(refreshes()).toHaveLength(1);
    expect(signIns()).toBe(1);
  });

  it("takes the resource along, to the issuer that gave it", async () => {
    const store = memoryStore();
    const { options } = someone({ store });
    await open(server.url, { auth: oauth(options) });
    await expire(store);
    await open(server.url, { auth: oauth(options) });
    expect(refreshes()[0]!.form.getAll("resource")).toEqual([server.url]);
  });

  it("is used to its end where it cannot be replaced for now", async () => {
    const store = memoryStore();
    const { options } = someone({ store, limits: { expiryMarginMs: 3_600_000 } });
    as.lifetime = 10;
    await open(server.url, { auth: oauth(options) });
    const record = (await store.read(grantKey()))!;
    const tokens = { ...(record.value["tokens"] as object), issuedAt: 1, expiresAt: Date.now() + 60_000 };
    await store.write(grantKey(), { ...record.value, tokens }, record.version);
    as.answers.set("/token", () => ({ status: 503, json: { error: "temporarily_unavailable" } }));
    expect(await call(await open(server.url, { auth: oauth(options) }), "read")).toBe("read");
    expect(refreshes().length).toBeGreaterThan(0);
    expect(signIns()).toBe(1);
  });

  it("that is over is an error where it cannot be replaced for now, and nobody is signed out", async () => {
    const store = memoryStore();
    const { options } = someone({ store });
    await open(server.url, { auth: oauth(options) });
    await expire(store);
    as.answers.set("/token", () => "hang up");
    await expect(open(server.url, { auth: oauth(options) })).rejects.toMatchObject({
      reason: "endpoint_failed",
    });
    as.answers.clear();
    expect(await call(await open(server.url, { auth: oauth(options) }), "read")).toBe("read");
    expect(signIns()).toBe(1);
  });
});

describe("a token that the server refuses", () => {
  it("is replaced, and the request sent again", async () => {
    const client = await open(server.url, { auth: oauth(someone().options) });
    as.tokens.clear();
    expect(await call(client, "read")).toBe("read");
    expect(refreshes()).toHaveLength(1);
    expect(signIns()).toBe(1);
  });

  it("is replaced once for all the calls that wait", async () => {
    const client = await open(server.url, { auth: oauth(someone().options) });
    as.tokens.clear();
    const said = await Promise.all(Array.from({ length: 20 }, () => call(client, "read")));
    expect(new Set(said)).toEqual(new Set(["read"]));
    expect(refreshes()).toHaveLength(1);
    expect(as.reused).toEqual([]);
  });

  it("is replaced by signing in, where the refresh token is refused as well", async () => {
    const store = memoryStore();
    const client = await open(server.url, { auth: oauth(someone({ store }).options) });
    as.tokens.clear();
    as.answers.set("/token", ({ form }) =>
      form.get("grant_type") === "refresh_token"
        ? { status: 400, json: { error: "invalid_grant" } }
        : undefined,
    );
    expect(await call(client, "read")).toBe("read");
    expect(refreshes()).toHaveLength(1);
    expect(signIns()).toBe(2);
  });

  it("is replaced by signing in, where the server refuses what was refreshed", async () => {
    const client = await open(server.url, { auth: oauth(someone().options) });
    as.tokens.clear();
    server.intercept = ({ method, headers }) => {
      const isRefreshed = refreshes().length === 1 && signIns() === 1;
      return method === "POST" && isRefreshed && headers.authorization !== undefined
        ? { status: 401, headers: { "www-authenticate": 'Bearer error="invalid_token"' } }
        : undefined;
    };
    expect(await call(client, "read")).toBe("read");
    expect([refreshes().length, signIns()]).toEqual([1, 2]);
  });

  it("without a refresh token is replaced by signing in", async () => {
    as.refreshTokens = false;
    const client = await open(server.url, { auth: oauth(someone().options) });
    as.tokens.clear();
    expect(await call(client, "read")).toBe("read");
    expect([refreshes().length, signIns()]).toEqual([0, 2]);
  });
});

it("a refresh token that is not replaced stays, and so do its scopes", async () => {
  const store = memoryStore();
  server.asksFor = "a";
  const { options } = someone({ store });
  await open(server.url, { auth: oauth(options) });
  as.answers.set("/token", () => {
    as.tokens.set("next", {
      clientId: "c",
      scopes: ["a"],
      resource: server.url,
      expiresAt: Date.now() + 60_000,
      family: "f",
      jkt: undefined,
    });
    return { json: { access_token: "next", token_type: "Bearer", expires_in: 60 } };
  });
  const refreshToken = () => store.read(grantKey()).then((record) => record!.value["tokens"]);
  const before = (await refreshToken()) as { refreshToken: string };
  await expire(store);
  await open(server.url, { auth: oauth(options) });
  expect(await refreshToken()).toMatchObject({
    accessToken: "next",
    refreshToken: before.refreshToken,
    scopes: ["a"],
  });
});

it("without anybody to ask, what is kept is used and refreshed, and then somebody has to sign in", async () => {
  const store = memoryStore();
  await open(server.url, { auth: oauth(someone({ store }).options) });
  const unattended = () => oauth({ clientName: "Test", store });
  await expire(store);
  expect(await call(await open(server.url, { auth: unattended() }), "read")).toBe("read");
  await expire(store, { refreshToken: "made up" });
  await expect(open(server.url, { auth: unattended() })).rejects.toMatchObject({
    reason: "sign_in_needed",
    message: `Somebody has to sign in to ${server.url}: nobody is signed in`,
  });
  expect(await unattended().account(server.url)).toMatchObject({ isSignedIn: false, issuer: as.issuer });
});

describe("processes that share a file", () => {
  let fixtures: Awaited<ReturnType<typeof buildFixtures>>;
  beforeAll(async () => {
    fixtures = await buildFixtures("caller");
  });
  afterAll(() => fixtures.remove());

  it("five at once: one refresh, and nobody is signed out", async () => {
    const path = join(folder(), "credentials.json");
    const store = fileStore(path);
    await open(server.url, { auth: oauth(someone({ store }).options) });
    // Slow enough that all of them want to.
    as.answers.set("/token", async () => {
      await new Promise((resolve) => setTimeout(resolve, 200));
      return undefined;
    });
    for (let round = 1; round <= 3; round++) {
      await expire(store);
      const callers = await Promise.all(
        [1, 2, 3, 4, 5].map(() => start(fixtures.at("caller"), server.url, path)),
      );
      for (const { go } of callers) go();
      expect(await Promise.all(callers.map(({ next }) => next()))).toEqual(
        callers.map(() => ({ text: "read" })),
      );
      expect(refreshes()).toHaveLength(round);
    }
    expect(as.reused).toEqual([]);
    expect(signIns()).toBe(1);
    // And it still can be refreshed.
    await expire(store);
    expect(await call(await open(server.url, { auth: oauth({ clientName: "Test", store }) }), "read")).toBe(
      "read",
    );
  });

  it("one that is killed while it refreshes keeps nobody out", async () => {
    const path = join(folder(), "credentials.json");
    const store = fileStore(path);
    await open(server.url, { auth: oauth(someone({ store }).options) });
    await expire(store);
    const asked = new Promise<void>((resolve) => {
      as.answers.set("/token", () => {
        resolve();
        return "hang";
      });
    });
    const first = await start(fixtures.at("caller"), server.url, path);
    first.go();
    await asked;
    first.child.kill("SIGKILL");
    await new Promise((resolve) => first.child.once("exit", resolve));
    as.answers.clear();
    const second = await start(fixtures.at("caller"), server.url, path);
    second.go();
    expect(await second.next()).toEqual({ text: "read" });
    expect(signIns()).toBe(1);
  });
});
