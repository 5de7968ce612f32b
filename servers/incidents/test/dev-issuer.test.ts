/** The test issuer, by fetch: signing in with a code and PKCE, what tokens are for, and whom it refuses. */
import { createHash } from "node:crypto";
import { request } from "node:http";
import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, jwtVerify } from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type DevIssuer, startDevIssuer } from "../src/dev-issuer.js";
import { fieldsOf } from "./form.js";

const RESOURCE = "http://127.0.0.1:8931/mcp";
const CALLBACK = "http://127.0.0.1:4567/callback";
const VERIFIER = "a".repeat(43);
const DOCUMENT = "https://app.example.com/client.json";
let documents: Record<string, unknown>;
let dev: DevIssuer;

beforeEach(async () => {
  documents = {};
  dev = await startDevIssuer({
    scopes: ["incidents:read", "incidents:write"],
    resource: () => RESOURCE,
    fetchDocument: async (url) => {
      if (url in documents) return documents[url];
      throw new Error("HTTP 404");
    },
  });
});
afterEach(() => dev.close());

type Json = Record<string, unknown>;
const json = async (response: Response): Promise<Json> => (await response.json()) as Json;
const post = (path: string, form: Record<string, string> | URLSearchParams, headers = {}) =>
  fetch(`${dev.issuer}${path}`, {
    method: "POST",
    body: new URLSearchParams(form),
    redirect: "manual",
    headers,
  });

async function register(uris: unknown = [CALLBACK]): Promise<string> {
  const body = JSON.stringify({ client_name: "test", redirect_uris: uris });
  const response = await fetch(`${dev.issuer}/register`, { method: "POST", body });
  expect(response.status).toBe(201);
  const { client_id: clientId, ...rest } = await json(response);
  expect(rest).toMatchObject({ token_endpoint_auth_method: "none", redirect_uris: uris });
  return String(clientId);
}

const asked = (clientId: string, changed: Record<string, string> = {}): Record<string, string> => ({
  response_type: "code",
  client_id: clientId,
  redirect_uri: CALLBACK,
  scope: "incidents:read",
  state: 'a"<b>&c',
  resource: RESOURCE,
  code_challenge: createHash("sha256").update(VERIFIER).digest("base64url"),
  code_challenge_method: "S256",
  ...changed,
});
const authorize = (parameters: Record<string, string>) =>
  fetch(`${dev.issuer}/authorize?${new URLSearchParams(parameters)}`, { redirect: "manual" });

/** Shows the page, fills it in and sends it. @returns where the browser is sent */
async function signIn(parameters: Record<string, string>, person: Record<string, string> = {}): Promise<URL> {
  const page = await authorize(parameters);
  expect(page.status).toBe(200);
  const form = fieldsOf(await page.text());
  for (const [name, value] of Object.entries({ decision: "allow", ...person })) form.set(name, value);
  const response = await post("/authorize", form, { origin: dev.issuer });
  expect(response.status).toBe(303);
  return new URL(response.headers.get("location")!);
}

const redeem = (clientId: string, code: string, changed: Record<string, string> = {}) =>
  post("/token", {
    grant_type: "authorization_code",
    code,
    client_id: clientId,
    redirect_uri: CALLBACK,
    code_verifier: VERIFIER,
    resource: RESOURCE,
    ...changed,
  });
const renew = (clientId: string, token: unknown, changed: Record<string, string> = {}) =>
  post("/token", {
    grant_type: "refresh_token",
    refresh_token: String(token),
    client_id: clientId,
    ...changed,
  });

async function refusedBy(response: Response, status: number, error: string): Promise<void> {
  expect(response.status).toBe(status);
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(await json(response)).toMatchObject({ error, error_description: expect.any(String) });
}

describe("a person", () => {
  it("signs in with a code and PKCE, found by discovery alone", async () => {
    const metadata = await json(await fetch(`${dev.issuer}/.well-known/oauth-authorization-server`));
    expect(metadata).toMatchObject({
      issuer: dev.issuer,
      authorization_endpoint: `${dev.issuer}/authorize`,
      token_endpoint: `${dev.issuer}/token`,
      registration_endpoint: `${dev.issuer}/register`,
      code_challenge_methods_supported: ["S256"],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    });
    const clientId = await register();
    const back = await signIn(asked(clientId), { person: "somebody", tenant: "acme" });
    expect(`${back.origin}${back.pathname}`).toBe(CALLBACK);
    expect(back.searchParams.get("iss")).toBe(dev.issuer);
    expect(back.searchParams.get("state")).toBe('a"<b>&c');

    const response = await redeem(clientId, back.searchParams.get("code")!);
    expect(response.status).toBe(200);
    const tokens = await json(response);
    expect(tokens).toMatchObject({ token_type: "Bearer", expires_in: 600, scope: "incidents:read" });
    const keys = (await json(await fetch(String(metadata["jwks_uri"])))) as unknown as JSONWebKeySet;
    expect(JSON.stringify(keys)).not.toContain('"d"');
    const verified = await jwtVerify(String(tokens["access_token"]), createLocalJWKSet(keys), {
      issuer: dev.issuer,
      audience: RESOURCE,
      typ: "at+jwt",
    });
    expect(verified.payload).toMatchObject({
      sub: "somebody",
      tenant: "acme",
      client_id: clientId,
      scope: "incidents:read",
    });
  });

  it("decides which scopes to grant, and can refuse", async () => {
    const clientId = await register();
    const back = await signIn(asked(clientId), { grant: "incidents:write", tenant: "" });
    const { access_token: token } = await json(await redeem(clientId, back.searchParams.get("code")!));
    const claims = decodeJwt(String(token));
    expect(claims).toMatchObject({ sub: "me", scope: "incidents:write" });
    expect(claims).not.toHaveProperty("tenant");
    const refused = await signIn(asked(clientId), { decision: "deny" });
    expect(Object.fromEntries(refused.searchParams)).toMatchObject({
      error: "access_denied",
      iss: dev.issuer,
    });
    expect(refused.searchParams.has("code")).toBe(false);
  });

  it("is shown what is asked for as text, whatever it holds", async () => {
    const page = await authorize(asked(await register(), { resource: "https://x/<script>" }));
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    const html = await page.text();
    expect(html).not.toContain("<script>");
    expect(html).toContain("lets everybody in");
  });
});

describe("the authorization endpoint", () => {
  it.each([
    ["without PKCE", { code_challenge_method: "" }, "invalid_request"],
    ["with plain PKCE", { code_challenge_method: "plain" }, "invalid_request"],
    ["with half a challenge", { code_challenge: "abc" }, "invalid_request"],
    ["of another kind", { response_type: "token" }, "unsupported_response_type"],
  ])("tells the client of a request %s", async (_, changed, error) => {
    const response = await authorize(asked(await register(), changed));
    expect(response.status).toBe(303);
    const { searchParams } = new URL(response.headers.get("location")!);
    expect(Object.fromEntries(searchParams)).toMatchObject({ error, iss: dev.issuer, state: 'a"<b>&c' });
  });

  it("sends nobody anywhere for a client or a redirect URI that is not known", async () => {
    const clientId = await register();
    for (const parameters of [
      asked("unknown"),
      asked(clientId, { redirect_uri: "http://127.0.0.1:4567/other" }),
      asked(clientId, { redirect_uri: "https://elsewhere.example.com/callback" }),
      asked(clientId, { redirect_uri: "" }),
    ]) {
      const response = await authorize(parameters);
      expect(response.status).toBe(400);
      expect(response.headers.get("location")).toBeNull();
      const decided = await post("/authorize", { ...parameters, person: "me", decision: "allow" });
      expect(decided.status).toBe(400);
    }
  });

  it("is told what the client calls itself, beside its id", async () => {
    const clientId = await register();
    const html = await (await authorize(asked(clientId))).text();
    expect(html).toContain(`<b>test</b> (<code>${clientId}</code>) asks`);
  });

  it("signs out: the refresh token is good no more, and only for its own client", async () => {
    const clientId = await register();
    const back = await signIn(asked(clientId));
    const { refresh_token: token } = await json(await redeem(clientId, back.searchParams.get("code")!));
    const revoke = (changed: Record<string, string> = {}) =>
      post("/revoke", { token: String(token), client_id: clientId, ...changed });
    await refusedBy(await revoke({ client_id: await register() }), 400, "invalid_grant");
    expect((await revoke({ token: "made up" })).status).toBe(200);
    const renewed = await json(await renew(clientId, token));
    expect((await revoke({ token: String(renewed["refresh_token"]) })).status).toBe(200);
    await refusedBy(await renew(clientId, renewed["refresh_token"]), 400, "invalid_grant");
  });

  it("lets no other page decide", async () => {
    const form = { ...asked(await register()), person: "me", decision: "allow" };
    expect((await post("/authorize", form, { origin: "https://elsewhere.example.com" })).status).toBe(400);
    expect((await post("/authorize", form, { origin: "null" })).status).toBe(400);
  });

  it("takes any port of a loopback redirect URI", async () => {
    const back = await signIn(asked(await register(), { redirect_uri: "http://127.0.0.1:9/callback" }));
    expect(back.port).toBe("9");
  });
});

describe("clients", () => {
  it.each([
    ["none", undefined],
    ["an empty list", []],
    ["one elsewhere", ["https://app.example.com/callback"]],
    ["one without encryption", ["http://app.example.com/callback"]],
    ["no URI", ["callback"]],
  ])("are not registered with %s for redirect URIs", async (_, uris) => {
    const body = JSON.stringify({ redirect_uris: uris });
    const response = await fetch(`${dev.issuer}/register`, { method: "POST", body });
    await refusedBy(response, 400, "invalid_redirect_uri");
  });

  it("may be described by a document at their own URL", async () => {
    documents[DOCUMENT] = { client_id: DOCUMENT, client_name: "App", redirect_uris: [CALLBACK] };
    const back = await signIn(asked(DOCUMENT));
    const { access_token: token } = await json(await redeem(DOCUMENT, back.searchParams.get("code")!));
    expect(decodeJwt(String(token))).toMatchObject({ client_id: DOCUMENT });
  });

  it.each<[string, unknown]>([
    ["is of another client", { client_id: `${DOCUMENT}?`, client_name: "App", redirect_uris: [CALLBACK] }],
    ["has no name", { client_id: DOCUMENT, redirect_uris: [CALLBACK] }],
    ["has no redirect URIs", { client_id: DOCUMENT, client_name: "App" }],
    [
      "names another one",
      { client_id: DOCUMENT, client_name: "App", redirect_uris: ["http://127.0.0.1/no"] },
    ],
    [
      "leads elsewhere",
      { client_id: DOCUMENT, client_name: "App", redirect_uris: ["https://app.example.com/"] },
    ],
    ["is none", null],
  ])("are refused where the document %s", async (_, document) => {
    documents[DOCUMENT] = document;
    expect((await authorize(asked(DOCUMENT))).status).toBe(400);
  });

  it("are refused where the document cannot be read", async () => {
    const response = await authorize(asked(DOCUMENT));
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("cannot be read");
  });
});

describe("the token endpoint", () => {
  it("takes a code once, from whoever it was made for, with what it was made for", async () => {
    const clientId = await register();
    const code = (await signIn(asked(clientId))).searchParams.get("code")!;
    const wrong: [Record<string, string>, string][] = [
      [{ code_verifier: "b".repeat(43) }, "invalid_grant"],
      [{ code_verifier: "" }, "invalid_request"],
      [{ redirect_uri: "http://127.0.0.1:9/callback" }, "invalid_grant"],
      [{ client_id: await register() }, "invalid_grant"],
      [{ resource: "https://other.example.com/mcp" }, "invalid_target"],
      [{ code: "unknown" }, "invalid_grant"],
    ];
    for (const [changed, error] of wrong) await refusedBy(await redeem(clientId, code, changed), 400, error);
    const tokens = await json(await redeem(clientId, code));
    expect(tokens).toHaveProperty("access_token");
    await refusedBy(await redeem(clientId, code), 400, "invalid_grant");
    // Whoever has the code may have the tokens, so they end.
    await refusedBy(await renew(clientId, tokens["refresh_token"]), 400, "invalid_grant");
  });

  it("changes refresh tokens with every use, and ends the sign-in where one is used twice", async () => {
    const clientId = await register();
    const back = await signIn(asked(clientId), { grant: "incidents:read" });
    const first = await json(await redeem(clientId, back.searchParams.get("code")!));
    await refusedBy(await renew(await register(), first["refresh_token"]), 400, "invalid_grant");
    const more = { scope: "incidents:write" };
    await refusedBy(await renew(clientId, first["refresh_token"], more), 400, "invalid_scope");
    const second = await json(await renew(clientId, first["refresh_token"]));
    expect(second["refresh_token"]).not.toBe(first["refresh_token"]);
    expect(decodeJwt(String(second["access_token"]))).toMatchObject({
      scope: "incidents:read",
      aud: RESOURCE,
    });
    await refusedBy(await renew(clientId, first["refresh_token"]), 400, "invalid_grant");
    await refusedBy(await renew(clientId, second["refresh_token"]), 400, "invalid_grant");
  });

  const script = (form: Record<string, string>) =>
    post("/token", { grant_type: "client_credentials", client_id: "test", ...form });

  it("gives scripts any token", async () => {
    const { access_token: token, ...rest } = await json(await script({ scope: "incidents:write" }));
    expect(rest).toEqual({ token_type: "Bearer", expires_in: 600, scope: "incidents:write" });
    expect(decodeJwt(String(token))).toMatchObject({ sub: "test", aud: RESOURCE });
    const other = { person: "me", tenant: "acme", expires_in: "-60", resource: "https://other.example.com" };
    const claims = decodeJwt(String((await json(await script(other)))["access_token"]));
    expect(claims).toMatchObject({ sub: "me", tenant: "acme", aud: other.resource, scope: "" });
    expect(claims.exp).toBe(claims.iat! - 60);
  });

  it("refuses what it does not know", async () => {
    await refusedBy(await script({ client_id: "other" }), 401, "invalid_client");
    await refusedBy(await script({ scope: "admin" }), 400, "invalid_scope");
    await refusedBy(await script({ expires_in: "soon" }), 400, "invalid_request");
    await refusedBy(await script({ grant_type: "password" }), 400, "unsupported_grant_type");
    await refusedBy(await post("/token", { scope: "x".repeat(70_000) }), 400, "invalid_request");
  });
});

describe("from outside", () => {
  it.each(["0.0.0.0", "::", "[::]", "192.0.2.1", "example.com", "127.0.0.1.example.com", ""])(
    "%j is no address that it listens on",
    async (host) => {
      const start = startDevIssuer({ scopes: [], resource: () => RESOURCE, host });
      await expect(start).rejects.toThrow(/^startDevIssuer: host must be a loopback address/);
    },
  );

  it("answers under its own name only", async () => {
    const status = (host: string) =>
      new Promise((resolve, reject) => {
        const { hostname, port } = new URL(dev.issuer);
        request({ hostname, port, path: "/jwks", headers: { host }, agent: false }, (res) =>
          resolve(res.resume().statusCode),
        )
          .on("error", reject)
          .end();
      });
    expect(await status(new URL(dev.issuer).host)).toBe(200);
    expect(await status("rebound.example.com")).toBe(403);
  });

  it("knows nothing else", async () => {
    expect((await fetch(`${dev.issuer}/admin`)).status).toBe(404);
    expect((await fetch(`${dev.issuer}/token`)).status).toBe(404);
    const body = "no json";
    const response = await fetch(`${dev.issuer}/register`, { method: "POST", body });
    await refusedBy(response, 400, "invalid_client_metadata");
  });
});
