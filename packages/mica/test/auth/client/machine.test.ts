/** Programs without a person: client credentials, access that an organization manages, identities of workloads. */
import { decodeJwt, exportPKCS8, generateKeyPair, jwtVerify } from "jose";
import { beforeEach, describe, expect, it } from "vitest";
import {
  clientCredentials,
  enterpriseManaged,
  memoryStore,
  workloadIdentity,
} from "../../../src/entry/auth/client.js";
import { authorizationServer, type TestAuthorizationServer } from "./authorization-server.js";
import { call, type GuardedServer, guardedServer, open } from "./guarded-server.js";

let as: TestAuthorizationServer;
let server: GuardedServer;
beforeEach(async () => {
  as = await authorizationServer();
  server = await guardedServer(as);
});
const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const registered = (clientId: string, secret?: string, method = "client_secret_basic") =>
  as.clients.set(clientId, { clientId, secret, method, redirectUris: [], metadata: {} });
/** Takes any assertion for a token. */
const takeAssertions = (at: TestAuthorizationServer = as) => {
  at.metadata = { ...at.metadata, grant_types_supported: [JWT_BEARER] };
  at.answers.set("/token", ({ form }) => {
    const accessToken = `access-${Math.random()}`;
    const scopes = (form.get("scope") ?? "").split(" ").filter(Boolean);
    as.tokens.set(accessToken, {
      clientId: "",
      scopes,
      resource: form.get("resource") ?? undefined,
      expiresAt: Date.now() + 60_000,
      family: "",
      jkt: undefined,
    });
    return { json: { access_token: accessToken, token_type: "Bearer", expires_in: 60 } };
  });
};
const declared = () =>
  server
    .posts()
    .map(({ body }) => (body.params as { _meta: Record<string, { extensions?: object }> })._meta)
    .map((meta) => Object.keys(meta["io.modelcontextprotocol/clientCapabilities"]?.extensions ?? {}));

describe("client credentials", () => {
  it("with a secret: in the header, with scope and resource, and nobody is sent anywhere", async () => {
    registered("nightly", "s3 cr:et");
    server.asksFor = "mcp:basic";
    const auth = clientCredentials({ clientId: "nightly", clientSecret: "s3 cr:et", issuer: as.issuer });
    const client = await open(server.url, { auth });
    expect(await call(client, "read")).toBe("read");
    const [{ form, headers }] = as.requestsTo("/token") as unknown as [
      { form: URLSearchParams; headers: Record<string, string> },
    ];
    expect(Object.fromEntries(form)).toEqual({
      grant_type: "client_credentials",
      resource: server.url,
      scope: "mcp:basic",
    });
    expect(headers["authorization"]).toMatch(/^Basic /);
    expect(as.requestsTo("/authorize")).toEqual([]);
    expect(new Set(declared().flat())).toEqual(new Set(["io.modelcontextprotocol/oauth-client-credentials"]));
  });

  it("with a secret, at a server that wants it in the body", async () => {
    registered("nightly", "s", "client_secret_post");
    as.metadata = { token_endpoint_auth_methods_supported: ["client_secret_post"] };
    const auth = clientCredentials({ clientId: "nightly", clientSecret: "s", issuer: "any" });
    expect(await call(await open(server.url, { auth }), "read")).toBe("read");
  });

  it("with a key: the assertion is for the issuer, short-lived and another one each time", async () => {
    const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
    as.metadata = { token_endpoint_auth_methods_supported: ["private_key_jwt"] };
    const assertions: string[] = [];
    as.answers.set("/token", async ({ form }) => {
      assertions.push(form.get("client_assertion")!);
      const { payload } = await jwtVerify(assertions.at(-1)!, publicKey, {
        audience: as.issuer,
        issuer: "nightly",
        subject: "nightly",
      });
      expect(payload.exp! - payload.iat!).toBeLessThanOrEqual(300);
      registered("nightly");
      const accessToken = `a${assertions.length}`;
      as.tokens.set(accessToken, {
        clientId: "nightly",
        scopes: [],
        resource: server.url,
        expiresAt: Date.now() + 60_000,
        family: "",
        jkt: undefined,
      });
      return { json: { access_token: accessToken, token_type: "Bearer", expires_in: 60 } };
    });
    const privateKeyPem = await exportPKCS8(privateKey);
    const auth = clientCredentials({ clientId: "nightly", privateKey: privateKeyPem, algorithm: "ES256" });
    const client = await open(server.url, { auth });
    as.tokens.clear();
    expect(await call(client, "read")).toBe("read");
    expect(new Set(assertions.map((one) => decodeJwt(one).jti)).size).toBe(2);
  });

  it("gets another token before the one it has ends, and one for all who wait", async () => {
    registered("nightly", "s");
    as.lifetime = 1;
    const auth = clientCredentials({ clientId: "nightly", clientSecret: "s", issuer: as.issuer });
    const client = await open(server.url, { auth });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    as.lifetime = 3600;
    const before = as.requestsTo("/token").length;
    await Promise.all(Array.from({ length: 10 }, () => call(client, "read")));
    expect(as.requestsTo("/token").length).toBe(before + 1);
  });

  it("keeps no refresh token, whatever it is given", async () => {
    registered("nightly", "s");
    const store = memoryStore();
    as.answers.set("/token", () => {
      as.tokens.set("a", {
        clientId: "",
        scopes: [],
        resource: "",
        expiresAt: Date.now() + 9e9,
        family: "",
        jkt: undefined,
      });
      return { json: { access_token: "a", token_type: "Bearer", refresh_token: "r" } };
    });
    await open(server.url, {
      auth: clientCredentials({ clientId: "nightly", clientSecret: "s", issuer: "any", store }),
    });
    expect(JSON.stringify(await store.read(`grant ${server.url}`))).not.toContain('"r"');
  });

  it("asks for more where more are needed, united, and not again for what it cannot have", async () => {
    registered("nightly", "s");
    server.needs = ({ params, method }) => (method === "tools/call" ? [`tool:${params!.name}`] : []);
    const auth = clientCredentials({ clientId: "nightly", clientSecret: "s", issuer: as.issuer });
    const client = await open(server.url, { auth });
    await call(client, "read");
    await call(client, "write");
    expect(as.requestsTo("/token").map(({ form }) => form.get("scope"))).toEqual([
      null,
      "tool:read",
      "tool:read tool:write",
    ]);
    as.grant = (scopes) => scopes.filter((scope) => scope !== "tool:admin");
    await expect(call(client, "admin")).rejects.toMatchObject({ reason: "scope_refused" });
    const before = as.requestsTo("/token").length;
    await expect(call(client, "admin")).rejects.toMatchObject({ reason: "scope_refused" });
    expect(as.requestsTo("/token").length).toBe(before);
  });

  it("a secret goes to the issuer that it is for, and to no other", async () => {
    registered("nightly", "s");
    const evil = await authorizationServer();
    server.describe({ authorization_servers: [evil.issuer] });
    const auth = clientCredentials({ clientId: "nightly", clientSecret: "s", issuer: as.issuer });
    await expect(open(server.url, { auth })).rejects.toMatchObject({
      reason: "issuer_mismatch",
      message: expect.stringContaining("they go nowhere else"),
    });
    expect(evil.received).toEqual([]);
    server.describe({ authorization_servers: [evil.issuer, as.issuer] });
    expect(await call(await open(server.url, { auth }), "read")).toBe("read");
    expect(evil.received).toEqual([]);
  });

  it("that are refused are an error in the words of the server, without the secret", async () => {
    as.answers.set("/token", ({ headers }) => ({
      status: 401,
      json: { error: "invalid_client", error_description: `who is ${headers.authorization}?` },
    }));
    const auth = clientCredentials({ clientId: "nightly", clientSecret: "s3cret", issuer: as.issuer });
    const failure = (await open(server.url, { auth }).catch((error: unknown) => error)) as Error;
    expect(failure).toMatchObject({ reason: "token_refused", oauthError: "invalid_client" });
    expect(failure.message).not.toContain(Buffer.from("nightly:s3cret").toString("base64"));
    expect(as.requestsTo("/token")).toHaveLength(1);
  });

  it.each([
    [{ clientId: "a" }, /expected a clientSecret or a privateKey/],
    [{ clientId: "a", clientSecret: "s" }, /clientCredentials\.issuer/],
    [{ clientId: "a", clientSecret: "s", issuer: "x" }, /clientCredentials\.issuer/],
    [{ clientId: "a", privateKey: "pem" }, /clientCredentials\.algorithm/],
    [{ clientSecret: "s", issuer: "any" }, /clientCredentials\.clientId/],
    [undefined, /clientCredentials must be an object/],
  ])("misuse: %j throws", (options, message) => {
    expect(() => clientCredentials(options as never)).toThrow(message);
  });
});

describe("access that an organization manages", () => {
  let idp: TestAuthorizationServer;
  beforeEach(async () => {
    idp = await authorizationServer();
    idp.answers.set("/token", () => ({
      json: {
        access_token: "the grant",
        issued_token_type: "urn:ietf:params:oauth:token-type:id-jag",
        token_type: "N_A",
        expires_in: 300,
      },
    }));
    takeAssertions();
  });
  const options = () => ({
    identityProvider: { issuer: idp.issuer, client: { clientId: "at the idp" } },
    identityAssertion: () => "the id token",
    client: { clientId: "at the server", clientSecret: "s", issuer: as.issuer },
  });

  it("exchanges who the person is for a grant to this resource, and that for a token", async () => {
    server.asksFor = "chat.read";
    const client = await open(server.url, { auth: enterpriseManaged(options()) });
    expect(await call(client, "read")).toBe("read");
    expect(Object.fromEntries(idp.requestsTo("/token")[0]!.form)).toEqual({
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      requested_token_type: "urn:ietf:params:oauth:token-type:id-jag",
      audience: as.issuer,
      resource: server.url,
      scope: "chat.read",
      subject_token: "the id token",
      subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
      client_id: "at the idp",
    });
    const { form, headers } = as.requestsTo("/token")[0]!;
    expect(Object.fromEntries(form)).toEqual({
      grant_type: JWT_BEARER,
      assertion: "the grant",
      resource: server.url,
      scope: "chat.read",
    });
    expect(headers.authorization).toMatch(/^Basic /);
    expect(as.requestsTo("/authorize")).toEqual([]);
    expect(new Set(declared().flat())).toEqual(
      new Set(["io.modelcontextprotocol/enterprise-managed-authorization"]),
    );
  });

  it("authenticates at the identity provider, where it has a secret there", async () => {
    const auth = enterpriseManaged({
      ...options(),
      assertionType: "saml2",
      identityProvider: {
        issuer: idp.issuer,
        tokenEndpoint: `${idp.url}/token`,
        client: { clientId: "a", clientSecret: "b", method: "client_secret_post" },
      },
    });
    await open(server.url, { auth });
    expect(Object.fromEntries(idp.requestsTo("/token")[0]!.form)).toMatchObject({
      client_id: "a",
      client_secret: "b",
      subject_token_type: "urn:ietf:params:oauth:token-type:saml2",
    });
    // The endpoint is known: no metadata is needed.
    expect(idp.received).toHaveLength(1);
  });

  it("shows who the person is to the identity provider, and to nobody else", async () => {
    await open(server.url, { auth: enterpriseManaged(options()) });
    expect(JSON.stringify([as.received, server.received])).not.toContain("the id token");
  });

  it("that the organization does not give is an error in its words", async () => {
    idp.answers.set("/token", () => ({
      status: 400,
      json: { error: "access_denied", error_description: "not for your department" },
    }));
    await expect(open(server.url, { auth: enterpriseManaged(options()) })).rejects.toMatchObject({
      reason: "token_refused",
      oauthError: "access_denied",
      message: expect.stringContaining("not for your department"),
    });
    expect(as.requestsTo("/token")).toEqual([]);
  });

  it("a grant of another kind goes nowhere", async () => {
    idp.answers.set("/token", () => ({
      json: {
        access_token: "an access token",
        issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
        token_type: "Bearer",
      },
    }));
    await expect(open(server.url, { auth: enterpriseManaged(options()) })).rejects.toMatchObject({
      reason: "token_refused",
      message: expect.stringContaining("expected urn:ietf:params:oauth:token-type:id-jag"),
    });
    expect(as.requestsTo("/token")).toEqual([]);
  });

  it("a server that takes no assertions is told apart before anything is sent to it", async () => {
    as.metadata = { grant_types_supported: ["authorization_code"] };
    await expect(open(server.url, { auth: enterpriseManaged(options()) })).rejects.toThrow(
      /does not take assertions/,
    );
    expect(as.requestsTo("/token")).toEqual([]);
  });

  it.each([
    ["throws", () => Promise.reject(new Error("signed out"))],
    ["is nothing", () => undefined],
  ])("nobody is signed in where the assertion %s", async (_what, identityAssertion) => {
    const auth = enterpriseManaged({ ...options(), identityAssertion: identityAssertion as never });
    await expect(open(server.url, { auth })).rejects.toMatchObject({ reason: "sign_in_needed" });
  });

  it.each([
    [{ identityAssertion: "text" }, /^identityAssertion:/],
    [
      { identityProvider: { issuer: "http://idp.example", client: { clientId: "a" } } },
      /^identityProvider\.issuer/,
    ],
    [
      { identityProvider: { issuer: "https://idp.example", client: {} } },
      /^identityProvider\.client\.clientId/,
    ],
    [{ client: { clientId: "a", clientSecret: "s" } }, /^client\.issuer/],
  ])("misuse: %j throws", (wrong, message) => {
    expect(() => enterpriseManaged({ ...options(), ...wrong } as never)).toThrow(message);
  });
});

describe("the identity of a workload", () => {
  beforeEach(() => takeAssertions());

  it("is the grant, addressed to the issuer", async () => {
    const audiences: string[] = [];
    const assertion = (issuer: string) => {
      audiences.push(issuer);
      return "header.claims.signature\n";
    };
    const client = await open(server.url, { auth: workloadIdentity({ assertion }) });
    expect(await call(client, "read")).toBe("read");
    expect(audiences).toEqual([as.issuer]);
    const { form, headers } = as.requestsTo("/token")[0]!;
    expect(Object.fromEntries(form)).toEqual({
      grant_type: JWT_BEARER,
      assertion: "header.claims.signature",
      resource: server.url,
    });
    expect(headers.authorization).toBeUndefined();
  });

  it("goes with a client id, where there is one", async () => {
    await open(server.url, { auth: workloadIdentity({ clientId: "job", assertion: async () => "a.b.c" }) });
    expect(as.requestsTo("/token")[0]!.form.get("client_id")).toBe("job");
  });

  it.each(["invalid_grant", "invalid_scope", "unauthorized_client"])(
    "that is refused with %s is an error: not tried twice, and in no other way",
    async (error) => {
      as.answers.set("/token", () => ({ status: 400, json: { error } }));
      const auth = workloadIdentity({ assertion: () => "a.b.c" });
      await expect(open(server.url, { auth })).rejects.toMatchObject({
        reason: "token_refused",
        oauthError: error,
      });
      expect(as.requestsTo("/token")).toHaveLength(1);
    },
  );

  it("that cannot be had is an error", async () => {
    const auth = workloadIdentity({ assertion: () => Promise.reject(new Error("no such file")) });
    await expect(open(server.url, { auth })).rejects.toThrow(/There is no assertion for .*: no such file/);
    expect(() => workloadIdentity({ assertion: "a.b.c" } as never)).toThrow(/^assertion:/);
  });
});
