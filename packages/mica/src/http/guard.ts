/**
 * Who may talk to the server, judged by `Host` and `Origin` (transports/streamable-http, Security & Endpoint):
 * a page in a browser must not reach a local server, by DNS rebinding or otherwise. Pure.
 */

/** Both checks are on unless these options open them. */
export interface GuardOptions {
  /**
   * The hosts that requests may name: `"mcp.example.com"` with any port, `"mcp.example.com:8443"` with that one.
   * Default: `localhost`, `127.0.0.1` and `[::1]`. `"any"` turns the check off, for a server that authenticates
   * every request or sits behind a proxy that checks.
   */
  readonly allowedHosts?: readonly string[] | "any" | undefined;
  /**
   * Origins of pages that may call the server, such as `"https://app.example.com"`; besides these, pages served
   * from loopback may, where only loopback hosts are allowed. Default: none. `"any"` accepts all but `null`.
   */
  readonly allowedOrigins?: readonly string[] | "any" | undefined;
}

/**
 * Says why a request is refused, in a sentence that names the option which allows it; undefined admits it.
 * Takes every name by which the request addresses the server: all of them must be allowed.
 */
export type Guard = (hosts: readonly string[], origin: string | undefined) => string | undefined;

export const LOOPBACK_HOSTS: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** A name or address with an optional port; nothing else may stand in `Host`, user names least of all. */
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/;
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@\\,]+$/;
const LOOPBACK_ORIGIN = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;

/**
 * Makes the guard of a server.
 *
 * @throws TypeError naming the option that holds something else than hosts or origins.
 * @example const refusal = createGuard({ allowedHosts: ["mcp.example.com"] })(["mcp.example.com"], undefined);
 */
export function createGuard(options: GuardOptions): Guard {
  const hosts = readList("allowedHosts", options.allowedHosts ?? LOOPBACK_HOSTS, HOST, "mcp.example.com");
  const origins = readList("allowedOrigins", options.allowedOrigins ?? [], ORIGIN, "https://app.example.com");
  const onLoopback = hosts !== undefined && [...hosts].every((host) => isLoopback(nameOf(host)!));
  let lastAdmitted: string | undefined;

  function refuseHost(given: string): string | undefined {
    // A server hears the same few names all day.
    if (given === lastAdmitted || !hosts) return undefined;
    const host = given.toLowerCase();
    const name = nameOf(host);
    if (name === undefined) return `Host ${quote(given)} is not a host name with an optional port`;
    if (!hosts.has(host) && !hosts.has(name)) {
      return `Host ${quote(given)} is not allowed: expected ${[...hosts].join(", ")}. The server's option allowedHosts names the hosts it accepts`;
    }
    lastAdmitted = given;
    return undefined;
  }

  function refuseOrigin(given: string): string | undefined {
    const origin = given.toLowerCase();
    if (ORIGIN.test(origin)) {
      if (!origins || origins.has(origin)) return undefined;
      if (onLoopback && LOOPBACK_ORIGIN.test(origin)) return undefined;
    }
    return `Origin ${quote(given)} is not allowed: the server's option allowedOrigins names the pages that may call it`;
  }

  return (given, origin) => {
    if (given.length === 0 && hosts) return "The request names no Host";
    for (const host of given) {
      const refusal = refuseHost(host);
      if (refusal !== undefined) return refusal;
    }
    return origin === undefined ? undefined : refuseOrigin(origin);
  };
}

/** Whether an address to listen on is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
}

function nameOf(host: string): string | undefined {
  return HOST.exec(host)?.[1];
}

function readList(
  option: string,
  given: readonly string[] | "any",
  form: RegExp,
  example: string,
): Set<string> | undefined {
  if (given === "any") return undefined;
  if (!Array.isArray(given)) throw new TypeError(`${option} must be a list or "any", got ${quote(given)}`);
  return new Set(
    given.map((entry: unknown) => {
      const text = String(entry).toLowerCase();
      if (form.test(text)) return text;
      throw new TypeError(`${option} must hold entries like ${quote(example)}, got ${quote(entry)}`);
    }),
  );
}

function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 120 ? `${text.slice(0, 117)}..."` : text;
}
