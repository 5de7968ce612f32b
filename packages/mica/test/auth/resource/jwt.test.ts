/** Verification of JWT access tokens: keys that rotate, clocks that differ, types, algorithms, and issuers that are down. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { judgeClaims } from "../../../src/auth/resource/claims.js";
import { type AuthLimits, authLimits } from "../../../src/auth/resource/limits.js";
import type { VerifierContext } from "../../../src/auth/resource/verifier.js";
import { InvalidTokenError, type JwtVerifierOptions, jwtVerifier } from "../../../src/entry/auth.js";
import {
  type AuthorizationServer,
  authorizationServer,
  now,
  RESOURCE,
  signingKey,
} from "./authorization-server.js";

let issuer: AuthorizationServer;
beforeEach(async () => {
  issuer = await authorizationServer();
  // The clock alone: timers and sockets go on.
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const context = (limits: Partial<AuthLimits> = {}, ...issuers: string[]): VerifierContext => ({
  resource: RESOURCE,
  authorizationServers: issuers.length > 0 ? issuers : [issuer.issuer],
  limits: authLimits(limits),
});
const pass = (ms: number): void => void vi.setSystemTime(Date.now() + ms);
const verifier = (options: JwtVerifierOptions = {}, of = context()) => {
  const verify = jwtVerifier(options);
  return async (token: string) => verify(token, of);
};

describe("keys", () => {
  it("are fetched once, for any number of tokens at once", async () => {
    const verify = verifier();
    const tokens = await Promise.all(Array.from({ length: 20 }, () => issuer.issue()));
    const all = await Promise.all(tokens.map(verify));
    expect(all.every((claims) => claims?.["sub"] === "maria")).toBe(true);
    expect(issuer.requestsTo("/jwks")).toBe(1);
  });

  it("are fetched again when a token names a new one", async () => {
    const verify = verifier();
    await verify(await issuer.issue());
    const renewed = await signingKey("renewed");
    issuer.keys = [renewed, ...issuer.keys];
    pass(30_001);
    expect(await verify(await issuer.issue({}, { key: renewed }))).toMatchObject({ sub: "maria" });
    expect(issuer.requestsTo("/jwks")).toBe(2);
    // The old key is still there.
    expect(await verify(await issuer.issue({}, { key: issuer.keys[1]! }))).toMatchObject({ sub: "maria" });
    expect(issuer.requestsTo("/jwks")).toBe(2);
  });

  it("are not fetched for every made-up key: once per cooldown", async () => {
    const verify = verifier();
    await verify(await issuer.issue());
    const unknown = new InvalidTokenError("The access token is signed with an unknown key");
    for (let index = 0; index < 20; index++) {
      const token = await issuer.issue({}, { key: await signingKey(`made-up-${index}`) });
      await expect(verify(token)).rejects.toEqual(unknown);
      if (index === 9) pass(30_001);
    }
    expect(issuer.requestsTo("/jwks")).toBe(2);
  });

  it("that were withdrawn are refused once the kept ones are too old", async () => {
    const verify = verifier();
    const old = issuer.keys[0]!;
    await verify(await issuer.issue());
    issuer.keys = [await signingKey("renewed")];
    expect(await verify(await issuer.issue({}, { key: old }))).toMatchObject({ sub: "maria" });
    pass(10 * 60_000 + 1);
    await expect(verify(await issuer.issue({}, { key: old }))).rejects.toThrow(
      "The access token is signed with an unknown key",
    );
  });

  it("go on being used for a while when the issuer is down, and no longer", async () => {
    const verify = verifier();
    await verify(await issuer.issue());
    issuer.answers.set("/jwks", () => ({ status: 500 }));
    pass(11 * 60_000);
    expect(await verify(await issuer.issue())).toMatchObject({ sub: "maria" });
    pass(60 * 60_000);
    const failed = verify(await issuer.issue());
    await expect(failed).rejects.toThrow(`${issuer.url}/jwks answered 500, expected 200`);
    await expect(failed).rejects.not.toBeInstanceOf(InvalidTokenError);
  });

  it("are asked for again after a failure, once it is some time ago", async () => {
    const verify = verifier();
    issuer.answers.set("/jwks", () => ({ status: 503 }));
    for (let index = 0; index < 5; index++) {
      await expect(verify(await issuer.issue())).rejects.toThrow("answered 503");
    }
    expect(issuer.requestsTo("/jwks")).toBe(1);
    issuer.answers.delete("/jwks");
    pass(2_001);
    expect(await verify(await issuer.issue())).toMatchObject({ sub: "maria" });
  });

  it.each<[string, Parameters<typeof issuer.answers.set>[1], RegExp]>([
    ["that take too long", () => "hang", /\/jwks took longer than 1000 ms/],
    [
      "that are too large",
      () => ({ text: `{"keys":["${"x".repeat(3000)}"]}` }),
      /answered more than 2000 bytes/,
    ],
    ["that are elsewhere", () => ({ status: 302, headers: { location: "http://127.0.0.1:1/" } }), /redirect/],
    ["that are no JSON", () => ({ text: "<html>" }), /not a JSON object/],
    ["that are no key set", () => ({ json: { keys: "none" } }), /is not a JSON Web Key Set/],
  ])("%s cannot be had", async (_, answer, message) => {
    issuer.answers.set("/jwks", answer);
    const verify = verifier({}, context({ fetchTimeoutMs: 1_000, maxDocumentBytes: 2000 }));
    await expect(verify(await issuer.issue())).rejects.toThrow(message);
  });

  it("of which several fit a token without a key id are all tried", async () => {
    issuer.keys = [await signingKey("a"), await signingKey("b"), await signingKey("c", "RS256")];
    const verify = verifier();
    for (const key of issuer.keys) {
      const token = await issuer.issue({}, { key, header: { kid: undefined } });
      expect(await verify(token)).toMatchObject({ sub: "maria" });
    }
    const token = await issuer.issue({}, { key: await signingKey("d"), header: { kid: undefined } });
    await expect(verify(token)).rejects.toThrow("The signature of the access token is not valid");
  });

  it("may be named by option, and then no metadata is read", async () => {
    const verify = verifier({ jwksUris: { [issuer.issuer]: `${issuer.url}/jwks` } });
    expect(await verify(await issuer.issue())).toMatchObject({ sub: "maria" });
    expect(issuer.received.map(({ path }) => path)).toEqual(["/jwks"]);
  });
});

describe("issuers", () => {
  it("are told apart: each with its own keys", async () => {
    const other = await authorizationServer();
    const verify = verifier({}, context({}, issuer.issuer, other.issuer));
    expect(await verify(await issuer.issue())).toMatchObject({ iss: issuer.issuer });
    expect(await verify(await other.issue())).toMatchObject({ iss: other.issuer });
    // A token in the name of one, signed by the other.
    const forged = await other.issue({ iss: issuer.issuer });
    await expect(verify(forged)).rejects.toBeInstanceOf(InvalidTokenError);
  });

  it("with a path are found by inserting it", async () => {
    const tenant = await authorizationServer({ path: "/tenant1" });
    const verify = verifier({}, context({}, tenant.issuer));
    expect(await verify(await tenant.issue())).toMatchObject({ iss: tenant.issuer });
    expect(tenant.received[0]!.path).toBe("/.well-known/oauth-authorization-server/tenant1");
  });

  it("that speak OpenID Connect only are found at its two places, in order", async () => {
    const tenant = await authorizationServer({ path: "/tenant1" });
    tenant.answers.set("/.well-known/oauth-authorization-server/tenant1", () => ({ status: 404 }));
    tenant.answers.set("/tenant1/.well-known/openid-configuration", () => ({
      json: { issuer: tenant.issuer, jwks_uri: `${tenant.url}/jwks` },
    }));
    expect(await verifier({}, context({}, tenant.issuer))(await tenant.issue())).toMatchObject({
      sub: "maria",
    });
    expect(tenant.received.map(({ path }) => path)).toEqual([
      "/.well-known/oauth-authorization-server/tenant1",
      "/.well-known/openid-configuration/tenant1",
      "/tenant1/.well-known/openid-configuration",
      "/jwks",
    ]);
  });

  it.each(["/", "/x"])(
    "are compared as they are: metadata of another one (+ %j) is not used",
    async (more) => {
      const named = `${issuer.issuer}${more}`;
      issuer.answers.set("/.well-known/oauth-authorization-server", () => ({
        json: { issuer: named, jwks_uri: `${issuer.url}/jwks` },
      }));
      await expect(verifier()(await issuer.issue())).rejects.toThrow(`is the metadata of issuer "${named}"`);
      expect(issuer.requestsTo("/jwks")).toBe(0);
    },
  );

  it("whose keys are not behind https are not used", async () => {
    issuer.answers.set("/.well-known/oauth-authorization-server", () => ({
      json: { issuer: issuer.issuer, jwks_uri: "http://keys.example.com/jwks" },
    }));
    await expect(verifier()(await issuer.issue())).rejects.toThrow(/jwks_uri of .* must be an https URL/);
  });
});

describe("types and algorithms", () => {
  it.each(["at+jwt", "AT+JWT", "application/at+jwt", "JWT", "jwt", undefined])(
    "typ %s is accepted",
    async (typ) => {
      expect(await verifier()(await issuer.issue({}, { header: { typ } }))).toMatchObject({ sub: "maria" });
    },
  );

  it.each(["logout+jwt", "dpop+jwt", "secevent+jwt", "at+jwtx", ""])("typ %j is refused", async (typ) => {
    const token = await issuer.issue({}, { header: { typ } });
    await expect(verifier()(token)).rejects.toThrow("The token is of another type: expected at+jwt or JWT");
  });

  it("only at+jwt is accepted where that is demanded", async () => {
    const verify = verifier({ requireAccessTokenType: true });
    expect(await verify(await issuer.issue())).toMatchObject({ sub: "maria" });
    const plain = await issuer.issue({}, { header: { typ: "JWT" } });
    await expect(verify(plain)).rejects.toThrow("The token is of another type: expected at+jwt");
  });

  it.each([
    { at_hash: "x" },
    { c_hash: "x" },
    { token_use: "id" },
    { typ: "ID" },
    { nonce: "x", scope: undefined },
  ])("an ID token (%j) is refused", async (claims) => {
    const token = await issuer.issue(claims, { header: { typ: "JWT" } });
    await expect(verifier()(token)).rejects.toThrow("An ID token is no access token");
  });

  it("an access token with a nonce is none", async () => {
    const token = await issuer.issue({ nonce: "x" }, { header: { typ: "JWT" } });
    expect(await verifier()(token)).toMatchObject({ nonce: "x" });
  });

  it.each(["ES256", "ES384", "ES512", "RS256", "PS256", "PS512", "EdDSA", "Ed25519"])(
    "%s is accepted",
    async (alg) => {
      const server = await authorizationServer({ alg });
      expect(await verifier({}, context({}, server.issuer))(await server.issue())).toMatchObject({
        sub: "maria",
      });
    },
  );

  it("the list of algorithms can be narrowed", async () => {
    const verify = verifier({ algorithms: ["EdDSA"] });
    await expect(verify(await issuer.issue())).rejects.toThrow("not accepted: expected EdDSA");
    expect(issuer.received).toEqual([]);
  });

  it("the algorithm of a key is that of its issuer, whatever the token says", async () => {
    const server = await authorizationServer({ alg: "RS256" });
    const key = server.keys[0]!;
    const token = await server.issue({}, { key: { ...(await signingKey(key.kid, "PS256")) } });
    await expect(verifier({}, context({}, server.issuer))(token)).rejects.toThrow("unknown key");
  });

  it.each([["HS256"], ["none"], ["RSA1_5"]])("%s cannot be allowed", (algorithm) => {
    expect(() => jwtVerifier({ algorithms: ["ES256", algorithm] })).toThrow(
      new RegExp(`algorithms must be among RS256.*got "${algorithm}"`),
    );
  });

  it("critical headers are refused, for nobody here knows them", async () => {
    const token = await issuer.issue({}, { header: { crit: ["b64"], b64: true } });
    await expect(verifier()(token)).rejects.toThrow("The access token has critical headers");
  });

  it.each<[string, JwtVerifierOptions, RegExp]>([
    ["no algorithm", { algorithms: [] }, /algorithms must name at least one/],
    [
      "keys over http",
      { jwksUris: { a: "http://example.com/jwks" } },
      /jwksUris\["a"\]: it must be an https URL/,
    ],
  ])("%s is a mistake", (_, options, message) => {
    expect(() => jwtVerifier(options)).toThrow(TypeError);
    expect(() => jwtVerifier(options)).toThrow(message);
  });
});

describe("the judgement of claims", () => {
  const expected = (tolerance = 5_000) => ({
    audiences: [RESOURCE],
    authorizationServers: ["https://auth.example.com"],
    clockToleranceMs: tolerance,
  });
  const claims = (more: object = {}) => ({
    iss: "https://auth.example.com",
    sub: "maria",
    aud: RESOURCE,
    exp: now() + 300,
    ...more,
  });

  it.each([
    [-4, 5_000, true],
    [-6, 5_000, false],
    [0, 0, false],
    [1, 0, true],
  ])("an expiry %i s from now, with a tolerance of %i ms: %s", (seconds, tolerance, accepted) => {
    vi.setSystemTime(1_800_000_000_000);
    const judge = () => judgeClaims(claims({ exp: now() + seconds }), expected(tolerance));
    if (accepted) expect(judge().principal).toBe("https://auth.example.com#maria");
    else expect(judge).toThrow("The access token has expired");
  });

  it.each([
    [4, true],
    [6, false],
    ["soon", false],
  ])("a beginning %s s from now: %s", (from, accepted) => {
    vi.setSystemTime(1_800_000_000_000);
    const nbf = typeof from === "number" ? now() + from : from;
    const judge = () => judgeClaims(claims({ nbf }), expected());
    if (accepted) expect(judge).not.toThrow();
    else expect(judge).toThrow("The access token is not valid yet");
  });

  it.each([
    ["https://mcp.example.com/mcp", true],
    ["HTTPS://MCP.Example.COM/mcp", true],
    ["https://mcp.example.com/mcp/", false],
    ["https://mcp.example.com/MCP", false],
    ["https://mcp.example.com:443/mcp", false],
    ["https://mcp.example.com", false],
    ["https://mcp.example.com/mcp?x", false],
  ])("the audience %s: %s", (aud, accepted) => {
    const judge = () => judgeClaims(claims({ aud }), expected());
    if (accepted) expect(judge).not.toThrow();
    else expect(judge).toThrow("meant for another audience");
  });

  it("keeps a resource as it was given: no slash is added to either side", () => {
    const root = { ...expected(), audiences: ["https://example.com"] };
    expect(() => judgeClaims(claims({ aud: "https://example.com" }), root)).not.toThrow();
    expect(() => judgeClaims(claims({ aud: "https://example.com/" }), root)).toThrow(
      "expected https://example.com",
    );
  });

  it("tells subjects of different issuers apart, and clients from users of the same name", () => {
    const two = { ...expected(), authorizationServers: ["https://a.example.com", "https://b.example.com"] };
    const of = (more: object) =>
      judgeClaims(claims({ iss: "https://a.example.com", ...more }), two).principal;
    const all = [
      of({}),
      of({ iss: "https://b.example.com" }),
      of({ sub: undefined, client_id: "maria" }),
      of({ sub: "?client_id=maria" }),
    ];
    expect(new Set(all).size).toBe(all.length);
    expect(() => of({ iss: undefined })).toThrow("The access token names no issuer");
    expect(() => of({ sub: undefined })).toThrow("neither a subject nor a client");
    expect(() => of({ sub: "" })).toThrow("neither a subject nor a client");
  });

  it.each([
    [{ scope: "b a" }, ["a", "b"]],
    [{ scope: "" }, []],
    [{ scope: ["a", 7, "b c"] }, ["a"]],
    [{ scp: ["x", "y"] }, ["x", "y"]],
    [{ scp: "x y", scope: "y z" }, ["x", "y", "z"]],
    [{ scope: 'a"b c' }, ["c"]],
    [{ scope: { a: true } }, []],
  ])("reads the scopes of %j", (more, scopes) => {
    expect(judgeClaims(claims(more), expected()).scopes).toEqual(scopes);
  });
});
