/** What is kept of one server: for which resource, from which issuer, to which client, and the tokens themselves. */
import { uniteScopes } from "../shared/scopes.js";
import { AuthError } from "./auth-error.js";
import type { DpopJwk } from "./dpop.js";
import type { ClientSource, KnownClient } from "./known-client.js";
import type { AuthClientLimits } from "./limits.js";
import type { Tokens } from "./token-endpoint.js";

/** To whom tokens were issued. Of a client that was registered, all that it takes to use them. */
export interface GrantClient {
  readonly source: ClientSource;
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  readonly method?: string | undefined;
}

export interface GrantTokens {
  readonly accessToken: string;
  readonly tokenType: "Bearer" | "DPoP";
  /** Milliseconds since the epoch. */
  readonly issuedAt: number;
  readonly expiresAt?: number | undefined;
  readonly refreshToken?: string | undefined;
  /** Where the server said so; otherwise they are those that were asked for. */
  readonly scopes?: readonly string[] | undefined;
}

export interface Grant {
  readonly resource: string;
  readonly issuer: string;
  readonly client: GrantClient;
  /** What was asked for. */
  readonly requested: readonly string[];
  /** What is to be asked for besides, the next time that a person is there. */
  readonly wanted?: readonly string[] | undefined;
  /** Undefined where they are over, and a person has to sign in again. */
  readonly tokens?: GrantTokens | undefined;
  readonly dpop?: DpopJwk | undefined;
  /** What the issuer said of who signed in: for display, never for decisions. */
  readonly identity?: Readonly<Record<string, string>> | undefined;
}

/** The key of a server's grant: by the whole URL, so that nothing is shared between two. */
export const grantKey = (server: URL): string => `grant ${server.origin}${server.pathname}${server.search}`;

/** @throws AuthError `store_failed` where it is none. */
export function readGrant(value: Readonly<Record<string, unknown>>): Grant {
  const { resource, issuer, client, requested, tokens } = value as unknown as Grant;
  const isGrant =
    typeof resource === "string" &&
    typeof issuer === "string" &&
    typeof client?.clientId === "string" &&
    Array.isArray(requested) &&
    (tokens === undefined || typeof tokens.accessToken === "string");
  if (isGrant) return value as unknown as Grant;
  throw new AuthError(
    "store_failed",
    "The credentials that are kept for this server cannot be read: sign out and in again",
  );
}

export function storedGrant(grant: Grant): Readonly<Record<string, unknown>> {
  return { ...grant };
}

export function grantTokens(tokens: Tokens, now = Date.now()): GrantTokens {
  const { accessToken, tokenType, expiresAt, refreshToken, scopes } = tokens;
  return { accessToken, tokenType, issuedAt: now, expiresAt, refreshToken, scopes };
}

export function grantClient({ source, clientId }: KnownClient): GrantClient {
  return { source, clientId };
}

/** The scopes that the tokens have, as far as it is known. */
export function grantedScopes({ tokens, requested }: Grant): readonly string[] {
  return tokens?.scopes ?? requested;
}

/** All that was ever asked for or granted: what must not be lost (Step-Up Authorization Flow). */
export function knownScopes(grant: Grant): readonly string[] {
  return uniteScopes(grant.requested, grant.wanted ?? [], grant.tokens?.scopes ?? []);
}

/** Whether a token is about to end: time to replace it before a server has to say so. */
export function isDue(
  { issuedAt, expiresAt }: GrantTokens,
  { expiryMarginMs }: AuthClientLimits,
  now = Date.now(),
): boolean {
  if (expiresAt === undefined) return false;
  return now >= expiresAt - Math.min(expiryMarginMs, (expiresAt - issuedAt) / 10);
}

export function isOver({ expiresAt }: GrantTokens, now = Date.now()): boolean {
  return expiresAt !== undefined && now >= expiresAt;
}

export function holds(granted: readonly string[], needed: readonly string[]): boolean {
  return needed.every((scope) => granted.includes(scope));
}
