/** Who the client is: registered beforehand, by a document, or registered now; and never at another issuer. */

import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair } from "jose";
import { beforeEach, describe, expect, it } from "vitest";
import { memoryStore, oauth } from "../../../src/entry/auth/client.js";
import { authorizationServer, type TestAuthorizationServer } from "./authorization-server.js";
import { call, type GuardedServer, guardedServer, open } from "./guarded-server.js";
import { nobody, person, someone } from "./person.js";

let as: TestAuthorizationServer;
let server: GuardedServer;
beforeEach(async () => {
  as = await authorizationServer();
  server = await guardedServer(as);
});

const DOCUMENT = "https://app.example.com/oauth/client.json";
const registered = (clientId: string, rest: { secret?: string; method?: string } = {}) =>
  as.clients.set(clientId, { clientId, method: "none", redirectUris: [], metadata: {}, ...rest });
/** Has the guarded server take the tokens of another authorization server. */
const believe = (next: TestAuthorizationServer) => {
  as.tokens.get = (token) => next.tokens.get(token);
};
const clientIds = () => as.requestsTo("/authorize").map(({ query }) => query.get("client_id"));

describe("in order of priority", () => {
  it("registered beforehand, before a document", async () => {
    registered("known");
    as.metadata = { client_id_metadata_document_supported: true };
    const auth = oauth({
      ...someone().options,
      preregistered: { clientId: "known", issuer: as.issuer },
      clientMetadata: DOCUMENT,
    });
    await open(server.url, { auth });
    expect(clientIds()).toEqual(["known"]);
    expect(as.requestsTo("/register")).toEqual([]);
  });

  it("a document, where the server takes such, before registering", async () => {
    registered(DOCUMENT);
    as.metadata = { client_id_metadata_document_supported: true };
    await open(server.url, { auth: oauth({ ...someone().options, clientMetadata: DOCUMENT }) });
    expect(clientIds()).toEqual([DOCUMENT]);
    expect(as.requestsTo("/register")).toEqual([]);
    expect(as.requestsTo("/token")[0]!.form.get("client_id")).toBe(DOCUMENT);
  });

  it.each([[undefined], [false], ["true"]])("registering, where it says %j of documents", async (support) => {
    as.metadata = { client_id_metadata_document_supported: support };
    await open(server.url, { auth: oauth({ ...someone().options, clientMetadata: DOCUMENT }) });
    expect(as.requestsTo("/register")).toHaveLength(1);
  });

  it("nothing is left: an error says what to do", async () => {
    as.metadata = { registration_endpoint: undefined };
    const failure = await open(server.url, { auth: oauth(someone().options) }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({
      reason: "no_client",
      message: expect.stringContaining("register a client there and give it as preregistered"),
    });
  });
});

describe("registering", () => {
  it("says what kind of program it is, and that it refreshes", async () => {
    const registration = { client_uri: "https://example.com", software_id: "test" };
    const { options, redirect } = someone({ registration });
    await open(server.url, { auth: oauth({ ...options, redirect }) });
    const [{ json }] = as.requestsTo("/register") as unknown as [{ json: Record<string, unknown> }];
    expect(json).toEqual({
      client_name: "Test",
      client_uri: "https://example.com",
      software_id: "test",
      redirect_uris: [expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/)],
      application_type: "native",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    });
  });

  it("says web of a program that the browser comes back to elsewhere", async () => {
    const { options } = someone();
    const redirect = {
      applicationType: "web" as const,
      listen: async () => ({
        uri: "https://app.example.com/callback",
        visit: async (url: string) =>
          (await fetch(url, { redirect: "manual" })).headers.get("location") as string,
        close: async () => {},
      }),
    };
    await open(server.url, { auth: oauth({ ...options, redirect }) });
    expect(as.requestsTo("/register")[0]!.json).toMatchObject({ application_type: "web" });
  });

  it("is done once for each issuer, whatever number of servers and connections there are", async () => {
    const other = await guardedServer(as, { path: "/other" });
    const { options } = someone({ store: memoryStore() });
    const auth = oauth(options);
    await open(server.url, { auth });
    await open(server.url, { auth: oauth(options) });
    const metadata = () => as.requestsTo(as.metadataPath).length;
    const before = metadata();
    await open(other.url, { auth });
    expect(as.requestsTo("/register")).toHaveLength(1);
    expect(new Set(clientIds()).size).toBe(1);
    // What is known of the issuer is looked at once in a while.
    expect(metadata()).toBe(before);
  });

  it("is done once by all who do it at the same time", async () => {
    const others = await Promise.all(["/a", "/b", "/c"].map((path) => guardedServer(as, { path })));
    const redirect = {
      applicationType: "native" as const,
      listen: async () => ({
        uri: "http://127.0.0.1:1/callback",
        visit: async (url: string) =>
          (await fetch(url, { redirect: "manual" })).headers.get("location") as string,
        close: async () => {},
      }),
    };
    const auth = oauth({ clientName: "Test", redirect, store: memoryStore() });
    await Promise.all(others.map(({ url }) => open(url, { auth })));
    expect(as.requestsTo("/register")).toHaveLength(1);
    expect(as.requestsTo("/authorize")).toHaveLength(3);
  });

  it("is done again where the port that was registered is taken", async () => {
    const { options } = someone({ store: memoryStore() });
    await open(server.url, { auth: oauth(options) });
    const taken = await guardedServer(as, { path: "/taken" });
    const [{ redirectUris }] = [...as.clients.values()] as unknown as [{ redirectUris: readonly string[] }];
    const port = Number(new URL(redirectUris[0]!).port);
    const blocker = (await import("node:net")).createServer().listen(port, "127.0.0.1");
    await new Promise((resolve) => blocker.once("listening", resolve));
    const client = await open(taken.url, { auth: oauth(options) });
    expect(await call(client, "read")).toBe("read");
    blocker.close();
    expect(as.requestsTo("/register")).toHaveLength(2);
    // What was issued to the first registration goes on under it.
    for (const [token] of as.tokens) as.tokens.delete(token);
    const again = await open(server.url, { auth: oauth({ ...options, redirect: nobody }) });
    expect(await call(again, "read")).toBe("read");
  });

  it("is done again when its secret is over", async () => {
    as.metadata = { token_endpoint_auth_methods_supported: ["client_secret_post"] };
    const store = memoryStore();
    await open(server.url, { auth: oauth({ ...someone().options, store }) });
    const key = `client ${as.issuer}`;
    const record = (await store.read(key))!;
    expect(record.value).toMatchObject({ clientSecret: expect.any(String), method: "client_secret_post" });
    await store.write(key, { ...record.value, secretExpiresAt: 1 }, record.version);
    const other = await guardedServer(as, { path: "/other" });
    await open(other.url, { auth: oauth({ ...someone().options, store }) });
    expect(as.requestsTo("/register")).toHaveLength(2);
  });

  it("that is refused says so in the words of the server", async () => {
    as.answers.set("/register", () => ({
      status: 400,
      json: { error: "invalid_redirect_uri", error_description: "loopback is not allowed" },
    }));
    const failure = await open(server.url, { auth: oauth(someone().options) }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({
      reason: "registration_refused",
      oauthError: "invalid_redirect_uri",
      message: expect.stringMatching(
        /loopback is not allowed\); the redirect URI was http:\/\/127\.0\.0\.1:\d+\/callback/,
      ),
    });
  });

  it("is forgotten where nobody comes back from the page of a server that forgot it", async () => {
    const store = memoryStore();
    const { options } = someone({ store, limits: { signInTimeoutMs: 300 } });
    as.refreshTokens = false;
    await open(server.url, { auth: oauth(options) });
    as.clients.clear();
    as.tokens.clear();
    await expect(open(server.url, { auth: oauth(options) })).rejects.toMatchObject({
      reason: "sign_in_timeout",
    });
    await open(server.url, { auth: oauth(options) });
    expect(as.requestsTo("/register")).toHaveLength(2);
  });
});

describe("at the token endpoint", () => {
  it.each([
    ["client_secret_basic", ["client_secret_basic"]],
    ["client_secret_post", ["client_secret_post"]],
    ["none", ["none", "client_secret_basic"]],
    ["none", undefined],
  ])("a registered client authenticates by %s, where %j is supported", async (method, supported) => {
    as.metadata = { token_endpoint_auth_methods_supported: supported };
    const client = await open(server.url, { auth: oauth(someone().options) });
    expect(await call(client, "read")).toBe("read");
    expect([...as.clients.values()].map((one) => one.method)).toEqual([method]);
    expect(as.requestsTo("/token")[0]!.headers.authorization?.startsWith("Basic ") === true).toBe(
      method === "client_secret_basic",
    );
  });

  it.each([["client_secret_basic"], ["client_secret_post"]])(
    "a client with a secret authenticates by %s, with characters that have to be encoded",
    async (method) => {
      registered("a:b ü", { secret: "s%+:&= ß", method });
      as.metadata = { token_endpoint_auth_methods_supported: [method] };
      const preregistered = { clientId: "a:b ü", clientSecret: "s%+:&= ß", issuer: as.issuer };
      const client = await open(server.url, { auth: oauth({ ...someone().options, preregistered }) });
      expect(await call(client, "read")).toBe("read");
    },
  );

  it("a document may come with a key: the assertion is for the issuer", async () => {
    registered(DOCUMENT);
    as.metadata = {
      client_id_metadata_document_supported: true,
      token_endpoint_auth_methods_supported: ["private_key_jwt"],
    };
    const { privateKey } = await generateKeyPair("ES256", { extractable: true });
    const jwk = { ...(await exportJWK(privateKey)), alg: "ES256", kid: "k1" };
    await open(server.url, {
      auth: oauth({ ...someone().options, clientMetadata: { url: DOCUMENT, privateKey: jwk } }),
    });
    const { form } = as.requestsTo("/token")[0]!;
    const assertion = form.get("client_assertion")!;
    expect(form.get("client_assertion_type")).toBe("urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    expect(decodeProtectedHeader(assertion)).toMatchObject({ alg: "ES256", kid: "k1" });
    expect(decodeJwt(assertion)).toMatchObject({ iss: DOCUMENT, sub: DOCUMENT, aud: as.issuer });
  });

  it("a client that can do none of what is accepted is told so", async () => {
    as.metadata = { token_endpoint_auth_methods_supported: ["tls_client_auth"] };
    const preregistered = { clientId: "c", clientSecret: "s", issuer: as.issuer };
    const failure = await open(server.url, { auth: oauth({ ...someone().options, preregistered }) }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({
      reason: "no_client",
      message: expect.stringContaining("tls_client_auth"),
    });
  });
});

describe("when the authorization server is another one", () => {
  it("nothing of the old one is shown to the new one: neither id, secret nor token", async () => {
    as.metadata = { token_endpoint_auth_methods_supported: ["client_secret_basic"] };
    const { options } = someone({ store: memoryStore() });
    const client = await open(server.url, { auth: oauth(options) });
    const next = await authorizationServer();
    server.describe({ authorization_servers: [next.issuer] });
    const secrets = [
      ...[...as.clients.values()].flatMap(({ clientId, secret }) => [clientId, secret!]),
      ...as.tokens.keys(),
    ];
    const [{ form }] = as.requestsTo("/token") as unknown as [{ form: URLSearchParams }];
    secrets.push(form.get("code")!);
    const before = as.received.length;
    as.tokens.clear();
    believe(next);
    expect(await call(client, "read")).toBe("read");
    expect(next.requestsTo("/register")).toHaveLength(1);
    expect(as.received).toHaveLength(before);
    const seen = JSON.stringify(
      next.received.map(({ headers, form, query, json }) => [headers, [...form], [...query], json]),
    );
    expect(secrets.filter(Boolean)).toHaveLength(4);
    for (const secret of secrets) {
      expect(seen).not.toContain(secret);
      expect(seen).not.toContain(Buffer.from(secret).toString("base64").slice(0, -4));
    }
  });

  it("a client that is registered with the old one is an error, until somebody decides", async () => {
    registered("known");
    const { options } = someone({ store: memoryStore(), preregistered: { clientId: "known" } });
    const auth = oauth(options);
    await open(server.url, { auth });
    const next = await authorizationServer();
    server.describe({ authorization_servers: [next.issuer] });
    as.tokens.clear();
    await expect(open(server.url, { auth: oauth(options) })).rejects.toMatchObject({
      reason: "issuer_mismatch",
      message: expect.stringContaining("sign out"),
    });
    expect(next.requestsTo("/authorize")).toEqual([]);
  });

  it("a secret never goes to an issuer that it is not for", async () => {
    registered("mine", { secret: "s", method: "client_secret_basic" });
    const evil = await authorizationServer();
    believe(evil);
    server.describe({ authorization_servers: [evil.issuer] });
    const preregistered = { clientId: "mine", clientSecret: "s", issuer: as.issuer };
    const failure = await open(server.url, {
      auth: oauth({ ...someone().options, preregistered, clientMetadata: DOCUMENT }),
    });
    // It registers there, as if it had never been registered anywhere.
    expect(failure.protocolVersion).toBe("2026-07-28");
    expect(evil.requestsTo("/register")).toHaveLength(1);
    expect(JSON.stringify(evil.received.map(({ headers }) => headers))).not.toContain(
      Buffer.from("mine:s").toString("base64"),
    );
  });

  it("the issuer that there is a client for comes first", async () => {
    const other = await authorizationServer();
    registered("known");
    server.describe({ authorization_servers: [other.issuer, as.issuer] });
    const preregistered = [{ clientId: "known", issuer: as.issuer }];
    await open(server.url, { auth: oauth({ ...someone().options, preregistered }) });
    expect(other.received).toEqual([]);
  });
});

describe("misuse", () => {
  it.each([
    [{ clientName: "" }, /^clientName:/],
    [{ clientName: "x", redirect: {} }, /^redirect:/],
    [
      { clientName: "x", clientMetadata: "http://example.com/a.json" },
      /^clientMetadata: expected an https URL/,
    ],
    [{ clientName: "x", clientMetadata: "https://example.com" }, /^clientMetadata:/],
    [{ clientName: "x", preregistered: {} }, /^preregistered\.clientId/],
    [
      { clientName: "x", preregistered: [{ clientId: "a" }, { clientId: "" }] },
      /^preregistered\[1\]\.clientId/,
    ],
    [{ clientName: "x", preregistered: { clientId: "a", clientSecret: "s" } }, /^preregistered\.issuer/],
    [{ clientName: "x", scopes: ["a b"] }, /^scopes:/],
    [{ clientName: "x", dpop: true }, /^dpop:/],
    [{ clientName: "x", limits: { maxStepUps: -1 } }, /^limits\.maxStepUps/],
    [{ clientName: "x", limits: { nope: 1 } }, /^limits\.nope/],
  ])("%j throws", (options, message) => {
    expect(() => oauth(options as never)).toThrow(TypeError);
    expect(() => oauth(options as never)).toThrow(message);
  });

  it("of loopback throws", () => {
    expect(() => person({ host: "0.0.0.0" })).toThrow(/^host:/);
    expect(() => person({ port: 70_000 })).toThrow(/^port:/);
  });
});
