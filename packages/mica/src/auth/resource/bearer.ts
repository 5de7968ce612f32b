/** The access token of a request (RFC 6750, section 2.1): in the `Authorization` header, once, and nowhere else. Pure. */

/** At most one member is there: a token, what is wrong with the request, or nothing where it has no such credentials. */
export interface Presented {
  readonly token?: string;
  readonly problem?: string;
}

/** The scheme in any case, then spaces, then `b64token`. */
const BEARER = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i;
/** Several headers may come joined by commas. */
const BEARER_SCHEME = /(?:^|,[ \t]*)Bearer(?:[ \t,]|$)/i;

/**
 * Reads the token of a request.
 *
 * @param authorization Every value of the header.
 * @param target Path and query, or a whole URL.
 */
export function readBearer(authorization: readonly string[], target: string, maxBytes: number): Presented {
  // "Access tokens MUST NOT be included in the URI query string": they end up in logs and histories.
  if (hasTokenInQuery(target)) {
    return { problem: "Access tokens belong in the Authorization header, not in the query of the URL" };
  }
  if (authorization.length > 1) return { problem: "The request has more than one Authorization header" };
  const value = authorization[0]?.trim();
  // Another scheme is like no credentials at all (RFC 6750, section 3.1).
  if (value === undefined || !BEARER_SCHEME.test(value)) return {};
  const token = BEARER.exec(value)?.[1];
  if (token === undefined) {
    return { problem: "The Authorization header must be the word Bearer, a space and one token" };
  }
  if (token.length > maxBytes) return { problem: `The access token is longer than ${maxBytes} bytes` };
  return { token };
}

function hasTokenInQuery(target: string): boolean {
  const start = target.indexOf("?");
  return start >= 0 && new URLSearchParams(target.slice(start).replace(/#.*$/s, "")).has("access_token");
}
