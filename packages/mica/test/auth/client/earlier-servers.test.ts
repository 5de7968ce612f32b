/** Servers of earlier revisions that want a token: with sessions, with event streams, and without any metadata. */
import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { oauth } from "../../../src/entry/auth/client.js";
import { authorizationServer, type Reply, type TestAuthorizationServer } from "./authorization-server.js";
import { type Called, type GuardedServer, guardedServer, open } from "./guarded-server.js";
import { nobody, someone } from "./person.js";

let as: TestAuthorizationServer;
let server: GuardedServer;
beforeEach(async () => {
  as = await authorizationServer();
  server = await guardedServer(as);
});

/** A server of 2025-11-25 with sessions. What it wants a token for is the test's. */
function speakLegacy(isPublic: (called: Called) => boolean = () => false): { sessions: Set<string> } {
  const sessions = new Set<string>();
  server.intercept = (called): Reply | undefined => {
    const { method, headers, body, path } = called;
    if (path !== "/mcp") return undefined;
    const token = headers.authorization?.replace("Bearer ", "");
    if (!isPublic(called) && !as.tokens.has(token ?? "")) {
      return {
        status: 401,
        headers: {
          "www-authenticate": `Bearer resource_metadata="${server.origin}/.well-known/oauth-protected-resource/mcp"`,
        },
      };
    }
    if (method === "GET") return { status: 405 };
    if (method === "DELETE") return { status: 200 };
    const id = body.id;
    if (body.method === "initialize") {
      const session = randomUUID();
      sessions.add(session);
      const result = {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "legacy", version: "1" },
      };
      return { json: { jsonrpc: "2.0", id, result }, headers: { "mcp-session-id": session } };
    }
    if (!sessions.has(String(headers["mcp-session-id"]))) return { status: 400, text: "no session" };
    if (id === undefined) return { status: 202 };
    if (body.method === "tools/list") {
      return {
        json: { jsonrpc: "2.0", id, result: { tools: [{ name: "t", inputSchema: { type: "object" } }] } },
      };
    }
    return { json: { jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "done" }] } } };
  };
  return { sessions };
}

describe("a server with sessions", () => {
  it("is signed in to at the probe, and gets the token with every request", async () => {
    speakLegacy();
    const client = await open(server.url, { auth: oauth(someone().options) });
    expect(client.protocolVersion).toBe("2025-11-25");
    expect((await client.listTools()).tools).toHaveLength(1);
    const [token] = as.tokens.keys();
    for (const { headers } of server.posts().slice(1)) expect(headers.authorization).toBe(`Bearer ${token}`);
    const streams = server.requestsTo("/mcp").filter(({ method }) => method === "GET");
    for (const { headers } of streams) expect(headers.authorization).toBe(`Bearer ${token}`);
    expect(as.requestsTo("/authorize")).toHaveLength(1);
  });

  it("is signed in to in the handshake, however long that takes", async () => {
    speakLegacy(({ body }) => body.method === "server/discover");
    as.answers.set("/authorize", async () => {
      await new Promise((resolve) => setTimeout(resolve, 600));
      return undefined;
    });
    const limits = { timeoutMs: 300 };
    const client = await open(server.url, { auth: oauth(someone().options), limits });
    expect(client.era.era).toBe("legacy");
  });

  it("gets another token in the middle of a session", async () => {
    speakLegacy();
    const client = await open(server.url, { auth: oauth(someone().options) });
    as.tokens.clear();
    expect(await client.callTool("t")).toMatchObject({ content: [{ text: "done" }] });
    const grants = as.requestsTo("/token").map(({ form }) => form.get("grant_type"));
    expect(grants).toEqual(["authorization_code", "refresh_token"]);
  });

  describe("a person who takes their time in the middle of it", () => {
    const limits = { timeoutMs: 300 };
    const hesitate = () => {
      as.refreshTokens = false;
      as.answers.set("/authorize", async () => {
        await new Promise((resolve) => setTimeout(resolve, 700));
        return undefined;
      });
    };

    it("is waited for: no call runs into its timeout by that", async () => {
      speakLegacy();
      as.refreshTokens = false;
      const client = await open(server.url, { auth: oauth(someone().options), limits });
      hesitate();
      as.tokens.clear();
      const said = await Promise.all([client.callTool("t"), client.callTool("t")]);
      expect(said).toMatchObject([{ content: [{ text: "done" }] }, { content: [{ text: "done" }] }]);
      expect(as.requestsTo("/authorize")).toHaveLength(2);
    });

    it("is waited for, where the session has ended meanwhile and is begun anew", async () => {
      const { sessions } = speakLegacy(({ body }) => body.method === "tools/call");
      as.refreshTokens = false;
      const client = await open(server.url, { auth: oauth(someone().options), limits });
      hesitate();
      as.tokens.clear();
      sessions.clear();
      const said = await Promise.all([client.callTool("t"), client.callTool("t")]);
      expect(said).toMatchObject([{ content: [{ text: "done" }] }, { content: [{ text: "done" }] }]);
      expect(sessions.size).toBe(1);
      expect(as.requestsTo("/authorize")).toHaveLength(2);
    });

    it("is not asked any longer when the caller goes away", async () => {
      speakLegacy();
      as.refreshTokens = false;
      const client = await open(server.url, { auth: oauth(someone().options), limits });
      hesitate();
      as.tokens.clear();
      const controller = new AbortController();
      const said = client.callTool("t", {}, { signal: controller.signal });
      await expect.poll(() => as.requestsTo("/authorize")).toHaveLength(2);
      controller.abort();
      await expect(said).rejects.toMatchObject({ code: "aborted" });
    });

    it("does not stop the clock of a server that does not answer", async () => {
      speakLegacy();
      const before = server.intercept;
      server.intercept = (called) =>
        called.body.method === "tools/call" ? new Promise(() => {}) : before?.(called);
      const client = await open(server.url, { auth: oauth(someone().options), limits });
      await expect(client.callTool("t")).rejects.toMatchObject({ code: "timeout" });
    });
  });

  it("is left without asking anybody", async () => {
    speakLegacy();
    const { options } = someone();
    const auth = oauth(options);
    const client = await open(server.url, { auth });
    as.tokens.clear();
    await client.close();
    expect(as.requestsTo("/token")).toHaveLength(1);
    expect(server.received.at(-1)!.method).toBe("DELETE");
  });

  it("where the person says no, connecting fails, and nothing is left of it", async () => {
    speakLegacy();
    as.redirect = (parameters) => {
      parameters.delete("code");
      parameters.set("error", "access_denied");
    };
    await expect(open(server.url, { auth: oauth(someone().options) })).rejects.toMatchObject({
      reason: "access_denied",
    });
    expect(as.requestsTo("/authorize")).toHaveLength(1);
  });
});

describe("a server of 2025-03-26 without protected resource metadata", () => {
  /** It is its own authorization server: everything but the endpoint is that of the other. */
  const beOne = (paths: readonly string[]) => {
    server.documents.clear();
    server.saysMetadata = false;
    const before = server.intercept;
    server.intercept = async (called) => {
      if (!paths.includes(called.path)) return before?.(called);
      const url = new URL(called.path, as.url);
      const answer = await fetch(url, { redirect: "manual" });
      return {
        status: answer.status,
        text: await answer.text(),
        headers: Object.fromEntries(answer.headers),
      };
    };
  };

  it("is signed in to by the metadata at its origin", async () => {
    as.metadata = { issuer: server.origin };
    as.redirect = (parameters) => parameters.set("iss", server.origin);
    beOne(["/.well-known/oauth-authorization-server"]);
    await open(server.url, { auth: oauth(someone().options) });
    // It has no name of its own: it is called by its URL.
    expect(as.requestsTo("/authorize")[0]!.query.get("resource")).toBe(server.url);
  });

  it("is not, where that metadata is of another issuer", async () => {
    beOne(["/.well-known/oauth-authorization-server"]);
    const auth = oauth({ clientName: "Test", redirect: nobody, assumeEndpoints: true });
    await expect(open(server.url, { auth })).rejects.toMatchObject({ reason: "issuer_mismatch" });
  });

  it("without any metadata is an error that says what was looked for", async () => {
    beOne([]);
    const auth = oauth({ clientName: "Test", redirect: nobody });
    await expect(open(server.url, { auth })).rejects.toMatchObject({
      reason: "discovery_failed",
      message: expect.stringContaining("has no protected resource metadata"),
    });
  });

  it("without any metadata is signed in to at fixed paths, where the author says so", async () => {
    server.documents.clear();
    server.saysMetadata = false;
    const seen: Called[] = [];
    server.intercept = (called) => {
      const { path } = called;
      if (!["/register", "/authorize", "/token"].includes(path)) return undefined;
      seen.push(called);
      if (path === "/register") return { status: 201, json: { client_id: "c" } };
      if (path === "/token") {
        as.tokens.set("a", {
          clientId: "c",
          scopes: [],
          resource: undefined,
          expiresAt: Date.now() + 60_000,
          family: "",
          jkt: undefined,
        });
        return { json: { access_token: "a", token_type: "Bearer" } };
      }
      return { status: 200, text: "" };
    };
    const redirect = {
      applicationType: "native" as const,
      listen: async () => ({
        uri: "http://127.0.0.1:1/callback",
        async visit(url: string, state: string) {
          await fetch(url);
          const { searchParams, origin, pathname } = new URL(url);
          expect(`${origin}${pathname}`).toBe(`${server.origin}/authorize`);
          expect(searchParams.get("code_challenge_method")).toBe("S256");
          return `http://127.0.0.1:1/callback?code=x&state=${state}`;
        },
        close: async () => {},
      }),
    };
    await open(server.url, { auth: oauth({ clientName: "Test", redirect, assumeEndpoints: true }) });
    expect(seen.map(({ path }) => path)).toEqual(["/register", "/authorize", "/token"]);
  });
});
