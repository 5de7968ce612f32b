/** What may be shown of what is kept: everything but the tokens. */
import { type Grant, grantedScopes } from "./grant.js";

export interface Account {
  readonly resource: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Whether there is a token, good or over. */
  readonly isSignedIn: boolean;
  readonly tokenType: "Bearer" | "DPoP" | undefined;
  /** When the access token ends, in milliseconds since the epoch; undefined where the server did not say. */
  readonly expiresAt: number | undefined;
  /** Whether it can be replaced without a person. */
  readonly isRefreshable: boolean;
  /** What the issuer says of the person: for display, never for decisions. */
  readonly identity: Readonly<Record<string, string>> | undefined;
}

export function accountOf(grant: Grant): Account {
  const { resource, issuer, client, tokens, identity } = grant;
  return {
    resource,
    issuer,
    clientId: client.clientId,
    scopes: grantedScopes(grant),
    isSignedIn: tokens !== undefined,
    tokenType: tokens?.tokenType,
    expiresAt: tokens?.expiresAt,
    isRefreshable: tokens?.refreshToken !== undefined,
    identity,
  };
}
