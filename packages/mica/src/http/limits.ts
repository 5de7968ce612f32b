/** Every limit of the HTTP server side, with its value, unit and reason. */
import { DEFAULT_MAX_DEPTH } from "../protocol/jsonrpc.js";

/** What a server over HTTP puts up with. Times are in milliseconds, sizes in bytes. */
export interface HttpLimits {
  /** Largest request body; a larger one is answered 413 and its connection closed. */
  readonly maxBodyBytes: number;
  /** Deepest nesting of a request, in levels. */
  readonly maxDepth: number;
  /** Requests served at once, open subscriptions included; one more is answered 503. */
  readonly maxInFlight: number;
  /** What may wait for a slow reader of one event stream; with more waiting, the stream is destroyed. */
  readonly maxBufferedBytes: number;
  /** How often a quiet event stream carries a comment, so that nobody on the way closes it. */
  readonly keepAliveMs: number;
  /** How long a client may leave the rest of a finished answer unread. On node:http; elsewhere the runtime decides. */
  readonly unreadTimeoutMs: number;
}

/** Limits of {@link serveHttp} alone: those of the sockets that it owns. */
export interface HttpServerLimits extends HttpLimits {
  /** How long `close` lets requests in flight finish before it cuts them off. */
  readonly drainMs: number;
  /** How long a client may take to send the headers of a request. */
  readonly headersTimeoutMs: number;
  /** How long a client may take to send a whole request. Says nothing about how long an answer may take. */
  readonly requestTimeoutMs: number;
  /** How long a connection may rest between two requests. */
  readonly idleTimeoutMs: number;
}

export const DEFAULT_HTTP_LIMITS: Readonly<HttpServerLimits> = {
  /** 4 MiB: room for an image or a long document in arguments, and cheap to hold. */
  maxBodyBytes: 4 * 1024 * 1024,
  /** 128: enough for any schema, too little to exhaust a stack. */
  maxDepth: DEFAULT_MAX_DEPTH,
  /** 20,000: ten thousand quiet subscriptions and as many requests; about 10 KB each. */
  maxInFlight: 20_000,
  /** 1 MiB: thousands of notifications, and still little for a stream nobody reads. */
  maxBufferedBytes: 1024 * 1024,
  /** 15 s: half of the shortest common idle timeout of proxies. */
  keepAliveMs: 15_000,
  /** 60 s without any progress: longer than a network is away and comes back. */
  unreadTimeoutMs: 60_000,
  /** 2 s: most calls are done by then, and supervisors wait longer than that before they kill. */
  drainMs: 2_000,
  /** 15 s: headers fit one packet; only an attack needs longer. */
  headersTimeoutMs: 15_000,
  /** 60 s: 4 MiB over a slow mobile link. */
  requestTimeoutMs: 60_000,
  /** 65 s: longer than the idle timeout of common load balancers, so that they close first. */
  idleTimeoutMs: 65_000,
};

/**
 * The defaults, with what was given put over them.
 *
 * @throws TypeError naming the limit that is not a positive integer.
 */
export function httpLimits(given: Partial<HttpServerLimits>): HttpServerLimits {
  const limits = { ...DEFAULT_HTTP_LIMITS };
  for (const name of Object.keys(DEFAULT_HTTP_LIMITS) as (keyof HttpServerLimits)[]) {
    const value = given[name];
    if (value === undefined) continue;
    if (!Number.isSafeInteger(value) || value <= 0) {
      throw new TypeError(`${name} must be a positive integer, got ${String(value)}`);
    }
    limits[name] = value;
  }
  return limits;
}
