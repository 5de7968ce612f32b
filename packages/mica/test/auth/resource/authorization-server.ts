/** An authorization server in the test's own process: metadata, keys, introspection and token exchange, on loopback. */
import { randomUUID } from "node:crypto";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { onTestFinished } from "vitest";

export interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly jwk: JWK;
}

export async function signingKey(kid: string, alg = "ES256"): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, publicKey, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" } };
}

export interface Received {
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly form: URLSearchParams;
}

export interface Reply {
  readonly status?: number;
  readonly json?: unknown;
  readonly text?: string;
  readonly headers?: Record<string, string>;
}

type Answer = Reply | "hang" | undefined;

export interface AuthorizationServer {
  readonly issuer: string;
  readonly url: string;
  /** What the key set holds. */
  keys: SigningKey[];
  /** Every request, in order. */
  readonly received: Received[];
  /** Answers by path, ahead of the built-in ones. */
  readonly answers: Map<string, (request: Received) => Answer>;
  requestsTo(path: string): number;
  /** A JWT access token. Claims given as undefined are left out. */
  issue(claims?: Record<string, unknown>, options?: IssueOptions): Promise<string>;
  close(): Promise<void>;
}

export interface IssueOptions {
  readonly key?: SigningKey;
  readonly header?: Record<string, unknown>;
}

export const RESOURCE = "https://mcp.example.com/mcp";
export const METADATA = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";
export const now = (): number => Math.floor(Date.now() / 1000);

/** @param path Of the issuer, such as `/tenant`; none by default. */
export async function authorizationServer({ path = "", alg = "ES256" } = {}): Promise<AuthorizationServer> {
  const first = await signingKey(randomUUID(), alg);
  const received: Received[] = [];
  const answers = new Map<string, (request: Received) => Answer>();
  const listener = http.createServer((req, res) => {
    let body = "";
    req.setEncoding("utf8");
    req.on("data", (chunk: string) => {
      body += chunk;
    });
    req.on("end", () => {
      const request = { path: req.url!, headers: req.headers, form: new URLSearchParams(body) };
      received.push(request);
      const custom = answers.get(request.path);
      const answer = custom ? custom(request) : builtIn(request.path);
      if (answer === "hang") return;
      const { status = answer ? 200 : 404, json, text, headers = {} } = answer ?? {};
      res.writeHead(status, { "content-type": "application/json", ...headers });
      res.end(text ?? JSON.stringify(json ?? {}));
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const issuer = `${url}${path}`;

  function builtIn(at: string): Reply | undefined {
    if (at === `/.well-known/oauth-authorization-server${path}`) {
      const endpoints = {
        jwks_uri: `${url}/jwks`,
        introspection_endpoint: `${url}/introspect`,
        token_endpoint: `${url}/token`,
      };
      return { json: { issuer, ...endpoints } };
    }
    if (at === "/jwks") return { json: { keys: server.keys.map(({ jwk }) => jwk) } };
    return undefined;
  }

  const server: AuthorizationServer = {
    issuer,
    url,
    keys: [first],
    received,
    answers,
    requestsTo: (at) => received.filter((request) => request.path === at).length,
    issue(claims = {}, { key = server.keys[0]!, header = {} } = {}) {
      const all: Record<string, unknown> = {
        iss: issuer,
        sub: "maria",
        aud: RESOURCE,
        exp: now() + 300,
        iat: now(),
        jti: randomUUID(),
        client_id: "cli",
        scope: "incidents:read",
        ...claims,
      };
      const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
      return new SignJWT(given)
        .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: "at+jwt", ...header })
        .sign(key.privateKey);
    },
    close() {
      listener.closeAllConnections();
      return new Promise((resolve) => listener.close(() => resolve()));
    },
  };
  onTestFinished(server.close);
  return server;
}
