/** The rungs from nobody to a served call: each with its status and its exact challenge, on both bindings. */
import { exportSPKI, SignJWT } from "jose";
import { beforeEach, describe, expect, it } from "vitest";
import { type ProtectionOptions, protect } from "../../../src/entry/auth.js";
import {
  type AuthorizationServer,
  authorizationServer,
  METADATA,
  now,
  RESOURCE,
  signingKey,
} from "./authorization-server.js";
import { BINDINGS, type Endpoint, type Incidents, incidentServer, textOf } from "./fixture.js";

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const rest = `scope="incidents:read", resource_metadata="${METADATA}"`;
const invalid = (why: string): string => `Bearer error="invalid_token", ${rest}, error_description="${why}"`;
const malformed = (why: string): string =>
  `Bearer error="invalid_request", ${rest}, error_description="${why}"`;
const ALGORITHMS = "RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519";

describe.each(Object.entries(BINDINGS))("%s", (_, start) => {
  let issuer: AuthorizationServer;
  let server: Incidents;
  let endpoint: Endpoint;

  beforeEach(async () => {
    issuer = await authorizationServer();
    server = incidentServer();
    endpoint = await start(protect(server, options()));
  });

  const options = (): ProtectionOptions => ({
    resource: RESOURCE,
    authorizationServers: [issuer.issuer],
    scopes: ["incidents:read"],
  });

  async function refused(token: string | undefined, status: number, challenge: string): Promise<void> {
    const sent = await endpoint.call("list_incidents", token);
    expect({ status: sent.status, challenge: sent.challenge }).toEqual({ status, challenge });
    expect(sent.json.error).toMatchObject({ code: -32600 });
    expect(server.seen).toEqual([]);
  }

  it("no token: 401, without an error", () =>
    refused(undefined, 401, `Bearer resource_metadata="${METADATA}", scope="incidents:read"`));

  it("another scheme: like no token", async () => {
    const sent = await endpoint.call("list_incidents", undefined, {
      headers: { authorization: "Basic bWFyaWE6c2VjcmV0" },
    });
    expect(sent.status).toBe(401);
    expect(sent.challenge).toBe(`Bearer resource_metadata="${METADATA}", scope="incidents:read"`);
  });

  it.each([
    ["garbage", "garbage"],
    ["garbage with dots", "aaa.bbb.ccc"],
    ["an encrypted token", `${base64({ alg: "dir", enc: "A256GCM" })}..a.b.c`],
  ])("%s: 401", (_, token) => refused(token, 401, invalid("The access token is not a signed JWT")));

  it("expired: 401", async () => {
    const token = await issuer.issue({ exp: now() - 60 });
    await refused(token, 401, invalid("The access token has expired"));
  });

  it("no expiry: 401", async () => {
    const token = await issuer.issue({ exp: undefined });
    await refused(token, 401, invalid("The access token names no expiry"));
  });

  it.each([
    ["a text", "2999-01-01"],
    ["null", null],
    ["a text of digits", "99999999999"],
  ])("an expiry that is %s: 401", async (_, exp) => {
    await refused(await issuer.issue({ exp }), 401, invalid("The access token names no expiry"));
  });

  it("wrong audience: 401", async () => {
    const token = await issuer.issue({ aud: "https://other.example.com/mcp" });
    await refused(
      token,
      401,
      invalid(`The access token is meant for another audience: expected ${RESOURCE}`),
    );
  });

  it.each([
    ["none", undefined],
    ["an empty list", []],
    ["a number", 7],
  ])("an audience that is %s: 401", async (_, aud) => {
    await refused(await issuer.issue({ aud }), 401, invalid("The access token names no audience"));
  });

  it("wrong issuer: 401, and nobody is asked for its keys", async () => {
    const stranger = await authorizationServer();
    const token = await stranger.issue();
    await refused(token, 401, invalid(`The access token is from another issuer: expected ${issuer.issuer}`));
    expect(stranger.received).toEqual([]);
  });

  it("the name of the issuer, with the key of somebody else: 401", async () => {
    const stranger = await signingKey(issuer.keys[0]!.kid);
    const token = await issuer.issue({}, { key: stranger });
    await refused(token, 401, invalid("The signature of the access token is not valid"));
  });

  it("alg none: 401", async () => {
    const claims = (await issuer.issue()).split(".")[1];
    const why = `The access token is signed with an algorithm that is not accepted: expected ${ALGORITHMS}`;
    for (const alg of ["none", "None", "NONE"]) {
      await refused(`${base64({ alg, typ: "at+jwt" })}.${claims}.`, 401, invalid(why));
    }
  });

  it("HS256 with the public key as the secret: 401", async () => {
    const { publicKey, kid, jwk } = issuer.keys[0]!;
    const secrets = [await exportSPKI(publicKey), JSON.stringify(jwk)];
    const why = `The access token is signed with an algorithm that is not accepted: expected ${ALGORITHMS}`;
    for (const secret of secrets) {
      const token = await new SignJWT({ iss: issuer.issuer, sub: "maria", aud: RESOURCE, exp: now() + 60 })
        .setProtectedHeader({ alg: "HS256", kid, typ: "at+jwt" })
        .sign(new TextEncoder().encode(secret));
      await refused(token, 401, invalid(why));
    }
  });

  it("a token whose claims were changed: 401", async () => {
    const [header, , signature] = (await issuer.issue()).split(".");
    const claims = { iss: issuer.issuer, sub: "root", aud: RESOURCE, exp: now() + 60 };
    const token = [header, base64(claims), signature].join(".");
    await refused(token, 401, invalid("The signature of the access token is not valid"));
  });

  it("right audience, without scope: 403", async () => {
    await refused(
      await issuer.issue({ scope: undefined }),
      403,
      `Bearer error="insufficient_scope", ${rest}, error_description="Missing scopes: incidents:read"`,
    );
  });

  it("right audience, wrong scope: 403, with the id of the request", async () => {
    const sent = await endpoint.call("list_incidents", await issuer.issue({ scope: "incidents:reader" }));
    expect(sent.status).toBe(403);
    expect(sent.json).toMatchObject({ id: 1, error: { message: "Missing scopes: incidents:read" } });
  });

  it("right scope: served, as who the token says", async () => {
    const sent = await endpoint.call("list_incidents", await issuer.issue());
    expect(textOf(sent)).toBe(`hello ${issuer.issuer}#maria`);
    expect(sent.challenge).toBeUndefined();
    const { auth } = server.seen[0]!;
    expect(auth?.scopes).toEqual(["incidents:read"]);
    expect(auth?.claims).toMatchObject({ sub: "maria", aud: RESOURCE, client_id: "cli" });
  });

  it("one audience of several, and the scheme in any case", async () => {
    const token = await issuer.issue({ aud: ["https://other.example.com", RESOURCE] });
    const sent = await endpoint.call("list_incidents", undefined, {
      headers: { authorization: `bEARER   ${token}` },
    });
    expect(sent.status).toBe(200);
  });

  it.each([
    ["no token", "Bearer"],
    ["two words", "Bearer abc def"],
    ["a character that no token has", "Bearer abc{def}"],
    ["a token and another", "Bearer abc, Bearer def"],
    ["another scheme and a token", "Basic abc, Bearer def"],
  ])("a malformed header (%s): 400", async (_, authorization) => {
    const sent = await endpoint.call("list_incidents", undefined, { headers: { authorization } });
    expect(sent.status).toBe(400);
    expect(sent.challenge).toBe(
      malformed("The Authorization header must be the word Bearer, a space and one token"),
    );
  });

  it("two headers: 400, whichever is good", async () => {
    const token = await issuer.issue();
    const sent = await endpoint.call("list_incidents", undefined, {
      headers: { authorization: [`Bearer ${token}`, `Bearer ${token}`] },
    });
    expect(sent.status).toBe(400);
    expect(sent.challenge).toMatch(/^Bearer error="invalid_request", /);
    expect(server.seen).toEqual([]);
  });

  it.each([
    ["alone", false],
    ["beside the header", true],
  ])("a token in the query, %s: 400", async (_, beside) => {
    const token = await issuer.issue();
    for (const query of [`?access_token=${token}`, `?a=b&access%5Ftoken=${token}`, "?access_token"]) {
      const sent = await endpoint.call("list_incidents", beside ? token : undefined, {
        path: `/mcp${query}`,
      });
      expect(sent.status).toBe(400);
      expect(sent.challenge).toBe(
        malformed("Access tokens belong in the Authorization header, not in the query of the URL"),
      );
      expect(sent.text).not.toContain(token);
    }
    expect(server.seen).toEqual([]);
  });

  it("an overlong token: 400, and no work", async () => {
    const limits = { maxTokenBytes: 100 };
    const small = await start(protect(server, { ...options(), limits }));
    const sent = await small.call("list_incidents", "a".repeat(101));
    expect(sent.status).toBe(400);
    expect(sent.challenge).toBe(malformed("The access token is longer than 100 bytes"));
    expect(issuer.received).toEqual([]);
  });

  it("refuses before it reads the body, whatever that is", async () => {
    const sent = await endpoint.call("list_incidents", undefined, { body: "{not json" });
    expect(sent.status).toBe(401);
    const known = await endpoint.call("list_incidents", await issuer.issue(), { body: "{not json" });
    expect(known.status).toBe(400);
  });

  it.each([
    ["another content type", 415, "POST", { "content-type": "text/plain" }],
    ["no content type", 415, "POST", { "content-type": [] }],
    ["another charset", 415, "POST", { "content-type": "application/json; charset=utf-16" }],
    ["an encoded body", 415, "POST", { "content-encoding": "gzip" }],
    ["a body that is announced as too large", 413, "POST", { "content-length": "999999999" }],
    ["an Accept of neither form", 406, "POST", { accept: "text/html" }],
    ["GET", 405, "GET", {}],
    ["DELETE", 405, "DELETE", {}],
    ["PUT", 405, "PUT", {}],
    ["OPTIONS without an origin", 405, "OPTIONS", {}],
  ])("%s: %i to whoever is known, and 401 to everybody else", async (_, status, method, headers) => {
    const options = { method, headers, ...(method !== "POST" && { body: "" }) };
    const nobody = await endpoint.call("list_incidents", undefined, options);
    expect({ status: nobody.status, challenge: nobody.challenge }).toEqual({
      status: 401,
      challenge: `Bearer resource_metadata="${METADATA}", scope="incidents:read"`,
    });
    expect(nobody.json.error?.message).toBe(
      "This server needs an access token: send it as Authorization: Bearer",
    );
    expect((await endpoint.call("list_incidents", "garbage", options)).status).toBe(401);
    const known = await endpoint.call("list_incidents", await issuer.issue(), options);
    expect({ status: known.status, challenge: known.challenge }).toEqual({ status, challenge: undefined });
    expect(server.seen).toEqual([]);
  });

  it("asks every request anew: nothing is remembered of a connection", async () => {
    expect((await endpoint.call("list_incidents", await issuer.issue())).status).toBe(200);
    expect((await endpoint.call("list_incidents")).status).toBe(401);
  });

  it("lets pages of allowed origins read the challenge, and ask beforehand without a token", async () => {
    const open = await start(protect(server, options()), { allowedOrigins: ["https://app.example.com"] });
    const origin = "https://app.example.com";
    const sent = await open.call("list_incidents", undefined, { headers: { origin } });
    expect(sent.status).toBe(401);
    expect(sent.headers["access-control-allow-origin"]).toBe(origin);
    expect(sent.headers["access-control-expose-headers"]).toContain("www-authenticate");
    const asked = await open.send({
      method: "OPTIONS",
      headers: { origin, "access-control-request-headers": "authorization, content-type" },
    });
    expect(asked.status).toBe(204);
    expect(asked.headers["access-control-allow-headers"]).toContain("authorization");
  });

  it("takes a protection by option, too", async () => {
    const { protection } = protect(server, options());
    const other = await start(server, { auth: protection });
    expect((await other.call("list_incidents")).status).toBe(401);
    expect((await other.call("list_incidents", await issuer.issue())).status).toBe(200);
  });
});
