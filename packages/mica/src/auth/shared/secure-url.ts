/**
 * Which URLs keys, tokens and secrets may travel to: https, or plain http within this machine
 * (authorization/security-considerations, Communication Security).
 */
import { isLoopback } from "../../http/guard.js";

/** Says why a URL is not secure enough; undefined where it is. */
export function insecurity(url: URL): string | undefined {
  if (url.protocol === "https:") return undefined;
  if (url.protocol === "http:" && isLoopback(url.hostname)) return undefined;
  return `it must be an https URL (http only for a loopback host), got ${JSON.stringify(url.href)}`;
}

/**
 * Reads a URL that credentials travel to.
 *
 * @throws TypeError naming `what`, where it is no absolute URL or not secure.
 * @example const endpoint = readSecureUrl("https://auth.example.com/token", "tokenEndpoint");
 */
export function readSecureUrl(value: unknown, what: string): URL {
  let url: URL;
  try {
    url = new URL(String(value));
  } catch {
    throw new TypeError(`${what} must be an absolute URL, got ${JSON.stringify(value)}`);
  }
  const problem = insecurity(url);
  if (problem !== undefined) throw new TypeError(`${what}: ${problem}`);
  return url;
}
