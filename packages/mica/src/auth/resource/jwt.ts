/** Access tokens that are signed JWTs (RFC 9068, section 4), verified with the keys of their issuer. */
import type * as Jose from "jose";
import { readSecureUrl } from "../shared/secure-url.js";
import { type CachedKeys, issuerKeys, type KeyResolver } from "./keys.js";
import { type Claims, InvalidTokenError, type TokenVerifier, type VerifierContext } from "./verifier.js";

export interface JwtVerifierOptions {
  /** Signature algorithms that are accepted. Default: {@link DEFAULT_ALGORITHMS}; symmetric ones never are. */
  readonly algorithms?: readonly string[];
  /** Where the keys are, by issuer. Default: where the metadata of the issuer says. */
  readonly jwksUris?: Readonly<Record<string, string>>;
  /**
   * Whether `typ` must be `at+jwt`, as RFC 9068 demands. Default false: many servers issue access tokens as plain
   * `JWT`. ID tokens that can be told from access tokens are refused either way.
   */
  readonly requireAccessTokenType?: boolean;
}

export const DEFAULT_ALGORITHMS: readonly string[] = Object.freeze([
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
]);

const ACCESS_TOKEN_TYPE = /^(?:application\/)?at\+jwt$/i;
const PLAIN_TYPE = /^(?:application\/)?jwt$/i;

/**
 * Makes the verifier that is used where none is given. Keys come over HTTPS, are kept, and are fetched again when a
 * token names one that is not among them; see `limits`.
 *
 * @throws TypeError naming the option that is wrong.
 * @example protect(server, { resource, authorizationServers, verify: jwtVerifier({ algorithms: ["ES256"] }) });
 */
export function jwtVerifier(options: JwtVerifierOptions = {}): TokenVerifier {
  const { requireAccessTokenType = false } = options;
  const algorithms = readAlgorithms(options.algorithms);
  const jwksUris = new Map(Object.entries(options.jwksUris ?? {}));
  for (const [issuer, uri] of jwksUris) readSecureUrl(uri, `jwksUris[${JSON.stringify(issuer)}]`);
  const keysByIssuer = new Map<string, CachedKeys>();
  let jose: typeof Jose | undefined;

  function keysOf(issuer: string, { limits }: VerifierContext): CachedKeys {
    let keys = keysByIssuer.get(issuer);
    if (keys === undefined) {
      keys = issuerKeys(issuer, jwksUris.get(issuer), limits);
      keysByIssuer.set(issuer, keys);
    }
    return keys;
  }

  return async (token, context) => {
    jose ??= await import("jose");
    const { header, payload } = readUnverified(jose, token);
    checkHeader(header, algorithms, requireAccessTokenType);
    const issuer = payload.iss;
    if (issuer === undefined || !context.authorizationServers.includes(issuer)) {
      const expected = context.authorizationServers.join(" or ");
      throw new InvalidTokenError(`The access token is from another issuer: expected ${expected}`);
    }
    const claims = await verifySignature(jose, token, algorithms, keysOf(issuer, context));
    if (isIdToken(header, claims)) {
      throw new InvalidTokenError(
        "An ID token is no access token: it says who signed in, not what is allowed",
      );
    }
    return claims;
  };
}

function readAlgorithms(given: readonly string[] = DEFAULT_ALGORITHMS): string[] {
  for (const algorithm of given) {
    // With a symmetric algorithm, whoever can verify can issue; and public keys are known to all.
    if (DEFAULT_ALGORITHMS.includes(algorithm)) continue;
    throw new TypeError(
      `algorithms must be among ${DEFAULT_ALGORITHMS.join(", ")}, got ${JSON.stringify(algorithm)}`,
    );
  }
  if (given.length === 0) throw new TypeError("algorithms must name at least one");
  return [...given];
}

interface Unverified {
  readonly header: Jose.ProtectedHeaderParameters;
  readonly payload: Jose.JWTPayload;
}

function readUnverified(jose: typeof Jose, token: string): Unverified {
  try {
    return { header: jose.decodeProtectedHeader(token), payload: jose.decodeJwt(token) };
  } catch {
    throw new InvalidTokenError("The access token is not a signed JWT");
  }
}

function checkHeader(
  { alg, typ, crit }: Jose.ProtectedHeaderParameters,
  algorithms: readonly string[],
  strict: boolean,
): void {
  if (alg === undefined || !algorithms.includes(alg)) {
    throw new InvalidTokenError(
      `The access token is signed with an algorithm that is not accepted: expected ${algorithms.join(", ")}`,
    );
  }
  if (crit !== undefined)
    throw new InvalidTokenError("The access token has critical headers, which are unknown");
  const isAccessToken = typ !== undefined && ACCESS_TOKEN_TYPE.test(typ);
  if (isAccessToken || (!strict && (typ === undefined || PLAIN_TYPE.test(typ)))) return;
  throw new InvalidTokenError(`The token is of another type: expected at+jwt${strict ? "" : " or JWT"}`);
}

/** @throws InvalidTokenError where no key of the issuer made the signature; Error where its keys cannot be had. */
async function verifySignature(
  jose: typeof Jose,
  token: string,
  algorithms: string[],
  keys: CachedKeys,
): Promise<Claims> {
  const known = await keys.current();
  try {
    return await verifyWith(jose, token, algorithms, known);
  } catch (error) {
    if (!(error instanceof jose.errors.JWKSNoMatchingKey)) throw refusal(jose, error);
  }
  const newer = await keys.newerThan(known);
  if (newer === undefined) throw new InvalidTokenError("The access token is signed with an unknown key");
  try {
    return await verifyWith(jose, token, algorithms, newer);
  } catch (error) {
    throw refusal(jose, error);
  }
}

async function verifyWith(
  jose: typeof Jose,
  token: string,
  algorithms: string[],
  resolver: KeyResolver,
): Promise<Claims> {
  try {
    return claimsOf((await jose.compactVerify(token, resolver, { algorithms })).payload);
  } catch (error) {
    if (!(error instanceof jose.errors.JWKSMultipleMatchingKeys)) throw error;
    // Without a key id, any of several may be the one.
    for await (const key of error) {
      try {
        return claimsOf((await jose.compactVerify(token, key, { algorithms })).payload);
      } catch (inner) {
        if (!(inner instanceof jose.errors.JWSSignatureVerificationFailed)) throw inner;
      }
    }
    throw new jose.errors.JWSSignatureVerificationFailed();
  }
}

/** That it is an object was seen before the signature was. */
function claimsOf(payload: Uint8Array): Claims {
  return JSON.parse(new TextDecoder().decode(payload)) as Claims;
}

function refusal(jose: typeof Jose, error: unknown): unknown {
  if (error instanceof jose.errors.JWKSNoMatchingKey) {
    return new InvalidTokenError("The access token is signed with an unknown key");
  }
  if (error instanceof jose.errors.JOSEError) {
    return new InvalidTokenError("The signature of the access token is not valid");
  }
  return error;
}

/** Told by claims that only ID tokens have, and by the marks of widespread servers; never where `typ` says otherwise. */
function isIdToken({ typ }: Jose.ProtectedHeaderParameters, claims: Claims): boolean {
  if (typ !== undefined && ACCESS_TOKEN_TYPE.test(typ)) return false;
  if (["at_hash", "c_hash", "s_hash"].some((name) => Object.hasOwn(claims, name))) return true;
  if (claims["token_use"] === "id" || claims["typ"] === "ID") return true;
  const isScoped = claims["scope"] !== undefined || claims["scp"] !== undefined;
  return claims["nonce"] !== undefined && !isScoped;
}
