/** Tokens for a refresh token, of the issuer that gave it, and as the client that it was given to. */
import * as oauth from "oauth4webapi";
import type { ClientAuthentication } from "../shared/client-authentication.js";
import { AuthError } from "./auth-error.js";
import { type ClientOptions, documentClient, preregisteredFor } from "./client-options.js";
import { loadDpopKey } from "./dpop.js";
import { type Grant, grantTokens } from "./grant.js";
import type { RenewalContext } from "./grant-source.js";
import { type KnownClient, knownClient } from "./known-client.js";
import { forgetClient } from "./registration.js";
import type { ServerMetadata } from "./server-metadata.js";
import { requestTokens } from "./token-endpoint.js";

/** What a server says where a person has to sign in again (RFC 6749, section 5.2). */
const OVER = new Set(["invalid_grant", "invalid_client", "unauthorized_client"]);

/**
 * @returns Undefined where a person has to sign in.
 * @throws AuthError where the server cannot say for now.
 */
export async function refreshGrant(
  grant: Grant,
  { http, store, nonces, metadata: cache }: RenewalContext,
  options: ClientOptions,
): Promise<Grant | undefined> {
  const refreshToken = grant.tokens?.refreshToken;
  if (refreshToken === undefined) return undefined;
  const metadata = await cache.of(http, grant.issuer);
  const client = clientOf(grant, metadata, options);
  if (client === undefined) return undefined;
  try {
    const tokens = await requestTokens({
      http,
      metadata,
      client,
      dpop: grant.dpop && (await loadDpopKey(grant.dpop)),
      nonces,
      rung: "refresh",
      about: "the refresh token for new ones",
      send: ({ as, client, prove, options }) =>
        oauth.refreshTokenGrantRequest(as, client, prove, refreshToken, {
          ...options,
          additionalParameters: { resource: grant.resource },
        }),
    });
    const kept = {
      refreshToken: tokens.refreshToken ?? refreshToken,
      scopes: tokens.scopes ?? grant.tokens?.scopes,
    };
    return { ...grant, tokens: { ...grantTokens(tokens), ...kept } };
  } catch (error) {
    const { oauthError } = error as Partial<AuthError>;
    if (!(error instanceof AuthError) || oauthError === undefined || !OVER.has(oauthError)) throw error;
    if (oauthError === "invalid_client" && grant.client.source === "registered") {
      await forgetClient(store, grant.issuer, grant.client.clientId);
    }
    return undefined;
  }
}

/** Undefined where the options do not name that client any more. */
export function clientOf(
  { client: { source, clientId, clientSecret, method }, issuer }: Grant,
  metadata: ServerMetadata,
  options: ClientOptions,
): KnownClient | undefined {
  const secret = clientSecret === undefined ? {} : { clientSecret };
  const given: ClientAuthentication | undefined = {
    preregistered: () => preregisteredFor(options.preregistered, issuer),
    metadata_document: () => (options.document === undefined ? undefined : documentClient(options.document)),
    registered: () => ({ clientId, ...secret }),
  }[source]();
  return given?.clientId === clientId ? knownClient(given, source, { metadata, method }) : undefined;
}
