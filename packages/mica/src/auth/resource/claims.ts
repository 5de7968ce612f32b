/**
 * The judgement of claims, whoever verified the token: audience and expiry are always required
 * (authorization, Token Handling; security-considerations, Access Token Privilege Restriction). Pure.
 */
import { grantedScopes } from "../shared/scopes.js";
import { type Claims, InvalidTokenError } from "./verifier.js";

/** What a token has to be for. */
export interface Expected {
  /** Any of them will do. */
  readonly audiences: readonly string[];
  readonly authorizationServers: readonly string[];
  readonly clockToleranceMs: number;
}

export interface Judged {
  readonly principal: string;
  readonly scopes: string[];
  /** Milliseconds since the epoch from which it is refused. */
  readonly expiresAt: number;
}

/** @throws InvalidTokenError saying what is wrong, in words for the client. */
export function judgeClaims(claims: Claims, expected: Expected): Judged {
  judgeAudience(claims["aud"], expected.audiences);
  judgeBinding(claims["cnf"]);
  const expiresAt = judgeTimes(claims, expected.clockToleranceMs);
  const issuer = judgeIssuer(claims["iss"], expected.authorizationServers);
  return { principal: principalOf(claims, issuer), scopes: grantedScopes(claims), expiresAt };
}

function judgeAudience(aud: unknown, audiences: readonly string[]): void {
  const given = Array.isArray(aud) ? (aud as unknown[]) : [aud];
  const named = given.filter((one): one is string => typeof one === "string");
  if (named.length === 0) throw new InvalidTokenError("The access token names no audience");
  if (named.some((one) => audiences.some((audience) => sameIdentifier(one, audience)))) return;
  throw new InvalidTokenError(
    `The access token is meant for another audience: expected ${audiences.join(" or ")}`,
  );
}

/**
 * Strings, compared as they are: no slash is added, no port left out. Only scheme and host are compared without
 * case (authorization, Canonical Server URI).
 */
function sameIdentifier(one: string, other: string): boolean {
  return one === other || lowerAuthority(one) === lowerAuthority(other);
}

function lowerAuthority(identifier: string): string {
  return identifier.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, (head) => head.toLowerCase());
}

/**
 * A token that is bound to a key is good with a proof of it only. As a bearer token, nobody but a thief has a use for
 * it (RFC 9449, section 7.2).
 */
function judgeBinding(cnf: unknown): void {
  if (typeof cnf !== "object" || cnf === null || (cnf as { jkt?: unknown }).jkt === undefined) return;
  throw new InvalidTokenError(
    "The access token is bound to a key (DPoP), of which this server takes no proof",
  );
}

function judgeTimes({ exp, nbf }: Claims, toleranceMs: number): number {
  const now = Date.now();
  if (!isNumber(exp)) throw new InvalidTokenError("The access token names no expiry");
  // As a whole number that JSON has: it may be kept with a task.
  const expiresAt = Math.min(Math.ceil(exp * 1000) + toleranceMs, Number.MAX_SAFE_INTEGER);
  if (now >= expiresAt) throw new InvalidTokenError("The access token has expired");
  if (nbf === undefined) return expiresAt;
  if (!isNumber(nbf) || now < nbf * 1000 - toleranceMs) {
    throw new InvalidTokenError("The access token is not valid yet");
  }
  return expiresAt;
}

function judgeIssuer(iss: unknown, authorizationServers: readonly string[]): string {
  // A function of the author's own, or an introspection, may know of one issuer only and not name it.
  const issuer = iss === undefined && authorizationServers.length === 1 ? authorizationServers[0] : iss;
  if (typeof issuer !== "string") throw new InvalidTokenError("The access token names no issuer");
  if (authorizationServers.includes(issuer)) return issuer;
  throw new InvalidTokenError(
    `The access token is from another issuer: expected ${authorizationServers.join(" or ")}`,
  );
}

/**
 * Issuer and subject: a subject is unique within its issuer alone. A token of a client without a user may name only
 * the client, which must never be taken for a user of that name; issuers have neither query nor fragment.
 */
function principalOf(claims: Claims, issuer: string): string {
  const { sub } = claims;
  if (isText(sub)) return `${issuer}#${sub}`;
  const client = claims["client_id"] ?? claims["azp"];
  if (isText(client)) return `${issuer}?client_id=${client}`;
  throw new InvalidTokenError("The access token names neither a subject nor a client");
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
