/** An MCP server that wants a token: the challenges and the metadata are the test's, the protocol is the real one. */
import http from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { Client } from "../../../src/client/client.js";
import { type ConnectOptions, connect } from "../../../src/connect.js";
import { createServer } from "../../../src/server/server.js";
import { type Reply, readProof, type TestAuthorizationServer } from "./authorization-server.js";

export interface Called {
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly method: string;
  readonly body: { id?: unknown; method?: string; params?: { name?: string } };
}

export interface GuardedServer {
  readonly origin: string;
  readonly url: string;
  /** Documents by path. */
  readonly documents: Map<string, Reply | (() => Reply)>;
  /** Every request, in order. */
  readonly received: Called[];
  /** Scopes that a request needs. */
  needs: (body: Called["body"]) => readonly string[];
  /** What is asked for of somebody without a token; undefined leaves `scope` out. */
  asksFor: string | undefined;
  /** Whether the challenge says where the metadata is. */
  saysMetadata: boolean;
  /** Answers in place of everything else. */
  intercept: ((called: Called) => Reply | undefined | Promise<Reply | undefined>) | undefined;
  /** Whether tokens have to be bound to a key, and the nonce that proofs have to hold. */
  dpop: { nonce?: string } | undefined;
  requestsTo(path: string): Called[];
  posts(): Called[];
  /** Changes what the metadata says. */
  describe(members: Record<string, unknown>): void;
  close(): Promise<void>;
}

export interface GuardedOptions {
  /** Path of the endpoint. */
  readonly path?: string;
  readonly port?: number;
}

export async function guardedServer(
  as: TestAuthorizationServer,
  { path = "/mcp" }: GuardedOptions = {},
): Promise<GuardedServer> {
  const mcp = createServer({ name: "guarded", version: "1.0.0" });
  mcp.tool("read", { description: "Reads." }, () => "read");
  mcp.tool("write", { description: "Writes." }, () => "written");
  mcp.tool("admin", { description: "Administers." }, () => "administered");

  const listener = http.createServer((req, res) => {
    let text = "";
    req.setEncoding("utf8");
    req.on("data", (chunk: string) => {
      text += chunk;
    });
    req.on("end", async () => {
      const at = new URL(req.url!, server.origin).pathname;
      const body = text.startsWith("{") ? JSON.parse(text) : {};
      const called: Called = { path: at, headers: req.headers, method: req.method!, body };
      server.received.push(called);
      const document = server.documents.get(at);
      const reply =
        (await server.intercept?.(called)) ??
        (typeof document === "function" ? document() : document) ??
        (at === path && req.method === "POST" ? await answer(called) : { status: 404 });
      const { status = 200, json, text: plain, headers = {} } = reply;
      res.writeHead(status, { "content-type": "application/json", ...headers });
      res.end(plain ?? JSON.stringify(json ?? {}));
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const metadataPath = `/.well-known/oauth-protected-resource${path === "/" ? "" : path}`;
  const resource = `${origin}${path === "/" ? "" : path}`;

  async function answer({ headers, body }: Called): Promise<Reply> {
    const [scheme, token] = (headers.authorization ?? "").split(" ");
    const issued = as.tokens.get(token ?? "");
    const metadata = server.saysMetadata ? `resource_metadata="${origin}${metadataPath}"` : undefined;
    const challenge = (status: number, ...parts: (string | undefined)[]): Reply => ({
      status,
      headers: {
        "www-authenticate":
          `${server.dpop ? "DPoP" : "Bearer"} ${[...parts, metadata].filter(Boolean).join(", ")}`.trim(),
        ...(server.dpop?.nonce && { "dpop-nonce": server.dpop.nonce }),
      },
    });
    const asked = server.asksFor === undefined ? undefined : `scope="${server.asksFor}"`;
    if (!token) return challenge(401, asked);
    if (issued === undefined || issued.expiresAt <= Date.now()) {
      return challenge(401, 'error="invalid_token"', asked);
    }
    if (server.dpop !== undefined) {
      const proof = await readProof(String(headers["dpop"]), resource, token);
      if (scheme !== "DPoP" || typeof proof === "string" || proof.jkt !== issued.jkt) {
        return challenge(
          401,
          'error="invalid_token"',
          `error_description="${JSON.stringify(proof).replaceAll('"', "'")}"`,
        );
      }
      if (server.dpop.nonce !== undefined && proof.claims["nonce"] !== server.dpop.nonce) {
        return challenge(401, 'error="use_dpop_nonce"');
      }
    } else if (scheme !== "Bearer") return challenge(401, 'error="invalid_token"');
    const missing = server.needs(body).filter((scope) => !issued.scopes.includes(scope));
    if (missing.length > 0) {
      return challenge(403, 'error="insufficient_scope"', `scope="${server.needs(body).join(" ")}"`);
    }
    const response = await mcp.handle(body as Parameters<typeof mcp.handle>[0], {
      notify() {},
      signal: new AbortController().signal,
    });
    return { json: response };
  }

  const server: GuardedServer = {
    origin,
    url: resource,
    documents: new Map(),
    received: [],
    needs: () => [],
    asksFor: undefined,
    saysMetadata: true,
    intercept: undefined,
    dpop: undefined,
    requestsTo: (at) => server.received.filter((called) => called.path === at),
    posts: () => server.received.filter(({ method }) => method === "POST"),
    describe(members) {
      server.documents.set(metadataPath, {
        json: { resource, authorization_servers: [as.issuer], ...members },
      });
    },
    close() {
      listener.closeAllConnections();
      return new Promise((resolve) => listener.close(() => resolve()));
    },
  };
  server.describe({});
  onTestFinished(server.close);
  return server;
}

/** Connects, and closes when the test is over. */
export async function open(url: string, options: Partial<ConnectOptions>): Promise<Client> {
  const client = await connect(url, { name: "test", version: "1.0.0", ...options });
  onTestFinished(() => client.close());
  return client;
}

/** The text of a tool's result. */
export async function call(client: Client, tool: string): Promise<string> {
  const { content } = await client.callTool(tool);
  return (content[0] as { text: string }).text;
}
