/**
 * A test issuer: an authorization server on this machine that lets everybody in, as anybody, so that authorization can
 * be tried out by hand. Everything else is as with a real one: discovery (RFC 8414), PKCE, dynamic registration and
 * metadata documents of clients, signed tokens for one resource, refresh tokens that change with every use.
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";
import { isLoopback } from "../../kit/usage.js";
import { createAuthorize } from "./dev-issuer-authorize.js";
import { createClients, OAuthRefusal } from "./dev-issuer-clients.js";
import {
  ACCESS_TOKEN_LIFETIME_S,
  createGrants,
  type Grant,
  type GrantsOptions,
  needed,
  scopesIn,
} from "./dev-issuer-grants.js";
import { bodyOf, parseJson, sendFailure, sendJson, show } from "./dev-issuer-http.js";

export interface DevIssuerOptions {
  /** What can be granted. */
  readonly scopes: readonly string[];
  /** What tokens are for, where a request names no `resource`. */
  readonly resource: () => string | undefined;
  /** Default `127.0.0.1`; nothing but loopback is taken. */
  readonly host?: string | undefined;
  /** Default 0: any free one. */
  readonly port?: number | undefined;
  /** Gets the document of a client at its URL. Default: over HTTPS. */
  readonly fetchDocument?: ((url: string) => Promise<unknown>) | undefined;
}

export interface DevIssuer {
  readonly issuer: string;
  /** The public key, as the key set holds it. */
  readonly jwk: JWK;
  /** Signs any claims with the key of the issuer. */
  sign(claims: JWTPayload): Promise<string>;
  close(): Promise<void>;
}

/** The client of scripts: it has no secret, and gets tokens by `client_credentials`. */
export const TEST_CLIENT = "test";

const ALGORITHM = "ES256";
/**
 * Starts it, with a key of its own: tokens of an earlier one are not good any more.
 *
 * @throws TypeError where `host` is none of this machine's loopback addresses.
 * @example const { issuer } = await startDevIssuer({ scopes: ["incidents:read"], resource: () => "http://127.0.0.1:8931/mcp" });
 */
export async function startDevIssuer(options: DevIssuerOptions): Promise<DevIssuer> {
  const { scopes, resource, host = "127.0.0.1", port = 0 } = options;
  if (!isLoopback(host)) {
    throw new TypeError(
      `startDevIssuer: host must be a loopback address such as 127.0.0.1, since everybody is let in; got ${JSON.stringify(host)}`,
    );
  }
  const { publicKey, privateKey } = await generateKeyPair(ALGORITHM);
  const kid = randomUUID();
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid, alg: ALGORITHM, use: "sig" };
  const listener = createServer((req, res) => void serve(req, res));
  await new Promise<void>((resolve, reject) => {
    listener.once("error", reject).listen(port, host.replace(/^\[|\]$/g, ""), resolve);
  });
  const issuer = `http://${host}:${(listener.address() as AddressInfo).port}`;

  const sign = (claims: JWTPayload): Promise<string> =>
    new SignJWT(claims).setProtectedHeader({ alg: ALGORITHM, kid, typ: "at+jwt" }).sign(privateKey);

  function signGrant(
    { clientId, subject, tenant, scopes, audience }: Grant,
    lifetimeS: number,
  ): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    return sign({
      iss: issuer,
      sub: subject,
      aud: audience.length === 1 ? audience[0]! : [...audience],
      client_id: clientId,
      scope: scopes.join(" "),
      ...(tenant !== "" && { tenant }),
      iat: now,
      exp: now + lifetimeS,
      jti: randomUUID(),
    });
  }

  /** `person`, `tenant` and `expires_in` are of this issuer's own: with them a script can be anybody, and too late. */
  const ofClient: GrantsOptions["ofClient"] = (form) => {
    if (needed(form, "client_id") !== TEST_CLIENT) {
      throw new OAuthRefusal("invalid_client", `client_credentials are for client_id=${TEST_CLIENT}`);
    }
    const asked = scopesIn(form.get("scope"));
    const unknown = asked.filter((scope) => !scopes.includes(scope));
    if (unknown.length > 0) {
      throw new OAuthRefusal(
        "invalid_scope",
        `Expected some of ${scopes.join(" ")}, got ${unknown.join(" ")}`,
      );
    }
    const lifetimeS = Number(form.get("expires_in") ?? ACCESS_TOKEN_LIFETIME_S);
    if (!Number.isSafeInteger(lifetimeS)) {
      throw new OAuthRefusal("invalid_request", "expires_in must be a whole number of seconds");
    }
    const grant = {
      clientId: TEST_CLIENT,
      subject: form.get("person") || TEST_CLIENT,
      tenant: form.get("tenant") ?? "",
      scopes: asked,
      audience: audience(form),
    };
    return { grant, lifetimeS };
  };

  function audience(form: URLSearchParams): string[] {
    const named = form.getAll("resource").filter((one) => one !== "");
    const own = resource();
    return named.length > 0 || own === undefined ? named : [own];
  }

  const clients = createClients(options.fetchDocument);
  const grants = createGrants({ sign: signGrant, ofClient });
  const authorize = createAuthorize({ issuer, scopes, clients, grants, audience });
  const metadata = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    registration_endpoint: `${issuer}/register`,
    revocation_endpoint: `${issuer}/revoke`,
    revocation_endpoint_auth_methods_supported: ["none"],
    scopes_supported: scopes,
    response_types_supported: ["code"],
    grant_types_supported: ["authorization_code", "refresh_token", "client_credentials"],
    token_endpoint_auth_methods_supported: ["none"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  };

  const routes: Readonly<Record<string, (req: IncomingMessage, res: ServerResponse) => unknown>> = {
    "GET /.well-known/oauth-authorization-server": (_req, res) => sendJson(res, 200, metadata),
    "GET /jwks": (_req, res) => sendJson(res, 200, { keys: [jwk] }),
    "GET /authorize": async (req, res) =>
      show(res, await authorize.show(new URL(req.url!, issuer).searchParams)),
    "POST /authorize": async (req, res) => {
      // Another page must not decide in the person's name.
      if ((req.headers.origin ?? issuer) !== issuer) {
        throw new OAuthRefusal("invalid_request", "This form belongs to another page");
      }
      show(res, await authorize.decide(new URLSearchParams(await bodyOf(req))));
    },
    "POST /token": async (req, res) =>
      sendJson(res, 200, await grants.answer(new URLSearchParams(await bodyOf(req)))),
    "POST /revoke": async (req, res) => {
      grants.revoke(new URLSearchParams(await bodyOf(req)));
      res.writeHead(200, { "cache-control": "no-store" }).end();
    },
    "POST /register": async (req, res) => sendJson(res, 201, clients.register(parseJson(await bodyOf(req)))),
  };

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = req.url!.split("?", 1)[0]!;
    try {
      // A name that somebody else made lead here would let their pages read the answers.
      if (req.headers.host !== new URL(issuer).host) return sendJson(res, 403, { error: "forbidden" });
      const route = routes[`${req.method} ${path}`];
      if (route === undefined) return sendJson(res, 404, { error: "not_found" });
      await route(req, res);
    } catch (error) {
      sendFailure(res, path, error);
    }
  }

  return {
    issuer,
    jwk,
    sign,
    close() {
      listener.closeAllConnections();
      return new Promise((resolve) => listener.close(() => resolve()));
    },
  };
}
