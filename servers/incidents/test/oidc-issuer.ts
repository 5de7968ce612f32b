/**
 * An authorization server that was written by others (oidc-provider), on loopback: a person who agrees to everything,
 * and clients without a person, of whom some get tokens that are wrong in one way each.
 */
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

/** What is wrong with the tokens of a client, by its name. All of them are signed by the issuer's own key. */
const FLAWS: Readonly<Record<string, (payload: Record<string, unknown>) => void>> = {
  script: () => {},
  expired: (payload) => {
    payload["exp"] = Number(payload["iat"]) - 60;
  },
  "no-expiry": (payload) => {
    delete payload["exp"];
  },
  "other-issuer": (payload) => {
    payload["iss"] = "https://auth.example.com";
  },
};
const SECRET = "a secret of enough length";

export interface OidcIssuer {
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly kid: string;
  /** Seconds that access tokens last that are issued from now on. */
  lifetime: number;
  /** Milliseconds that the token endpoint takes. */
  delayMs: number;
  /** Grant types of requests for tokens, in order, with the error of each that was refused. */
  readonly asked: { readonly grant: string; readonly error: string | undefined }[];
  /** Scopes that the person has agreed to, one entry for each time. */
  readonly consents: string[];
  /** A token of a client without a person. @param client one of {@link FLAWS} */
  token(client: string, scope: string, resource: string): Promise<string>;
  close(): Promise<void>;
}

export async function oidcIssuer(): Promise<OidcIssuer> {
  let serve: (request: IncomingMessage, response: ServerResponse) => void = () => {};
  const listener = http.createServer((request, response) => serve(request, response));
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const kid = "the only one";

  const made: OidcIssuer = {
    issuer,
    publicKey,
    kid,
    lifetime: 3600,
    delayMs: 0,
    asked: [],
    consents: [],
    async token(client, scope, resource) {
      const response = await fetch(`${issuer}/token`, {
        method: "POST",
        headers: { authorization: `Basic ${btoa(`${client}:${encodeURIComponent(SECRET)}`)}` },
        body: new URLSearchParams({ grant_type: "client_credentials", scope, resource }),
      });
      const { access_token: token } = (await response.json()) as { access_token?: string };
      if (token === undefined) throw new Error(`no token: HTTP ${response.status}`);
      return token;
    },
    close() {
      listener.closeAllConnections();
      return new Promise((resolve) => listener.close(() => resolve()));
    },
  };

  const provider = new Provider(issuer, {
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), alg: "ES256", use: "sig", kid }] },
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    scopes: ["openid", "offline_access"],
    clients: Object.keys(FLAWS).map((client) => ({
      client_id: client,
      client_secret: SECRET,
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
    })),
    cookies: { keys: ["k"] },
    findAccount: (_ctx: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    interactions: { url: (_ctx: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    rotateRefreshToken: true,
    // People are of one tenant; every client without one is its own.
    extraTokenClaims: (_ctx: unknown, { accountId }: { accountId?: string }) =>
      accountId === undefined ? {} : { tenant: "acme" },
    formats: {
      customizers: {
        jwt: (_ctx: unknown, { clientId }: { clientId: string }, jwt: { payload: Record<string, unknown> }) =>
          FLAWS[clientId]?.(jwt.payload),
      },
    },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx: unknown, indicator: string) => ({
          scope: "incidents:read incidents:write",
          audience: indicator,
          accessTokenFormat: "jwt",
          accessTokenTTL: made.lifetime,
          jwt: { sign: { alg: "ES256" } },
        }),
      },
    },
  });
  type Context = { oidc: { params?: { grant_type?: string } } };
  const note = (ctx: unknown, error?: unknown): void => {
    const grant = String((ctx as Context).oidc.params?.grant_type);
    made.asked.push({ grant, error: (error as { error?: string } | undefined)?.error });
  };
  provider.on("grant.success", (ctx) => note(ctx)).on("grant.error", note);

  /** What its pages would do when a person clicks through them. */
  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prompt, params, session } = await provider.interactionDetails(request, response);
    if (prompt.name === "login") {
      return provider.interactionFinished(request, response, { login: { accountId: "me" } });
    }
    const grant = new provider.Grant({
      accountId: session!.accountId,
      clientId: String(params["client_id"]),
    });
    const scope = String(params["scope"] ?? "");
    made.consents.push(scope);
    grant.addOIDCScope(scope);
    grant.addResourceScope(String(params["resource"]), scope);
    return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
  }
  const callback = provider.callback();
  serve = (request, response) => {
    if (request.url!.startsWith("/interaction/")) void interact(request, response);
    else if (request.url === "/token") setTimeout(callback, made.delayMs, request, response);
    else callback(request, response);
  };
  return made;
}
