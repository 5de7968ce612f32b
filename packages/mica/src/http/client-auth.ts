/**
 * The seam between the client's HTTP and whoever has credentials for it: headers for every request, and a say when
 * the server challenges one (authorization, Access Token Usage; Error Handling). Nothing here knows what a token is.
 */
import { McpError } from "../protocol/errors.js";
import type { JSONObject } from "../protocol/types.js";
import { HttpStatusError } from "./status-error.js";

/** One request that wants credentials. It stays the same object when the request is sent again. */
export interface AuthorizedRequest {
  /** The MCP server as the caller named it: what credentials belong to. */
  readonly server: URL;
  /** Where this request goes; of the same origin. */
  readonly url: URL;
  readonly method: string;
  /** Aborts when the answer is of no use any more. */
  readonly signal?: AbortSignal | undefined;
  /** Stops the clock of the caller while a person is busy; what it returns starts it again. */
  readonly hold?: (() => () => void) | undefined;
}

export interface AuthChallenge {
  readonly status: 401 | 403;
  /** The header as it came; several challenges may stand in it. */
  readonly wwwAuthenticate: string | undefined;
}

/** Credentials for requests to MCP servers. `mica-mcp/auth/client` makes them. */
export interface HttpAuth {
  /** What to declare in the capabilities of every request: the extensions that this is. */
  readonly extensions?: Readonly<Record<string, JSONObject>> | undefined;
  /** Asked before every request, once more for each time that it is sent again. @throws McpError */
  authorize(request: AuthorizedRequest): Promise<Readonly<Record<string, string>>>;
  /** Told of the head of every answer. Must not throw. */
  onAnswer?(request: AuthorizedRequest, headers: Readonly<Record<string, unknown>>): void;
  /** Whether the credentials that went with a request have ended since, as far as clocks agree. */
  hasEnded?(request: AuthorizedRequest): boolean;
  /** The server refused the request without a look at it. Says whether to send it again. @throws McpError */
  onChallenge(request: AuthorizedRequest, challenge: AuthChallenge): Promise<boolean>;
}

/** Times that one request is sent at most, whatever `onChallenge` says. */
const MAX_SENDS = 8;
/** Those that may be set: credentials, and proofs that go with them. */
const ALLOWED = /^(authorization|dpop)$/i;

/**
 * Sends a request until it is answered, or nothing more can be done about the challenge.
 *
 * @param send Asks for credentials itself, with {@link credentialsFor}.
 * @throws what `send` throws, and what the credentials throw.
 */
export async function answeringChallenges<T>(
  auth: HttpAuth,
  request: AuthorizedRequest,
  send: () => Promise<T>,
): Promise<T> {
  for (let sends = 1; ; sends++) {
    try {
      return await send();
    } catch (error) {
      const challenge = challengeIn(error);
      if (challenge === undefined || sends >= MAX_SENDS) throw error;
      if (!(await auth.onChallenge(request, challenge))) throw error;
      request.signal?.throwIfAborted();
    }
  }
}

/** @throws TypeError where it gives headers that are none of its business. */
export async function credentialsFor(
  auth: HttpAuth,
  request: AuthorizedRequest,
): Promise<Readonly<Record<string, string>>> {
  const headers = await auth.authorize(request);
  for (const name of Object.keys(headers)) {
    if (!ALLOWED.test(name))
      throw new TypeError(`auth: expected authorization and dpop headers, got ${name}`);
  }
  return headers;
}

/** @throws TypeError where `headers` has what `auth` is there for, or `auth` is something else. */
export function checkAuth(auth: unknown, headers: Readonly<Record<string, string>> | undefined): void {
  if (auth === undefined) return;
  if (typeof (auth as Partial<HttpAuth> | null)?.authorize !== "function") {
    throw new TypeError("auth: expected what oauth() or another function of mica-mcp/auth/client returns");
  }
  const own = Object.keys(headers ?? {}).find((name) => ALLOWED.test(name));
  if (own !== undefined) throw new TypeError(`headers.${own}: auth sets this header; give one of the two`);
}

/** The challenge that a failure stands for; undefined where it is none. */
export function challengeIn(error: unknown): AuthChallenge | undefined {
  const cause = error instanceof McpError ? error.cause : undefined;
  if (!(cause instanceof HttpStatusError)) return undefined;
  const { status, wwwAuthenticate } = cause;
  if (status === 401) return { status, wwwAuthenticate };
  return status === 403 && wwwAuthenticate !== undefined ? { status, wwwAuthenticate } : undefined;
}
