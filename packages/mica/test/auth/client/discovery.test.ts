/** From a challenge to an authorization server: what is asked for, in which order, and what is never used. */
import { beforeEach, describe, expect, it } from "vitest";
import { oauth } from "../../../src/entry/auth/client.js";
import { authorizationServer, type TestAuthorizationServer } from "./authorization-server.js";
import { call, type GuardedServer, guardedServer, open } from "./guarded-server.js";
import { nobody, someone } from "./person.js";

let as: TestAuthorizationServer;
let server: GuardedServer;
beforeEach(async () => {
  as = await authorizationServer();
  server = await guardedServer(as);
});

const gets = () => server.received.filter(({ method }) => method === "GET").map(({ path }) => path);
const WELL_KNOWN = "/.well-known/oauth-protected-resource";
const failing = async (url = server.url) =>
  open(url, { auth: oauth({ clientName: "Test", redirect: nobody }) }).then(
    () => {
      throw new Error("it connected");
    },
    (error: Error & { reason: string; code: string }) => error,
  );

describe("the metadata of the resource", () => {
  it("is where the challenge says, and nowhere else is looked", async () => {
    server.documents.clear();
    server.documents.set("/custom/location.json", {
      json: { resource: server.url, authorization_servers: [as.issuer] },
    });
    server.intercept = ({ headers, method }) =>
      method === "POST" && headers.authorization === undefined
        ? {
            status: 401,
            headers: {
              "www-authenticate": `Bearer resource_metadata="${server.origin}/custom/location.json"`,
            },
          }
        : undefined;
    const { options } = someone();
    const client = await open(server.url, { auth: oauth(options) });
    expect(await call(client, "read")).toBe("read");
    expect(gets()).toEqual(["/custom/location.json"]);
  });

  it("is at the well-known URL of the server, where the challenge says nothing", async () => {
    server.saysMetadata = false;
    await open(server.url, { auth: oauth(someone().options) });
    expect(gets()).toEqual([`${WELL_KNOWN}/mcp`]);
  });

  it("is looked for without any challenge at all", async () => {
    server.intercept = ({ headers, method }) =>
      method === "POST" && headers.authorization === undefined ? { status: 401 } : undefined;
    await open(server.url, { auth: oauth(someone().options) });
    expect(gets()).toEqual([`${WELL_KNOWN}/mcp`]);
  });

  it.each([
    ["404", { status: 404 }],
    ["403", { status: 403 }],
    ["a page", { status: 200, text: "<h1>Welcome</h1>", headers: { "content-type": "text/html" } }],
    ["a redirect", { status: 302, headers: { location: "https://evil.example" } }],
  ])("is at the root, where the well-known URL of the server answers with %s", async (_what, reply) => {
    server.saysMetadata = false;
    server.documents.clear();
    server.documents.set(`${WELL_KNOWN}/mcp`, reply);
    server.documents.set(WELL_KNOWN, {
      json: { resource: server.origin, authorization_servers: [as.issuer] },
    });
    await open(server.url, { auth: oauth(someone().options) });
    expect(gets()).toEqual([`${WELL_KNOWN}/mcp`, WELL_KNOWN]);
    expect(as.requestsTo("/authorize")[0]!.query.get("resource")).toBe(server.origin);
  });

  it.each([
    ["404", { status: 404 }],
    ["500", { status: 500 }],
    ["a page", { status: 200, text: "<h1>Welcome</h1>" }],
    ["a list", { json: [] }],
  ])("must be there, where the challenge says that it is, and %s is none", async (_what, reply) => {
    server.documents.set(`${WELL_KNOWN}/mcp`, reply);
    expect(await failing()).toMatchObject({ code: "connect_failed", reason: "discovery_failed" });
    expect(as.received).toEqual([]);
  });

  it("is not looked for further where the server has a fault", async () => {
    server.saysMetadata = false;
    server.documents.set(`${WELL_KNOWN}/mcp`, { status: 503 });
    expect(await failing()).toMatchObject({
      reason: "discovery_failed",
      message: expect.stringContaining("503"),
    });
    expect(gets()).toEqual([`${WELL_KNOWN}/mcp`]);
  });

  it("of another resource is not used: nobody is registered, nobody is asked", async () => {
    server.describe({ resource: "https://evil.example.com/mcp" });
    expect(await failing()).toMatchObject({ reason: "resource_mismatch" });
    expect(as.received).toEqual([]);
  });

  it("row 19: is sent as it is written, without a slash, in both requests", async () => {
    const root = await guardedServer(as, { path: "/" });
    // The URL of the root has a slash; what the server calls itself has none.
    expect(new URL(root.url).href).toBe(`${root.url}/`);
    await open(root.url, { auth: oauth(someone().options) });
    expect(as.requestsTo("/authorize").map(({ query }) => query.getAll("resource"))).toEqual([[root.origin]]);
    expect(as.requestsTo("/token").map(({ form }) => form.getAll("resource"))).toEqual([[root.origin]]);
  });

  it("row 19: is sent with its capitals and its port, too", async () => {
    const resource = `HTTP://127.0.0.1:${new URL(server.url).port}/mcp/`;
    server.describe({ resource });
    await open(server.url, { auth: oauth(someone().options) });
    expect(as.requestsTo("/authorize")[0]!.query.get("resource")).toBe(resource);
    expect(as.requestsTo("/token")[0]!.form.get("resource")).toBe(resource);
  });
});

describe("the metadata of the authorization server", () => {
  const OAUTH = "/.well-known/oauth-authorization-server";
  const OIDC = "/.well-known/openid-configuration";
  const asked = () => as.received.filter(({ path }) => path.includes(".well-known")).map(({ path }) => path);

  it.each([
    ["", OAUTH, [OAUTH]],
    ["", OIDC, [OAUTH, OIDC]],
    ["/tenant1", `${OAUTH}/tenant1`, [`${OAUTH}/tenant1`]],
    ["/tenant1", `${OIDC}/tenant1`, [`${OAUTH}/tenant1`, `${OIDC}/tenant1`]],
    ["/tenant1", `/tenant1${OIDC}`, [`${OAUTH}/tenant1`, `${OIDC}/tenant1`, `/tenant1${OIDC}`]],
    ["/a/b", `/a/b${OIDC}`, [`${OAUTH}/a/b`, `${OIDC}/a/b`, `/a/b${OIDC}`]],
  ])("of an issuer with the path %j, at %s", async (path, at, expected) => {
    as = await authorizationServer({ path });
    as.metadataPath = at;
    server = await guardedServer(as);
    await open(server.url, { auth: oauth(someone().options) });
    expect(asked()).toEqual(expected);
  });

  it.each([
    ["a slash more", (issuer: string) => `${issuer}/`],
    ["another host", () => "https://honest.example"],
    ["nothing", () => undefined],
  ])("with %s in its issuer is not used", async (_what, issuer) => {
    as.metadata = { issuer: issuer(as.issuer) };
    expect(await failing()).toMatchObject({
      reason: "issuer_mismatch",
      message: expect.stringContaining(JSON.stringify(as.issuer)),
    });
    expect(as.received.map(({ path }) => path)).toEqual([OAUTH, OIDC]);
  });

  it("that is nowhere: all that was tried is said", async () => {
    as.metadataPath = "/nowhere";
    const { message, reason } = await failing();
    expect(reason).toBe("discovery_failed");
    for (const path of [OAUTH, OIDC]) expect(message).toContain(`${as.url}${path} answered HTTP 404`);
  });

  it("of the next one is used, where that of the first cannot be had", async () => {
    const gone = await authorizationServer();
    await gone.close();
    server.describe({ authorization_servers: [gone.issuer, as.issuer] });
    await open(server.url, { auth: oauth(someone().options) });
    expect(as.requestsTo("/token")).toHaveLength(1);
  });

  it.each([["https://auth.example.com?tenant=1"], ["https://auth.example.com#x"]])(
    "%s is no issuer",
    async (issuer) => {
      server.describe({ authorization_servers: [issuer] });
      expect(await failing()).toMatchObject({
        reason: "discovery_failed",
        message: expect.stringContaining("query or a fragment"),
      });
    },
  );

  it.each([[undefined], [["plain"]]])(
    "that names %j for PKCE ends it, before anybody is registered",
    async (methods) => {
      as.metadata = { code_challenge_methods_supported: methods };
      expect(await failing()).toMatchObject({ reason: "pkce_unsupported" });
      expect(as.requestsTo("/register")).toEqual([]);
    },
  );

  it.each([["authorization_endpoint"], ["token_endpoint"]])(
    "may not send anybody to a script by its %s",
    async (member) => {
      as.metadata = { [member]: "javascript:alert(1)" };
      const { options, pages } = someone();
      const failure = await open(server.url, { auth: oauth(options) }).catch((error: unknown) => error);
      expect(failure).toMatchObject({ reason: "forbidden_url", message: expect.stringContaining(member) });
      if (member === "authorization_endpoint") expect(pages).toEqual([]);
    },
  );

  it("too large, or too slow, is an error that names the limit", async () => {
    as.answers.set(OAUTH, () => ({ text: " ".repeat(70_000) }));
    as.answers.set(OIDC, () => "hang");
    const limits = { maxDocumentBytes: 65_536, requestTimeoutMs: 200 };
    const auth = oauth({ clientName: "Test", redirect: nobody, limits });
    await expect(open(server.url, { auth })).rejects.toThrow(
      /answered more than 65536 bytes \(maxDocumentBytes\).* took longer than 200 ms/,
    );
  });
});
