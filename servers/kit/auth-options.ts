/** The part of a command line that says whose access tokens are needed over HTTP. */
import { isLoopback, LOOPBACK, UsageError } from "./usage.js";

/** Whose access tokens are needed over HTTP. */
export interface AuthChoice {
  /** The URL of an authorization server, or `dev` for one of the command's own. */
  readonly issuer: string;
  /** What tokens must be made for. Default: the URL that is served. */
  readonly resource: string | undefined;
}

export const AUTH_HELP = `  --auth ISSUER        over HTTP, ask for access tokens of this authorization server; with
                       "dev", of one that is started along, for trying things out
  --resource URL       what those tokens are for (default: the URL that is served)
`;

export const AUTH_OPTIONS = { auth: { type: "string" }, resource: { type: "string" } } as const;

interface AuthValues {
  readonly auth?: string | undefined;
  readonly resource?: string | undefined;
}

/**
 * Reads `--auth` and `--resource`.
 *
 * @throws UsageError
 */
export function readAuth(
  exampleHost: string,
  http: { readonly host: string; readonly port: number } | undefined,
  { auth: issuer, resource }: AuthValues,
): AuthChoice | undefined {
  if (issuer === undefined) {
    if (resource !== undefined) throw new UsageError("--resource has no meaning without --auth");
    return undefined;
  }
  if (http === undefined) {
    throw new UsageError("--auth has no meaning without --http: over stdio the caller is whoever started it");
  }
  const { host, port } = http;
  if (issuer === "dev") {
    if (!isLoopback(host)) {
      throw new UsageError(
        `--auth dev lets everybody in, so it serves this machine alone: expected --http ${LOOPBACK}:${port}, got ${host}:${port}`,
      );
    }
  } else checkUrl("--auth", issuer, 'the URL of an authorization server, or "dev"', /[?#]/);
  if (resource !== undefined) checkUrl("--resource", resource, "the URL that clients call", /#/);
  else if (!isLoopback(host)) {
    throw new UsageError(
      `--http ${host}:${port} has another URL for clients: name it, with --resource https://${exampleHost}/mcp`,
    );
  }
  return { issuer, resource };
}

/** Tokens and keys travel to these: https, or http within this machine. */
function checkUrl(option: string, text: string, what: string, without: RegExp): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSecure = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
  if (url && isSecure && url.username === "" && url.password === "" && !without.test(text)) return;
  throw new UsageError(
    `${option} expects ${what} (https, or http on this machine), got ${JSON.stringify(text)}`,
  );
}
