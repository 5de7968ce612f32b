/**
 * Where a server may send a client: metadata names URLs, and one that names an address within the client's own network
 * makes the client knock there. A server may only name what is as public as itself, or more.
 */
import { isLoopback } from "../../http/guard.js";
import { readSecureUrl } from "../shared/secure-url.js";
import { AuthError, messageOf } from "./auth-error.js";

/**
 * From the most private to the most public. Names are public, unless they are reserved for within a network: what they
 * resolve to is not looked at.
 */
const LOOPBACK = 0;
const LINK_LOCAL = 1;
const PRIVATE = 2;
const PUBLIC = 3;

/** Names without a dot, and those of RFC 6762 (`local`), RFC 8375 (`home.arpa`) and of ICANN (`internal`). */
const RESERVED_NAME = /^[^.:]+\.?$|\.(?:local|internal|home\.arpa)\.?$/;

/** How public a host is, by its address or by a name that is reserved. */
export function publicity(hostname: string): number {
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  if (isLoopback(host) || /(^|\.)localhost\.?$/.test(host)) return LOOPBACK;
  const mapped = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(host);
  if (mapped) {
    const high = Number.parseInt(mapped[1]!, 16);
    const low = Number.parseInt(mapped[2]!, 16);
    return publicity(`${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`);
  }
  if (host === "::") return LOOPBACK;
  if (/^\d+(\.\d+){3}$/.test(host)) return publicityOfV4(host);
  if (/^fe[89ab][\da-f]:/.test(host)) return LINK_LOCAL;
  if (RESERVED_NAME.test(host)) return PRIVATE;
  return /^f[cd][\da-f]{2}:/.test(host) ? PRIVATE : PUBLIC;
}

function publicityOfV4(address: string): number {
  if (/^0\./.test(address)) return LOOPBACK;
  if (/^169\.254\./.test(address)) return LINK_LOCAL;
  const isPrivate = /^(10|192\.168|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./.test(
    address,
  );
  return isPrivate ? PRIVATE : PUBLIC;
}

/**
 * Reads a URL that a server, or metadata that it named, sends the client to.
 *
 * @param server The MCP server.
 * @throws AuthError `forbidden_url` where it is not secure, or less public than the server.
 */
export function followable(value: unknown, what: string, server: URL): URL {
  let url: URL;
  try {
    url = readSecureUrl(value, what);
  } catch (error) {
    throw new AuthError("forbidden_url", messageOf(error), { cause: error });
  }
  if (publicity(url.hostname) < publicity(server.hostname)) {
    throw new AuthError(
      "forbidden_url",
      `${what} is ${url.origin}, which is not followed: ${server.origin} may not send a client into a network that is less public than its own`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new AuthError(
      "forbidden_url",
      `${what} is ${url.origin} with a user name in it, which is not followed`,
    );
  }
  return url;
}
