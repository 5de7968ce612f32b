/** What comes from servers, judged without a network: metadata, responses, registrations, tokens. */
import { describe, expect, it } from "vitest";
import type { AuthorizationRecord } from "../../../src/auth/client/authorization-request.js";
import { judgeAuthorizationResponse } from "../../../src/auth/client/authorization-response.js";
import { identityOf } from "../../../src/auth/client/identity.js";
import { followable, publicity } from "../../../src/auth/client/reach.js";
import { judgeRegistration } from "../../../src/auth/client/registration.js";
import { judgeResourceMetadata } from "../../../src/auth/client/resource-metadata.js";
import { judgeServerMetadata, requirePkce } from "../../../src/auth/client/server-metadata.js";
import { judgeTokens } from "../../../src/auth/client/token-endpoint.js";

const ISSUER = "https://auth.example.com";
const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });
/** The reason that something fails for, and its message. */
function failure(work: () => unknown): { reason: string; message: string } {
  try {
    work();
  } catch (error) {
    return error as { reason: string; message: string };
  }
  throw new Error("it did not fail");
}
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => {
      throw new Error("it did not fail");
    },
    (error: { reason: string; message: string; oauthError?: string }) => error,
  );

describe("protected resource metadata", () => {
  const wellKnown = "https://example.com/.well-known/oauth-protected-resource";
  const judge = (resource: unknown, server: string, from = `${wellKnown}/mcp`, members: object = {}) =>
    judgeResourceMetadata(
      { resource, authorization_servers: [ISSUER], ...members },
      { server: new URL(server), from: new URL(from) },
    );

  it.each([
    ["https://example.com/mcp", "https://example.com/mcp"],
    ["https://example.com/mcp/", "https://example.com/mcp"],
    ["https://example.com/mcp", "https://example.com/mcp/"],
    ["https://example.com", "https://example.com/"],
    ["HTTPS://Example.com/mcp", "https://example.com/mcp"],
    ["https://example.com:443/mcp", "https://example.com/mcp"],
    ["https://example.com", "https://example.com/mcp"],
    ["https://example.com/a", "https://example.com/a/b/mcp"],
    ["https://example.com/mcp?tenant=1", "https://example.com/mcp?tenant=1"],
  ])("row 19: %s is the resource of %s, and is kept as it is written", (resource, server) => {
    expect(judge(resource, server).resource).toBe(resource);
  });

  it.each([
    ["https://evil.example.com/mcp", "https://example.com/mcp"],
    ["http://example.com/mcp", "https://example.com/mcp"],
    ["https://example.com:8443/mcp", "https://example.com/mcp"],
    ["https://example.com/mcp2", "https://example.com/mcp"],
    ["https://example.com/mc", "https://example.com/mcp"],
    ["https://example.com/mcp/below", "https://example.com/mcp"],
    ["https://example.com/mcp?tenant=2", "https://example.com/mcp?tenant=1"],
  ])("%s is none of %s", (resource, server) => {
    expect(failure(() => judge(resource, server))).toMatchObject({
      reason: "resource_mismatch",
      message: expect.stringContaining(resource),
    });
  });

  it("a path of a shared host speaks for itself, and not for the whole of it", () => {
    const from = "https://example.com/mcp/metadata.json";
    expect(judge("https://example.com/mcp", "https://example.com/mcp", from).resource).toBe(
      "https://example.com/mcp",
    );
    expect(failure(() => judge("https://example.com", "https://example.com/mcp", from)).reason).toBe(
      "resource_mismatch",
    );
    const elsewhere = "https://other.example/.well-known/oauth-protected-resource";
    expect(failure(() => judge("https://example.com", "https://example.com/mcp", elsewhere)).reason).toBe(
      "resource_mismatch",
    );
  });

  it.each([[undefined], [1], ["mcp.example.com"], ["https://example.com/mcp#a"], ["/mcp"]])(
    "resource %j is refused",
    (resource) => {
      expect(failure(() => judge(resource, "https://example.com/mcp")).reason).toBe("discovery_failed");
    },
  );

  it.each([[undefined], [[]], ["https://auth.example.com"], [[1]]])(
    "authorization_servers %j is refused",
    (servers) => {
      const problem = failure(() =>
        judge("https://example.com/mcp", "https://example.com/mcp", undefined, {
          authorization_servers: servers,
        }),
      );
      expect(problem).toMatchObject({
        reason: "discovery_failed",
        message: expect.stringContaining("authorization_servers"),
      });
    },
  );
});

describe("authorization server metadata", () => {
  it.each([
    [`${ISSUER}/`],
    ["https://AUTH.example.com"],
    ["https://auth.example.com:443"],
    ["https://honest.example"],
    [undefined],
  ])("the issuer %j is not %s", (issuer) => {
    expect(failure(() => judgeServerMetadata({ issuer }, ISSUER))).toMatchObject({
      reason: "issuer_mismatch",
    });
  });

  it.each([[undefined], [[]], [["plain"]], ["S256"]])(
    "code_challenge_methods_supported %j is no PKCE",
    (methods) => {
      const metadata = { issuer: ISSUER, code_challenge_methods_supported: methods };
      expect(failure(() => requirePkce(metadata)).reason).toBe("pkce_unsupported");
    },
  );
});

describe("an authorization response", () => {
  const record = (sendsIssuer: boolean): AuthorizationRecord => ({
    issuer: ISSUER,
    sendsIssuer,
    state: "the state",
    codeVerifier: "v",
    redirectUri: "http://127.0.0.1/callback",
    clientId: "c",
  });
  const judge = (sendsIssuer: boolean, parameters: Record<string, string> | string) => {
    const query = new URLSearchParams(parameters);
    return judgeAuthorizationResponse(new URL(`http://127.0.0.1/callback?${query}`), record(sendsIssuer));
  };
  const good = { code: "the code", state: "the state" };

  it.each([
    ["advertised, the right one", true, ISSUER, undefined],
    ["advertised, none", true, undefined, "issuer_mismatch"],
    ["advertised, another", true, "https://evil.example", "issuer_mismatch"],
    ["advertised, empty", true, "", "issuer_mismatch"],
    ["not advertised, the right one", false, ISSUER, undefined],
    ["not advertised, another", false, "https://evil.example", "issuer_mismatch"],
    ["not advertised, empty", false, "", "issuer_mismatch"],
    ["not advertised, none", false, undefined, undefined],
    ["with a slash", true, `${ISSUER}/`, "issuer_mismatch"],
    ["in capitals", true, "https://AUTH.example.com", "issuer_mismatch"],
    ["with the default port", true, "https://auth.example.com:443", "issuer_mismatch"],
    ["percent-encoded", true, "https://auth%2Eexample.com", "issuer_mismatch"],
  ])("iss: %s", (_what, sendsIssuer, iss, reason) => {
    const parameters = iss === undefined ? good : { ...good, iss };
    if (reason === undefined) expect(judge(sendsIssuer, parameters).get("code")).toBe("the code");
    else expect(failure(() => judge(sendsIssuer, parameters)).reason).toBe(reason);
  });

  it("of another issuer is not repeated, an error least of all", () => {
    const { reason, message } = failure(() =>
      judge(true, {
        state: "the state",
        iss: "https://evil.example",
        error: "phish",
        error_description: "call us",
      }),
    );
    expect(reason).toBe("issuer_mismatch");
    expect(message).not.toMatch(/phish|call us/);
  });

  it.each([
    ["another state", { code: "x", state: "other" }],
    ["no state", { code: "x" }],
    ["an empty state", { code: "x", state: "" }],
    ["no code", { state: "the state" }],
    ["an empty code", { state: "the state", code: "" }],
    ["two codes", "state=the state&code=1&code=2"],
    ["two states", "state=the state&state=other&code=1"],
  ])("with %s is rejected", (_what, parameters) => {
    expect(failure(() => judge(false, parameters)).reason).toBe("response_rejected");
  });

  it("that is an error says what the server says", () => {
    const denied = { state: "the state", iss: ISSUER, error: "access_denied", error_description: "No." };
    expect(failure(() => judge(true, denied))).toMatchObject({
      reason: "access_denied",
      oauthError: "access_denied",
      message: `${ISSUER} did not authorize this (access_denied: No.)`,
    });
  });
});

describe("a registration", () => {
  const expected = { issuer: ISSUER, redirectUri: "http://127.0.0.1:9/callback" };

  it.each([
    [201, { client_id: "c" }, { clientId: "c", redirectUris: ["http://127.0.0.1:9/callback"] }],
    [
      200,
      {
        client_id: "c",
        client_secret: "s",
        token_endpoint_auth_method: "client_secret_post",
        redirect_uris: ["a"],
      },
      { clientId: "c", clientSecret: "s", method: "client_secret_post", redirectUris: ["a"] },
    ],
    // Servers that say nothing of when a secret ends, although they must.
    [
      201,
      { client_id: "c", client_secret: "s" },
      { clientId: "c", clientSecret: "s", redirectUris: expect.anything() },
    ],
    [
      201,
      { client_id: "c", client_secret: "s", client_secret_expires_at: 5 },
      { clientId: "c", clientSecret: "s", secretExpiresAt: 5, redirectUris: expect.anything() },
    ],
  ])("%i %j", async (status, body, kept) => {
    expect(await judgeRegistration(json(body, status), expected)).toEqual(kept);
  });

  it("that is refused for its redirect URI says which it was", async () => {
    const body = { error: "invalid_redirect_uri", error_description: "loopback is not for web clients" };
    expect(await failureOf(judgeRegistration(json(body, 400), expected))).toMatchObject({
      reason: "registration_refused",
      oauthError: "invalid_redirect_uri",
      message: `The authorization server ${ISSUER} refused to register this client (HTTP 400, invalid_redirect_uri, loopback is not for web clients); the redirect URI was http://127.0.0.1:9/callback`,
    });
  });

  it.each([[{}], [{ client_id: "" }], [[]], ["text"]])("with %j is none", async (body) => {
    expect((await failureOf(judgeRegistration(json(body, 201), expected))).reason).toBe(
      "registration_refused",
    );
  });
});

describe("an answer of a token endpoint", () => {
  const judge = (answer: Response, isBound = false) =>
    judgeTokens(answer, { metadata: { issuer: ISSUER }, clientId: "c", isBound, now: 1_000 });

  it("is read", async () => {
    const body = {
      access_token: "a",
      token_type: "bEARER",
      expires_in: 60,
      refresh_token: "r",
      scope: "x y",
      id_token: "not looked at",
    };
    expect(await judge(json(body))).toEqual({
      accessToken: "a",
      tokenType: "Bearer",
      expiresAt: 61_000,
      refreshToken: "r",
      scopes: ["x", "y"],
      idToken: "not looked at",
      issuedTokenType: undefined,
    });
  });

  it("may leave out everything but the token and its type, and write a number as text", async () => {
    expect(await judge(json({ access_token: "a", token_type: "Bearer" }))).toMatchObject({
      expiresAt: undefined,
      refreshToken: undefined,
      scopes: undefined,
    });
    expect((await judge(json({ access_token: "a", token_type: "Bearer", expires_in: "60" }))).expiresAt).toBe(
      61_000,
    );
  });

  it.each([
    [{ access_token: "a" }],
    [{ token_type: "Bearer" }],
    [{ access_token: 1, token_type: "Bearer" }],
    [{ access_token: "", token_type: "Bearer" }],
    [{ access_token: "a", token_type: "mac" }],
    [{ access_token: "a", token_type: "Bearer", expires_in: -1 }],
    [{ access_token: "a", token_type: "Bearer", scope: ["x"] }],
    [{ access_token: "a", token_type: "Bearer", refresh_token: 1 }],
    [[]],
    [null],
  ])("%j is no token", async (body) => {
    expect((await failureOf(judge(json(body)))).reason).toBe("token_refused");
  });

  it("that is a page is no token", async () => {
    expect((await failureOf(judge(new Response("<h1>Hello</h1>")))).message).toContain("not a JSON object");
  });

  it.each([
    [
      400,
      { error: "invalid_grant", error_description: "expired" },
      "HTTP 400, invalid_grant: expired",
      "invalid_grant",
    ],
    [401, { error: "invalid_client" }, "HTTP 401, invalid_client", "invalid_client"],
    [500, "oops", "HTTP 500", undefined],
    [400, {}, "HTTP 400", undefined],
  ])("%i %j is a refusal", async (status, body, said, oauthError) => {
    // A challenge of HTTP in it must not hide what the body says.
    const refused = await failureOf(judge(json(body, status, { "www-authenticate": 'Basic realm="x"' })));
    expect(refused).toMatchObject({
      reason: "token_refused",
      oauthError,
      message: expect.stringContaining(said),
    });
  });

  it("that is a redirect is not followed", async () => {
    const answer = new Response("", { status: 307, headers: { location: "https://evil.example/token" } });
    expect((await failureOf(judge(answer))).message).toContain("a redirect, which is not followed");
  });

  it("has to be bound to the key, or not to be", async () => {
    const bearer = { access_token: "a", token_type: "Bearer" };
    const dpop = { access_token: "a", token_type: "DPoP" };
    expect((await failureOf(judge(json(bearer), true))).reason).toBe("dpop_unavailable");
    expect((await failureOf(judge(json(dpop), false))).reason).toBe("dpop_unavailable");
    expect((await judge(json(dpop), true)).tokenType).toBe("DPoP");
  });

  it.each(["a\r\nx-injected: 1", "a b", "a\u0000", "t\u00f6ken", "a\n"])(
    "a token that would be more than one word of a header is none: %j",
    async (token) => {
      const error = await failureOf(judge(json({ access_token: token, token_type: "Bearer" }), false));
      expect(error.reason).toBe("token_refused");
      expect(error.message).toContain("answered with a token that no header can hold");
      expect(error.message).not.toContain(token);
    },
  );
});

describe("where a server may send a client", () => {
  it.each([
    ["127.0.0.1", 0],
    ["localhost", 0],
    ["app.localhost", 0],
    ["[::1]", 0],
    ["[::ffff:7f00:1]", 0],
    ["0.0.0.0", 0],
    ["169.254.169.254", 1],
    ["[fe80::1]", 1],
    ["10.1.2.3", 2],
    ["172.16.0.1", 2],
    ["172.32.0.1", 3],
    ["192.168.1.1", 2],
    ["[fd00::1]", 2],
    ["100.64.0.1", 2],
    ["8.8.8.8", 3],
    ["example.com", 3],
    ["10.example.com", 3],
    ["printer", 2],
    ["printer.local", 2],
    ["vault.corp.internal", 2],
    ["nas.home.arpa", 2],
    ["internal.example.com", 3],
    ["[2001:db8::1]", 3],
  ])("%s is as public as %i", (host, expected) => {
    expect(publicity(new URL(`https://${host}/`).hostname)).toBe(expected);
  });

  it.each([
    ["https://auth.example.com", "https://mcp.example.com"],
    ["https://auth.example.com", "http://127.0.0.1:9"],
    ["http://localhost:1", "http://127.0.0.1:9"],
    ["https://10.0.0.1", "https://192.168.0.1"],
  ])("to %s from %s", (to, from) => {
    expect(followable(to, "it", new URL(from)).href).toBe(new URL(to).href);
  });

  it.each([
    ["http://auth.example.com", "https://mcp.example.com"],
    ["http://127.0.0.1:8080", "https://mcp.example.com"],
    ["https://localhost", "https://mcp.example.com"],
    ["https://169.254.169.254/latest", "https://mcp.example.com"],
    ["https://192.168.1.1", "https://mcp.example.com"],
    ["https://2130706433", "https://mcp.example.com"],
    ["http://127.0.0.1", "https://10.0.0.1"],
    ["https://user:pass@auth.example.com", "https://mcp.example.com"],
    ["javascript:alert(1)", "https://mcp.example.com"],
    ["file:///etc/passwd", "http://127.0.0.1"],
    ["/relative", "https://mcp.example.com"],
  ])("not to %s from %s", (to, from) => {
    expect(failure(() => followable(to, "the endpoint", new URL(from)))).toMatchObject({
      reason: "forbidden_url",
      message: expect.stringContaining("the endpoint"),
    });
  });
});

describe("who signed in", () => {
  const token = (claims: object) => `h.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.s`;

  it("is what the issuer says of them", () => {
    const claims = {
      iss: ISSUER,
      aud: ["c"],
      sub: "1",
      name: "Zoë",
      email: "z@example.com",
      exp: 1,
      admin: true,
    };
    expect(identityOf(token(claims), ISSUER, "c")).toEqual({ sub: "1", name: "Zoë", email: "z@example.com" });
  });

  it.each([
    [undefined],
    [""],
    ["a.b.c"],
    [token({ iss: "https://evil.example", aud: "c", sub: "1" })],
    [token({ iss: ISSUER, aud: "another", sub: "1" })],
    [token({ iss: ISSUER, aud: "c", sub: 1 })],
  ])("is not known from %j", (idToken) => {
    expect(identityOf(idToken, ISSUER, "c")).toBeUndefined();
  });
});
