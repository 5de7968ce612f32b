/** The client side of Streamable HTTP: one exchange is one POST (transports/streamable-http). */
import type { Agent, IncomingHttpHeaders } from "node:http";
import { cancellationOf, throwIfCancelled } from "../cancellation.js";
import { McpError } from "../protocol/errors.js";
import { InFlightSet } from "../protocol/in-flight.js";
import { DEFAULT_MAX_DEPTH, encodeMessage } from "../protocol/jsonrpc.js";
import { METHODS } from "../protocol/methods.js";
import type { JSONRPCRequest, JSONRPCResponse } from "../protocol/types.js";
import type { ClientExchangeOptions, ClientTransport } from "../transport.js";
import {
  type AuthorizedRequest,
  answeringChallenges,
  checkAuth,
  credentialsFor,
  type HttpAuth,
} from "./client-auth.js";
import { requestHeaders } from "./headers.js";
import { type Binding, bind, post, StaleConnectionError } from "./post.js";

export interface HttpClientLimits {
  /** Bytes of one JSON answer, and length of one event of a stream. */
  maxResponseBytes: number;
  /** Levels of nesting of one message. */
  maxDepth: number;
  /** Milliseconds after which an unused connection is closed. */
  idleSocketMs: number;
}

export const DEFAULT_HTTP_CLIENT_LIMITS: Readonly<HttpClientLimits> = {
  /** 16 MiB: room for an image or a document in base64. */
  maxResponseBytes: 16 * 1024 * 1024,
  maxDepth: DEFAULT_MAX_DEPTH,
  /** 4 s: less than servers commonly wait, so that a request rarely meets a connection that is being closed. */
  idleSocketMs: 4_000,
};

export type HttpHeaders = Record<string, string>;

export interface HttpTransportOptions {
  /**
   * Further headers, `Authorization` for example; a function is asked before every request. Headers that the
   * protocol sets cannot be given.
   */
  headers?: HttpHeaders | (() => HttpHeaders | Promise<HttpHeaders>) | undefined;
  /** Credentials, and what to do when the server asks for others: see `mica-mcp/auth/client`. */
  auth?: HttpAuth | undefined;
  /** An agent of `node:http` or `node:https` in place of the transport's own; it is not destroyed on close. */
  agent?: Agent | undefined;
  /** Overrides of {@link DEFAULT_HTTP_CLIENT_LIMITS}. */
  limits?: Partial<HttpClientLimits> | undefined;
}

const OWN_HEADERS: Readonly<HttpHeaders> = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "accept-encoding": "identity",
};
/** What the protocol, or HTTP itself, sets on every request. */
const RESERVED =
  /^(accept|accept-encoding|connection|content-.*|expect|host|mcp-.*|transfer-encoding|upgrade)$/i;

/**
 * Makes a transport to an MCP endpoint. It connects at the first exchange, and keeps connections alive.
 * Redirects are not followed, so that credentials go nowhere else.
 *
 * @throws TypeError where the URL is none of http or https, or a header is one that the protocol sets.
 * @example const transport = httpTransport("https://example.com/mcp", { headers: { authorization: "Bearer abc" } });
 */
export function httpTransport(url: string | URL, options: HttpTransportOptions = {}): ClientTransport {
  const target = readUrl(url);
  // Without user, password and query, which may be secrets.
  const endpoint = `${target.origin}${target.pathname}`;
  const limits = readLimits(options.limits);
  const { auth } = options;
  if (typeof options.headers !== "function") checkHeaders(options.headers);
  checkAuth(auth, typeof options.headers === "function" ? undefined : options.headers);
  const running = new InFlightSet<(reason: unknown) => void>();
  let binding: Promise<Binding> | undefined;
  let closed = false;

  const closedError = () => new McpError("closed", `The transport to ${endpoint} is closed`);

  return {
    mirrorsArguments: true,
    reconnects: true,
    async exchange(request, exchangeOptions = {}) {
      if (closed) throw closedError();
      const { onNotification, mirrored } = exchangeOptions;
      const cancellation = cancellationOf(exchangeOptions);
      const body = encodeMessage(request);
      const authorized = auth && authorizedRequest(target, exchangeOptions);

      async function send(fresh: boolean): Promise<JSONRPCResponse> {
        const given =
          typeof options.headers === "function" ? checkHeaders(await options.headers()) : options.headers;
        // Asked anew whenever the request is sent: a proof is good for one time.
        const credentials = auth && authorized && (await credentialsFor(auth, authorized));
        binding ??= bind(target, options.agent, limits.idleSocketMs);
        const bound = await binding;
        if (closed) throw closedError();
        throwIfCancelled(cancellation);
        const message = {
          headers: {
            ...given,
            ...credentials,
            ...OWN_HEADERS,
            "content-length": Buffer.byteLength(body),
            ...requestHeaders(request, mirrored),
          },
          body,
          cancellation,
          onHead:
            authorized &&
            auth?.onAnswer &&
            ((headers: IncomingHttpHeaders) => auth.onAnswer?.(authorized, headers)),
          context: { request, endpoint, onNotification, ...limits },
        };
        return post(bound, message, running, fresh);
      }

      async function sendOverLivingConnection(): Promise<JSONRPCResponse> {
        try {
          return await send(false);
        } catch (error) {
          if (!(error instanceof StaleConnectionError)) throw error;
          if (!isRepeatable(request) || closed || cancellation?.isCancelled) throw error.seen;
          return send(true);
        }
      }

      if (auth === undefined || authorized === undefined) return sendOverLivingConnection();
      const response = await answeringChallenges(auth, authorized, sendOverLivingConnection);
      // It was open for as long as the credentials were good: with others it can go on.
      if (request.method !== "subscriptions/listen" || !auth.hasEnded?.(authorized)) return response;
      throw new McpError("connection_lost", `${endpoint}: the subscription ended with the access token`);
    },
    async close() {
      closed = true;
      for (const end of running) end(closedError());
      if (options.agent === undefined) (await binding)?.agent.destroy();
    },
  };
}

function authorizedRequest(server: URL, { signal, hold }: ClientExchangeOptions): AuthorizedRequest {
  return { server, url: server, method: "POST", signal, hold };
}

/** Whether a request may be sent twice: it changes nothing, and answers no question. */
function isRepeatable({ method, params = {} }: JSONRPCRequest): boolean {
  if (!METHODS.has(method) || method === "tools/call") return false;
  return params["inputResponses"] === undefined && params["requestState"] === undefined;
}

export function readUrl(url: string | URL): URL {
  const given = String(url);
  const target = URL.canParse(given) ? new URL(given) : undefined;
  if (target?.protocol === "http:" || target?.protocol === "https:") {
    target.hash = "";
    return target;
  }
  throw new TypeError(`url: expected an http or https URL, got ${JSON.stringify(given)}`);
}

export function checkHeaders(headers: HttpHeaders | undefined): HttpHeaders | undefined {
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (RESERVED.test(name)) throw new TypeError(`headers.${name}: the protocol sets this header itself`);
    // The value may be a secret, and stays out of the message.
    if (typeof value !== "string")
      throw new TypeError(`headers.${name}: expected a string, got ${typeof value}`);
  }
  return headers;
}

export function readLimits(overrides: Partial<HttpClientLimits> | undefined): HttpClientLimits {
  const limits = { ...DEFAULT_HTTP_CLIENT_LIMITS };
  for (const name of Object.keys(limits) as (keyof HttpClientLimits)[]) {
    const value = overrides?.[name];
    if (value === undefined) continue;
    if (!Number.isSafeInteger(value) || value <= 0) {
      throw new TypeError(`limits.${name}: expected a positive integer, got ${String(value)}`);
    }
    limits[name] = value;
  }
  return limits;
}
