/** Requests for metadata and to authorization servers: bounded in time and size, never redirected, and told of. */
import { AuthError, messageOf } from "./auth-error.js";
import type { AuthClientLimits } from "./limits.js";
import { followable } from "./reach.js";
import {
  type AuthRung,
  type AuthStep,
  type OnAuthStep,
  queryOf,
  receivedAnswer,
  type SentRequest,
  secretsOf,
  sentHeaders,
  withoutSecrets,
} from "./step.js";

/** What `oauth4webapi` hands to the fetch it is given. */
export interface FetchInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | URLSearchParams | null | undefined;
}

/** Resolves with an answer that has come whole, whatever its status. @throws AuthError */
export type AuthFetch = (url: string, init?: FetchInit) => Promise<Response>;

export interface AuthHttp {
  /** A fetch whose requests are told of as steps of one rung. */
  at(rung: AuthRung, about: string): AuthFetch;
  /** Tells of a step that is no request. */
  tell(step: AuthStep): void;
  /** The MCP server that it is all about. */
  readonly server: URL;
  readonly signal: AbortSignal;
  readonly limits: AuthClientLimits;
}

export interface AuthHttpOptions {
  readonly server: URL;
  readonly signal: AbortSignal;
  readonly limits: AuthClientLimits;
  readonly onStep: OnAuthStep | undefined;
}

export function authHttp({ server, signal, limits, onStep }: AuthHttpOptions): AuthHttp {
  const tell = (step: AuthStep) => {
    try {
      onStep?.(step);
    } catch {
      // Whoever looks on must not get in the way.
    }
  };

  async function send(given: string, init: FetchInit, note: (answer: Response, text: string) => void) {
    const url = followable(given, "the address of a request", server);
    const what = `${init.method ?? "GET"} ${url.origin}${url.pathname}`;
    const late = AbortSignal.timeout(limits.requestTimeoutMs);
    try {
      const answer = await fetch(url, {
        method: init.method ?? "GET",
        headers: { ...init.headers },
        ...(init.body !== undefined && { body: init.body }),
        redirect: "manual",
        signal: AbortSignal.any([signal, late]),
      });
      const text = await readText(answer, limits.maxDocumentBytes, what);
      note(answer, text);
      // Read whole: whoever judges it waits for nothing more.
      const body = [204, 205, 304].includes(answer.status) ? null : text;
      return new Response(body, { status: answer.status, headers: answer.headers });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AuthError) throw error;
      const why = late.aborted
        ? `took longer than ${limits.requestTimeoutMs} ms`
        : `failed: ${causeOf(error)}`;
      throw new AuthError("endpoint_failed", `${what} ${why}`, { cause: error });
    }
  }

  return {
    server,
    signal,
    limits,
    tell,
    at:
      (rung, about) =>
      async (url, init = {}) => {
        let answered: AuthStep["answered"];
        const sent = sentRequest(url, init);
        const secrets = secretsOf(init.headers, init.body instanceof URLSearchParams ? init.body : []);
        try {
          const answer = await send(url, init, (received, text) => {
            answered = receivedAnswer(received, text, secrets);
          });
          tell({ rung, about, sent, answered });
          return answer;
        } catch (error) {
          tell({ rung, about, sent, answered, problem: messageOf(error) });
          throw error;
        }
      },
  };
}

function sentRequest(url: string, { method = "GET", headers = {}, body }: FetchInit): SentRequest {
  const request = { method, url, headers: sentHeaders(headers) };
  if (body instanceof URLSearchParams)
    return { ...request, members: withoutSecrets(Object.fromEntries(body)) };
  if (typeof body === "string") return { ...request, members: withoutSecrets(JSON.parse(body)) };
  const members = URL.canParse(url) ? queryOf(new URL(url)) : {};
  return Object.keys(members).length === 0 ? request : { ...request, url: url.split("?", 1)[0]!, members };
}

async function readText(answer: Response, maxBytes: number, what: string): Promise<string> {
  const reader = answer.body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  let text = "";
  for (let size = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.byteLength;
    if (size > maxBytes) {
      await reader.cancel();
      throw new AuthError(
        "endpoint_failed",
        `${what} answered more than ${maxBytes} bytes (maxDocumentBytes)`,
      );
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** What `fetch` says is in the cause of its error. */
function causeOf(error: unknown): string {
  const { cause } = error as { cause?: { message?: string; code?: string } };
  return cause?.message || cause?.code || messageOf(error);
}

/** The JSON object of an answer; undefined where it is something else. */
export async function jsonObject(answer: Response): Promise<Record<string, unknown> | undefined> {
  try {
    const json: unknown = await answer.clone().json();
    return typeof json === "object" && json !== null && !Array.isArray(json)
      ? (json as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
