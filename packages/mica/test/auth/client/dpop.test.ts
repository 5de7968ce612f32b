/** Tokens that are bound to a key: a fresh proof for every request, nonces of both servers, the key kept with the token. */
import { calculateJwkThumbprint, decodeJwt, decodeProtectedHeader, EmbeddedJWK, jwtVerify } from "jose";
import { beforeEach, describe, expect, it } from "vitest";
import { createDpopKey, createNonces, loadDpopKey } from "../../../src/auth/client/dpop.js";
import { memoryStore, oauth } from "../../../src/entry/auth/client.js";
import { authorizationServer, type TestAuthorizationServer } from "./authorization-server.js";
import { call, type GuardedServer, guardedServer, open } from "./guarded-server.js";
import { nobody, someone } from "./person.js";

describe("a key", () => {
  it.each(["ES256", "ES384", "PS256", "RS256"])(
    "makes proofs with %s that others verify",
    async (algorithm) => {
      const key = await createDpopKey([algorithm]);
      const url = new URL("https://mcp.example.com/mcp?secret=1#x");
      const proof = await key.prove("POST", url, "the nonce", "the token");
      const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, { typ: "dpop+jwt" });
      expect(protectedHeader.alg).toBe(algorithm);
      expect(
        Object.keys(protectedHeader.jwk!).some((name) => ["d", "p", "q", "dp", "dq", "qi"].includes(name)),
      ).toBe(false);
      expect(await calculateJwkThumbprint(protectedHeader.jwk!)).toBe(key.thumbprint);
      expect(payload).toEqual({
        jti: expect.any(String),
        htm: "POST",
        htu: "https://mcp.example.com/mcp",
        iat: expect.closeTo(Date.now() / 1000, -1),
        nonce: "the nonce",
        ath: expect.stringMatching(/^[\w-]{43}$/),
      });
    },
  );

  it("is the same one after it was kept", async () => {
    const key = await createDpopKey(["ES256"]);
    const again = await loadDpopKey(JSON.parse(JSON.stringify(key.jwk)));
    expect(again.thumbprint).toBe(key.thumbprint);
    await jwtVerify(await again.prove("POST", new URL("https://a.example/"), undefined), EmbeddedJWK);
  });

  it("is of the strongest kind that the server supports, and never of one with a shared secret", async () => {
    expect((await createDpopKey(["RS256", "HS256", "ES256"])).algorithm).toBe("ES256");
    for (const supported of [undefined, [], ["none"], ["HS256"], ["EdDSA"]]) {
      await expect(createDpopKey(supported)).rejects.toMatchObject({
        reason: "dpop_unavailable",
        message: expect.stringContaining("this client has ES256"),
      });
    }
  });

  it("of an unknown kind is not loaded", async () => {
    for (const jwk of [{}, { kty: "oct", k: "x", alg: "HS256" }, { kty: "EC", alg: "none" }]) {
      await expect(loadDpopKey(jwk as Record<string, string>)).rejects.toMatchObject({
        reason: "store_failed",
      });
    }
  });
});

it("nonces are kept by origin, and only the last ones", () => {
  const nonces = createNonces();
  const at = (host: string) => new URL(`https://${host}/token`);
  expect(nonces.take(at("a"), "1")).toBe(true);
  expect(nonces.take(at("a"), "1")).toBe(false);
  expect(nonces.take(at("a"), undefined)).toBe(false);
  expect(nonces.take(at("a"), "2")).toBe(true);
  expect([nonces.get(at("a")), nonces.get(at("b"))]).toEqual(["2", undefined]);
  for (let one = 0; one < 200; one++) nonces.take(at(`host${one}`), "n");
  expect([nonces.get(at("a")), nonces.get(at("host199"))]).toEqual([undefined, "n"]);
});

describe("over HTTP", () => {
  let as: TestAuthorizationServer;
  let server: GuardedServer;
  beforeEach(async () => {
    as = await authorizationServer();
    as.metadata = { dpop_signing_alg_values_supported: ["ES256"] };
    server = await guardedServer(as);
    server.dpop = {};
  });
  const proofs = () =>
    [...server.posts(), ...as.requestsTo("/token")].flatMap(
      ({ headers }) => headers["dpop"] ?? [],
    ) as string[];

  it("a server that demands it gets the token with a proof, every time another", async () => {
    const client = await open(server.url, { auth: oauth(someone().options) });
    for (let times = 0; times < 3; times++) expect(await call(client, "read")).toBe("read");
    const ids = proofs().map((proof) => decodeJwt(proof).jti);
    expect(new Set(ids).size).toBe(ids.length);
    const keys = new Set(proofs().map((proof) => JSON.stringify(decodeProtectedHeader(proof).jwk)));
    expect(keys.size).toBe(1);
    const schemes = server.posts().flatMap(({ headers }) => headers.authorization?.split(" ")[0] ?? []);
    expect(new Set(schemes)).toEqual(new Set(["DPoP"]));
    // The code is bound to the key as well (RFC 9449, section 10).
    const thumbprint = await calculateJwkThumbprint(decodeProtectedHeader(proofs()[0]!).jwk!);
    expect(as.requestsTo("/authorize")[0]!.query.get("dpop_jkt")).toBe(thumbprint);
  });

  it("the metadata may demand it, too", async () => {
    server.describe({ dpop_bound_access_tokens_required: true });
    server.intercept = ({ method, headers }) =>
      method === "POST" && headers.authorization === undefined ? { status: 401 } : undefined;
    expect(await call(await open(server.url, { auth: oauth(someone().options) }), "read")).toBe("read");
  });

  it("nonces that either server wants are taken, and requests sent again with them", async () => {
    as.nonce = "of the authorization server";
    server.dpop = { nonce: "of the resource" };
    const client = await open(server.url, { auth: oauth(someone().options) });
    expect(await call(client, "read")).toBe("read");
    expect(as.requestsTo("/token").map(({ headers }) => decodeJwt(String(headers["dpop"]))["nonce"])).toEqual(
      [undefined, "of the authorization server"],
    );
    const before = server.posts().length;
    server.dpop = { nonce: "another" };
    expect(await call(client, "read")).toBe("read");
    // Once refused for the old one, once more with the new one.
    expect(server.posts().length).toBe(before + 2);
    expect(as.requestsTo("/authorize")).toHaveLength(1);
  });

  it("a server that wants another nonce every time is not followed for ever", async () => {
    const client = await open(server.url, { auth: oauth(someone().options) });
    await call(client, "read");
    let sent = 0;
    server.intercept = ({ method }) => {
      if (method !== "POST") return undefined;
      sent += 1;
      const headers = { "www-authenticate": 'DPoP error="use_dpop_nonce"', "dpop-nonce": `nonce ${sent}` };
      return { status: 401, headers };
    };
    await expect(call(client, "read")).rejects.toThrow(/HTTP 401/);
    expect(sent).toBe(3);
  });

  it("the key is kept with the token: another process refreshes with it", async () => {
    const store = memoryStore();
    await open(server.url, { auth: oauth(someone({ store }).options) });
    as.tokens.clear();
    const client = await open(server.url, { auth: oauth({ clientName: "Test", store, redirect: nobody }) });
    expect(await call(client, "read")).toBe("read");
    expect(new Set(proofs().map((proof) => JSON.stringify(decodeProtectedHeader(proof).jwk))).size).toBe(1);
  });

  it("always: at a server that does not demand it, too, and registered so", async () => {
    server.dpop = undefined;
    server.intercept = ({ method, headers }) => {
      if (method !== "POST" || headers.authorization === undefined) return undefined;
      expect(headers.authorization).toMatch(/^DPoP /);
      return undefined;
    };
    const failure = open(server.url, { auth: oauth({ ...someone().options, dpop: "always" }) });
    // The server of this test takes Bearer only, and says so.
    await expect(failure).rejects.toMatchObject({ reason: "token_rejected" });
    expect(as.requestsTo("/register")[0]!.json["dpop_bound_access_tokens"]).toBe(true);
  });

  it("always, where the authorization server cannot: an error, and no token without", async () => {
    as.metadata = {};
    server.dpop = undefined;
    await expect(
      open(server.url, { auth: oauth({ ...someone().options, dpop: "always" }) }),
    ).rejects.toMatchObject({ reason: "dpop_unavailable" });
    expect(as.requestsTo("/authorize")).toEqual([]);
  });

  it("a token that is not bound is not used", async () => {
    as.answers.set("/token", () => ({ json: { access_token: "a", token_type: "Bearer" } }));
    await expect(open(server.url, { auth: oauth(someone().options) })).rejects.toMatchObject({
      reason: "dpop_unavailable",
    });
    expect(server.posts().every(({ headers }) => headers.authorization === undefined)).toBe(true);
  });

  it("never, where the server demands it: an error", async () => {
    await expect(
      open(server.url, { auth: oauth({ ...someone().options, dpop: "never" }) }),
    ).rejects.toMatchObject({
      reason: "dpop_unavailable",
      message: expect.stringContaining('dpop is "never"'),
    });
  });
});
