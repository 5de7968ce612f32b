/** An authorization server in the test's own process: strict where clients have to be right, and odd where a test wants it. */
import { createHash, randomUUID } from "node:crypto";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { calculateJwkThumbprint, decodeJwt, EmbeddedJWK, type JWTPayload, jwtVerify } from "jose";
import { onTestFinished } from "vitest";

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: http.IncomingHttpHeaders;
  readonly form: URLSearchParams;
  readonly json: Record<string, unknown>;
}

export interface Reply {
  readonly status?: number;
  readonly json?: unknown;
  readonly text?: string;
  readonly headers?: Record<string, string>;
}

type Answer = Reply | "hang" | "hang up" | undefined;

export interface RegisteredClient {
  readonly clientId: string;
  readonly secret?: string | undefined;
  readonly method: string;
  readonly redirectUris: readonly string[];
  readonly metadata: Record<string, unknown>;
}

export interface IssuedToken {
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly resource: string | undefined;
  readonly expiresAt: number;
  readonly family: string;
  readonly jkt: string | undefined;
}

interface IssuedCode {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly scope: string;
  readonly resource: string | undefined;
}

interface RefreshToken {
  readonly family: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly resource: string | undefined;
  readonly jkt: string | undefined;
  isUsed: boolean;
}

export interface TestAuthorizationServer {
  readonly url: string;
  readonly issuer: string;
  /** Members to change in the metadata; undefined takes one out. */
  metadata: Record<string, unknown>;
  /** Where the metadata is. */
  metadataPath: string;
  /** Answers ahead of the built-in ones, by path. */
  readonly answers: Map<string, (request: Received) => Answer | Promise<Answer>>;
  readonly received: Received[];
  readonly clients: Map<string, RegisteredClient>;
  readonly tokens: Map<string, IssuedToken>;
  /** Parameters of a redirect back to the client, before it is sent. */
  redirect: (parameters: URLSearchParams, request: Received) => void;
  /** Seconds that an access token lasts; undefined leaves `expires_in` out. */
  lifetime: number | undefined;
  refreshTokens: boolean;
  /** What is granted of what was asked for. */
  grant: (asked: readonly string[]) => readonly string[];
  /** Whether the scopes that were granted are said. */
  saysScope: boolean;
  /** A nonce that proofs have to hold. */
  nonce: string | undefined;
  /** Refresh tokens that somebody used twice: their family is dead. */
  readonly reused: string[];
  requestsTo(path: string): Received[];
  close(): Promise<void>;
}

/** @param path Of the issuer, such as `/tenant`; none by default. */
export async function authorizationServer({ path = "" } = {}): Promise<TestAuthorizationServer> {
  const codes = new Map<string, IssuedCode>();
  const refreshTokens = new Map<string, RefreshToken>();
  const dead = new Set<string>();

  const listener = http.createServer((req, res) => {
    let body = "";
    req.setEncoding("utf8");
    req.on("data", (chunk: string) => {
      body += chunk;
    });
    req.on("end", async () => {
      const url = new URL(req.url!, as.url);
      const isJson = req.headers["content-type"]?.startsWith("application/json") === true;
      const request: Received = {
        method: req.method!,
        path: url.pathname,
        query: url.searchParams,
        headers: req.headers,
        form: new URLSearchParams(isJson ? "" : body),
        json: isJson ? JSON.parse(body) : {},
      };
      as.received.push(request);
      const given = await as.answers.get(request.path)?.(request);
      const answer = given ?? (await builtIn(request));
      if (answer === "hang") return;
      if (answer === "hang up") return void req.socket.destroy();
      const { status = answer === undefined ? 404 : 200, json, text, headers = {} } = answer ?? {};
      res.writeHead(status, { "content-type": "application/json", "cache-control": "no-store", ...headers });
      res.end(text ?? JSON.stringify(json ?? {}));
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const issuer = `${url}${path}`;

  async function builtIn(request: Received): Promise<Answer> {
    switch (request.path) {
      case as.metadataPath:
        return { json: metadata() };
      case "/register":
        return register(request);
      case "/authorize":
        return authorize(request);
      case "/token":
        return token(request);
      case "/revoke":
        return revoke(request);
      default:
        return undefined;
    }
  }

  function metadata(): Record<string, unknown> {
    const all: Record<string, unknown> = {
      issuer,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      registration_endpoint: `${url}/register`,
      revocation_endpoint: `${url}/revoke`,
      response_types_supported: ["code"],
      grant_types_supported: ["authorization_code", "refresh_token", "client_credentials"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post"],
      authorization_response_iss_parameter_supported: true,
      ...as.metadata,
    };
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  }

  function register({ json }: Received): Reply {
    const method = String(json["token_endpoint_auth_method"] ?? "client_secret_basic");
    const client: RegisteredClient = {
      clientId: `client-${randomUUID()}`,
      secret: method === "none" ? undefined : `secret ${randomUUID()}`,
      method,
      redirectUris: json["redirect_uris"] as string[],
      metadata: json,
    };
    as.clients.set(client.clientId, client);
    const secret = client.secret && { client_secret: client.secret, client_secret_expires_at: 0 };
    return { status: 201, json: { ...json, client_id: client.clientId, ...secret } };
  }

  function authorize(request: Received): Reply {
    const { query } = request;
    const redirectUri = query.get("redirect_uri") ?? "";
    const client = as.clients.get(query.get("client_id") ?? "");
    // A person sees this; the client never hears of it.
    if (client === undefined) return { status: 400, text: "unknown client" };
    if (client.redirectUris.length > 0 && !client.redirectUris.includes(redirectUri)) {
      return { status: 400, text: "unknown redirect_uri" };
    }
    const back = new URL(redirectUri);
    const state = query.get("state");
    if (state !== null) back.searchParams.set("state", state);
    back.searchParams.set("iss", issuer);
    const challenge = query.get("code_challenge");
    if (
      query.get("response_type") !== "code" ||
      query.get("code_challenge_method") !== "S256" ||
      !challenge
    ) {
      back.searchParams.set("error", "invalid_request");
    } else {
      const code = randomUUID();
      codes.set(code, {
        clientId: client.clientId,
        redirectUri,
        challenge,
        scope: query.get("scope") ?? "",
        resource: query.get("resource") ?? undefined,
      });
      back.searchParams.set("code", code);
    }
    as.redirect(back.searchParams, request);
    return { status: 302, headers: { location: back.href }, text: "" };
  }

  async function token(request: Received): Promise<Reply> {
    const { form } = request;
    const client = authenticate(request);
    if (client === undefined) return { status: 401, json: { error: "invalid_client" } };
    let jkt: string | undefined;
    if (request.headers["dpop"] !== undefined) {
      const proof = await readProof(String(request.headers["dpop"]), `${url}/token`);
      if (typeof proof === "string") return refuse("invalid_dpop_proof", proof);
      if (as.nonce !== undefined && proof.claims["nonce"] !== as.nonce) {
        return { ...refuse("use_dpop_nonce", "a nonce is needed"), headers: { "dpop-nonce": as.nonce } };
      }
      jkt = proof.jkt;
    }
    switch (form.get("grant_type")) {
      case "authorization_code": {
        const code = codes.get(form.get("code") ?? "");
        codes.delete(form.get("code") ?? "");
        if (code === undefined) return refuse("invalid_grant", "unknown code");
        const verifier = form.get("code_verifier") ?? "";
        if (createHash("sha256").update(verifier).digest("base64url") !== code.challenge) {
          return refuse("invalid_grant", "wrong code_verifier");
        }
        if (code.clientId !== client || code.redirectUri !== form.get("redirect_uri")) {
          return refuse("invalid_grant", "another client or redirect_uri");
        }
        if (code.resource !== (form.get("resource") ?? undefined)) {
          return refuse("invalid_target", "another resource than was authorized");
        }
        const asked = code.scope.split(" ").filter(Boolean);
        return issue({ clientId: client, asked, resource: code.resource, family: randomUUID(), jkt });
      }
      case "refresh_token": {
        const given = form.get("refresh_token") ?? "";
        const known = refreshTokens.get(given);
        if (known === undefined || known.clientId !== client)
          return refuse("invalid_grant", "unknown refresh token");
        if (known.isUsed || dead.has(known.family)) {
          if (known.isUsed) as.reused.push(given);
          // Used twice: one of the two is a thief (OAuth 2.1, section 4.3.1).
          dead.add(known.family);
          for (const [token, { family }] of as.tokens) if (family === known.family) as.tokens.delete(token);
          return refuse("invalid_grant", "the refresh token was used before");
        }
        if (known.jkt !== jkt) return refuse("invalid_grant", "another key");
        known.isUsed = true;
        return issue({ ...known, asked: known.scopes, clientId: client });
      }
      case "client_credentials": {
        const asked = (form.get("scope") ?? "").split(" ").filter(Boolean);
        const resource = form.get("resource") ?? undefined;
        return issue({ clientId: client, asked, resource, family: randomUUID(), jkt, noRefresh: true });
      }
      default:
        return refuse("unsupported_grant_type");
    }
  }

  function issue(how: {
    clientId: string;
    asked: readonly string[];
    resource: string | undefined;
    family: string;
    jkt: string | undefined;
    noRefresh?: boolean;
  }): Reply {
    const { clientId, asked, resource, family, jkt, noRefresh } = how;
    const scopes = as.grant(asked);
    const accessToken = `access-${randomUUID()}`;
    const expiresAt = Date.now() + (as.lifetime ?? 3600) * 1000;
    as.tokens.set(accessToken, { clientId, scopes, resource, expiresAt, family, jkt });
    const refreshToken = as.refreshTokens && !noRefresh ? `refresh-${randomUUID()}` : undefined;
    if (refreshToken !== undefined) {
      refreshTokens.set(refreshToken, { family, clientId, scopes: asked, resource, jkt, isUsed: false });
    }
    return {
      json: {
        access_token: accessToken,
        token_type: jkt === undefined ? "Bearer" : "DPoP",
        ...(as.lifetime !== undefined && { expires_in: as.lifetime }),
        ...(as.saysScope && { scope: scopes.join(" ") }),
        ...(refreshToken && { refresh_token: refreshToken }),
      },
    };
  }

  function revoke(request: Received): Reply {
    if (authenticate(request) === undefined) return { status: 401, json: { error: "invalid_client" } };
    const given = request.form.get("token") ?? "";
    const family = refreshTokens.get(given)?.family ?? as.tokens.get(given)?.family;
    if (family !== undefined) {
      dead.add(family);
      for (const [token, issued] of as.tokens) if (issued.family === family) as.tokens.delete(token);
    }
    return { status: 200 };
  }

  /** @returns The client id. */
  function authenticate({ form, headers }: Received): string | undefined {
    const basic = /^Basic (.+)$/.exec(headers.authorization ?? "")?.[1];
    const [id, secret] = basic
      ? Buffer.from(basic, "base64").toString("utf8").split(":").map(decode)
      : [form.get("client_id") ?? "", form.get("client_secret") ?? undefined];
    const client = as.clients.get(id!);
    if (client === undefined) return undefined;
    const method = basic ? "client_secret_basic" : secret === undefined ? "none" : "client_secret_post";
    return client.method === method && client.secret === secret ? id : undefined;
  }

  const as: TestAuthorizationServer = {
    url,
    issuer,
    metadata: {},
    metadataPath: `/.well-known/oauth-authorization-server${path}`,
    answers: new Map(),
    received: [],
    clients: new Map(),
    tokens: new Map(),
    redirect: () => {},
    lifetime: 3600,
    refreshTokens: true,
    grant: (asked) => asked,
    saysScope: true,
    nonce: undefined,
    reused: [],
    requestsTo: (at) => as.received.filter((request) => request.path === at),
    close() {
      listener.closeAllConnections();
      return new Promise((resolve) => listener.close(() => resolve()));
    },
  };
  onTestFinished(as.close);
  return as;
}

function refuse(error: string, description?: string): Reply {
  return { status: 400, json: { error, ...(description && { error_description: description }) } };
}

/** Form-encoded, as RFC 6749, section 2.3.1 has it. */
function decode(part: string): string {
  return new URLSearchParams(`v=${part}`).get("v")!;
}

/** A proof that holds (RFC 9449, section 4.3), or what is wrong with it. */
export async function readProof(
  proof: string,
  htu: string,
  token?: string,
): Promise<{ jkt: string; claims: JWTPayload } | string> {
  try {
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, { typ: "dpop+jwt" });
    const ath = token && createHash("sha256").update(token).digest("base64url");
    if (payload["htm"] !== "POST" || payload["htu"] !== htu) return `for ${payload["htm"]} ${payload["htu"]}`;
    if (payload["ath"] !== ath) return "for another token";
    if (typeof payload.jti !== "string" || typeof payload.iat !== "number") return "without jti or iat";
    if ("d" in protectedHeader.jwk!) return "with the private key";
    return { jkt: await calculateJwkThumbprint(protectedHeader.jwk!), claims: decodeJwt(proof) };
  } catch (error) {
    return (error as Error).message;
  }
}
