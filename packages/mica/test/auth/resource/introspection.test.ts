/** Tokens that only their issuer can read (RFC 7662), and verifiers of the author's own. */
import { exportJWK, exportPKCS8, importJWK, jwtVerify } from "jose";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  type IntrospectionOptions,
  InvalidTokenError,
  introspectionVerifier,
  type ProtectionOptions,
  protect,
  type TokenVerifier,
} from "../../../src/entry/auth.js";
import {
  type AuthorizationServer,
  authorizationServer,
  METADATA,
  now,
  RESOURCE,
  signingKey,
} from "./authorization-server.js";
import { BINDINGS, type Endpoint, type Incidents, incidentServer, textOf } from "./fixture.js";

const TOKEN = "opaque-0123456789-abcdefghij";

let issuer: AuthorizationServer;
let server: Incidents;
const errors: Error[] = [];
beforeEach(async () => {
  issuer = await authorizationServer();
  server = incidentServer();
  errors.length = 0;
});
afterEach(() => {
  vi.useRealTimers();
});

const active = (more: object = {}) => ({
  json: { active: true, sub: "maria", aud: RESOURCE, exp: now() + 300, scope: "incidents:read", ...more },
});

function start(verify: TokenVerifier, more: Partial<ProtectionOptions> = {}): Promise<Endpoint> {
  const options = { resource: RESOURCE, authorizationServers: [issuer.issuer], scopes: ["incidents:read"] };
  return BINDINGS["node:http"]!(
    protect(server, { ...options, verify, onError: (error) => errors.push(error), ...more }),
  );
}

const asking = (more: Partial<IntrospectionOptions> = {}): TokenVerifier =>
  introspectionVerifier({
    issuer: issuer.issuer,
    client: { clientId: "mcp server", clientSecret: "s3cret:&é" },
    ...more,
  });

const invalid = (why: string): string =>
  `Bearer error="invalid_token", scope="incidents:read", resource_metadata="${METADATA}", error_description="${why}"`;

describe("introspection", () => {
  it("asks the issuer, which the metadata says where, and serves what is active", async () => {
    issuer.answers.set("/introspect", () => active({ iss: issuer.issuer }));
    const endpoint = await start(asking());
    expect(textOf(await endpoint.call("list_incidents", TOKEN))).toBe(`hello ${issuer.issuer}#maria`);
    const [{ form, headers }] = issuer.received.filter(({ path }) => path === "/introspect") as [
      (typeof issuer.received)[0],
    ];
    expect(Object.fromEntries(form)).toEqual({ token: TOKEN, token_type_hint: "access_token" });
    expect(headers["content-type"]).toBe("application/x-www-form-urlencoded");
    expect(headers.accept).toBe("application/json");
    // Both halves form-encoded before they are joined.
    expect(atob(String(headers.authorization).replace("Basic ", ""))).toBe("mcp+server:s3cret%3A%26%C3%A9");
    expect(server.seen[0]!.auth?.claims).not.toHaveProperty("active");
  });

  it("sends the secret in the body where that is asked for", async () => {
    issuer.answers.set("/introspect", () => active());
    const client = { clientId: "mcp", clientSecret: "s", method: "client_secret_post" } as const;
    const endpoint = await start(asking({ client, endpoint: `${issuer.url}/introspect` }));
    expect((await endpoint.call("list_incidents", TOKEN)).status).toBe(200);
    expect(issuer.received).toHaveLength(1);
    expect(issuer.received[0]!.headers.authorization).toBeUndefined();
    expect(Object.fromEntries(issuer.received[0]!.form)).toMatchObject({
      client_id: "mcp",
      client_secret: "s",
    });
  });

  it.each(["JWK", "PEM"])("proves who it is by a signature, with a key as %s", async (form) => {
    issuer.answers.set("/introspect", () => active());
    const key = await signingKey("own", "ES256");
    const privateKey =
      form === "JWK"
        ? { ...(await exportJWK(key.privateKey)), alg: "ES256", kid: "own" }
        : await exportPKCS8(key.privateKey);
    const client = { clientId: "mcp", privateKey, algorithm: "ES256", keyId: "own" };
    const endpoint = await start(asking({ client }));
    expect((await endpoint.call("list_incidents", TOKEN)).status).toBe(200);
    const sent = issuer.received.at(-1)!.form;
    expect(sent.get("client_assertion_type")).toBe("urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    const verified = await jwtVerify(sent.get("client_assertion")!, await importJWK(key.jwk, "ES256"), {
      issuer: "mcp",
      subject: "mcp",
      audience: `${issuer.url}/introspect`,
      maxTokenAge: 60,
      requiredClaims: ["jti", "exp"],
    });
    expect(verified.protectedHeader).toMatchObject({ alg: "ES256", kid: "own" });
  });

  it.each<[string, object, string]>([
    ["is not active", { active: false }, "The access token is not valid"],
    ["says so in words", { active: "true" }, "The access token is not valid"],
    ["names no audience", { aud: undefined }, "The access token names no audience"],
    [
      "names another audience",
      { aud: "https://other.example.com" },
      `The access token is meant for another audience: expected ${RESOURCE}`,
    ],
    ["names no expiry", { exp: undefined }, "The access token names no expiry"],
    ["has expired", { exp: 1_000_000_000 }, "The access token has expired"],
    ["names no subject", { sub: undefined }, "The access token names neither a subject nor a client"],
  ])("refuses a token that %s: 401", async (_, more, why) => {
    issuer.answers.set("/introspect", () => active(more));
    const sent = await (await start(asking())).call("list_incidents", TOKEN);
    expect({ status: sent.status, challenge: sent.challenge }).toEqual({
      status: 401,
      challenge: invalid(why),
    });
    expect(errors).toEqual([]);
  });

  it("refuses the answer of another issuer", async () => {
    issuer.answers.set("/introspect", () => active({ iss: "https://other.example.com" }));
    // Not even where that one is accepted as well: it may not speak for the other's people.
    for (const authorizationServers of [[issuer.issuer], [issuer.issuer, "https://other.example.com"]]) {
      const sent = await (await start(asking(), { authorizationServers })).call("list_incidents", TOKEN);
      expect(sent.challenge).toBe(
        invalid(`The access token is from another issuer: expected ${issuer.issuer}`),
      );
    }
  });

  it("keeps what is active for a while, and asks once for all who ask at once", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    issuer.answers.set("/introspect", () => active());
    const endpoint = await start(asking());
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => endpoint.call("list_incidents", TOKEN)),
    );
    expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(issuer.requestsTo("/introspect")).toBe(1);
    vi.setSystemTime(Date.now() + 29_000);
    await endpoint.call("list_incidents", TOKEN);
    expect(issuer.requestsTo("/introspect")).toBe(1);
    // Revoked meanwhile.
    issuer.answers.set("/introspect", () => ({ json: { active: false } }));
    vi.setSystemTime(Date.now() + 1_001);
    expect((await endpoint.call("list_incidents", TOKEN)).status).toBe(401);
    expect(issuer.requestsTo("/introspect")).toBe(2);
    // What is not active is not kept.
    issuer.answers.set("/introspect", () => active());
    expect((await endpoint.call("list_incidents", TOKEN)).status).toBe(200);
  });

  it("never uses a kept answer beyond the expiry of the token", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    issuer.answers.set("/introspect", () => active({ exp: now() + 10 }));
    const endpoint = await start(asking(), { limits: { clockToleranceMs: 0 } });
    expect((await endpoint.call("list_incidents", TOKEN)).status).toBe(200);
    vi.setSystemTime(Date.now() + 11_000);
    const sent = await endpoint.call("list_incidents", TOKEN);
    expect(sent.challenge).toBe(invalid("The access token has expired"));
  });

  it("asks every time where nothing is to be kept, and forgets the oldest where too much is", async () => {
    issuer.answers.set("/introspect", () => active());
    const never = await start(asking(), { limits: { introspectionCacheMs: 0 } });
    await never.call("list_incidents", TOKEN);
    await never.call("list_incidents", TOKEN);
    expect(issuer.requestsTo("/introspect")).toBe(2);
    const few = await start(asking(), { limits: { maxCached: 2 } });
    for (const token of ["one", "two", "three", "three", "two", "one"])
      await few.call("list_incidents", token);
    expect(issuer.requestsTo("/introspect")).toBe(2 + 4);
  });

  it("gives each request claims of its own", async () => {
    issuer.answers.set("/introspect", () => active({ groups: ["a"] }));
    const endpoint = await start(asking());
    await endpoint.call("list_incidents", TOKEN);
    (server.seen[0]!.auth!.claims["groups"] as string[]).push("admin");
    await endpoint.call("list_incidents", TOKEN);
    expect(server.seen[1]!.auth!.claims["groups"]).toEqual(["a"]);
  });

  it.each<[string, Parameters<AuthorizationServer["answers"]["set"]>[1], RegExp]>([
    ["does not know this server", () => ({ status: 401, json: { error: "invalid_client" } }), /answered 401/],
    ["is down", () => ({ status: 503 }), /answered 503/],
    ["does not answer", () => "hang", /took longer than 1000 ms/],
    ["answers something else", () => ({ text: "<html>" }), /not a JSON object/],
    [
      "sends elsewhere",
      () => ({ status: 307, headers: { location: "https://evil.example.com" } }),
      /redirect/,
    ],
  ])("answers 503, without a challenge, when the issuer %s", async (_, answer, message) => {
    issuer.answers.set("/introspect", answer);
    const endpoint = await start(asking(), { limits: { fetchTimeoutMs: 1_000 } });
    const sent = await endpoint.call("list_incidents", TOKEN);
    expect(sent.status).toBe(503);
    expect(sent.challenge).toBeUndefined();
    expect(sent.headers["retry-after"]).toBe("5");
    expect(sent.json.error).toEqual({
      code: -32603,
      message: "Access tokens cannot be verified at the moment",
    });
    expect(errors.map((error) => error.message).join()).toMatch(message);
    expect(server.seen).toEqual([]);
  });

  it("answers 503 when it asks an issuer that is not accepted", async () => {
    const endpoint = await start(asking({ issuer: "https://other.example.com" }));
    expect((await endpoint.call("list_incidents", TOKEN)).status).toBe(503);
    expect(errors[0]!.message).toContain("https://other.example.com is not among authorizationServers");
  });

  it.each<[string, object, RegExp]>([
    ["no issuer", { issuer: undefined }, /introspectionVerifier: issuer must be an absolute URL/],
    ["an insecure endpoint", { endpoint: "http://auth.example.com/i" }, /endpoint: it must be an https URL/],
    ["no client", { client: undefined }, /client must be an object/],
    [
      "a client without an id",
      { client: { clientSecret: "s" } },
      /client.clientId must be a non-empty string/,
    ],
    ["an empty secret", { client: { clientId: "a", clientSecret: "" } }, /clientSecret must be a non-empty/],
    [
      "PEM without an algorithm",
      { client: { clientId: "a", privateKey: "x" } },
      /client.algorithm must be given/,
    ],
  ])("says what is wrong with %s", (_, more, message) => {
    expect(() => asking(more)).toThrow(TypeError);
    expect(() => asking(more)).toThrow(message);
  });
});

describe("a function of the author's own", () => {
  const good = () => ({ sub: "maria", aud: RESOURCE, exp: now() + 60, scope: "incidents:read" });

  it("decides, and gets what it needs for that", async () => {
    const verify = vi.fn<TokenVerifier>(async () => good());
    const sent = await (await start(verify)).call("list_incidents", TOKEN);
    expect(textOf(sent)).toBe(`hello ${issuer.issuer}#maria`);
    expect(verify).toHaveBeenCalledWith(TOKEN, expect.objectContaining({ resource: RESOURCE }));
  });

  it.each<[string, () => object | undefined, string]>([
    ["names no audience", () => ({ ...good(), aud: undefined }), "The access token names no audience"],
    ["names no expiry", () => ({ ...good(), exp: undefined }), "The access token names no expiry"],
    ["names the end of time", () => ({ ...good(), exp: Infinity }), "The access token names no expiry"],
    [
      "is bound to a key",
      () => ({ ...good(), cnf: { jkt: "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I" } }),
      "The access token is bound to a key (DPoP), of which this server takes no proof",
    ],
    ["has expired", () => ({ ...good(), exp: now() - 60 }), "The access token has expired"],
    ["is undefined", () => undefined, "The access token is not valid"],
  ])("whose answer %s: 401", async (_, answer, why) => {
    const sent = await (await start(() => answer() as never)).call("list_incidents", TOKEN);
    expect({ status: sent.status, challenge: sent.challenge }).toEqual({
      status: 401,
      challenge: invalid(why),
    });
  });

  it("refuses in its own words, which cannot break out of the header", async () => {
    const why = 'revoked by "admin"\r\nSet-Cookie: a=b\\ — ünïcode';
    const verify = () => Promise.reject(new InvalidTokenError(why));
    const sent = await (await start(verify)).call("list_incidents", TOKEN);
    expect(sent.status).toBe(401);
    expect(sent.challenge).toBe(invalid("revoked by 'admin'??Set-Cookie: a=b' ? ?n?code"));
    expect(sent.headers["set-cookie"]).toBeUndefined();
  });

  it.each([
    ["throws", () => Promise.reject(new Error("database is down")), /database is down/],
    [
      "throws at once",
      () => {
        throw new RangeError("boom");
      },
      /boom/,
    ],
    ["answers true", () => true as never, /verify must return claims or undefined, got boolean/],
    ["answers null", () => null as never, /verify must return claims or undefined, got null/],
  ] as const)("that %s: 503", async (_, verify, message) => {
    const sent = await (await start(verify as TokenVerifier)).call("list_incidents", TOKEN);
    expect(sent.status).toBe(503);
    expect(sent.challenge).toBeUndefined();
    expect(errors[0]!.message).toMatch(message);
    expect(sent.text).not.toMatch(message);
  });

  it("must name the issuer where there are several", async () => {
    const authorizationServers = [issuer.issuer, "https://auth.example.com"];
    const sent = await (await start(() => good(), { authorizationServers })).call("list_incidents", TOKEN);
    expect(sent.challenge).toBe(invalid("The access token names no issuer"));
  });
});
