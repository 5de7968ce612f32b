/**
 * What a binding is told about clients of the initialize era. The translators themselves are loaded with the first
 * such client; these options are checked at start.
 */
import type { EventStore } from "./legacy/event-store.js";

/** Bounds of one session. */
export interface LegacyLimits {
  /** Requests of one session being worked on. */
  readonly maxInFlight: number;
  /** Milliseconds that a client has to answer a question. */
  readonly inputTimeoutMs: number;
  /** Rounds of questions that one request may take. */
  readonly maxRounds: number;
  /** Messages in one batch. */
  readonly maxBatch: number;
}

export const DEFAULT_LEGACY_LIMITS: Readonly<LegacyLimits> = Object.freeze({
  /** 1024: far above what one client asks at once, so reaching it means that something runs away. */
  maxInFlight: 1024,
  /** 10 minutes: a person may have to read and decide. */
  inputTimeoutMs: 10 * 60_000,
  /** 100: the server's own limit (`state.maxRounds`) comes first; this one stops a handler that has none. */
  maxRounds: 100,
  /** 100: what a client collects in one turn, not a way around the limits of requests. */
  maxBatch: 100,
});

/** Bounds of the sessions that an HTTP endpoint keeps. */
export interface SessionLimits {
  /** Sessions at once; one more is answered 503. */
  readonly max: number;
  /** Milliseconds after which a session ends that nobody is connected to. */
  readonly idleMs: number;
}

export const DEFAULT_SESSION_LIMITS: Readonly<SessionLimits> = Object.freeze({
  /** 5000: a few kilobytes each, and half of the subscriptions that a server takes (`limits.maxSubscriptions`). */
  max: 5_000,
  /** 10 minutes: longer than people pause between two calls, and a client that comes later starts a new one by itself. */
  idleMs: 10 * 60_000,
});

export interface SessionOptions extends Partial<SessionLimits> {
  /** Where events wait for clients that come back for them. Default: 64 MiB of this process's memory. */
  readonly eventStore?: EventStore | undefined;
}

/** How earlier clients are served on lines: `"serve"` (the default), not at all, or within other limits. */
export type LegacyStdioOptions = "serve" | "reject" | Partial<LegacyLimits>;

export interface LegacyHttpOptions extends Partial<LegacyLimits> {
  /**
   * Whether the endpoint remembers its clients. Without sessions every request stands alone: the server cannot ask
   * for input, report changes or be told to cancel. With them it can, and they live in this process: replicas need
   * a load balancer that keeps a client on one of them; the workers of `serveHttp` find each other. Default: false.
   */
  readonly sessions?: false | SessionOptions | undefined;
}

/** What a binding works with; undefined where earlier clients are refused. */
export interface Legacy {
  readonly limits: LegacyLimits;
  readonly sessions: KeptSessions | undefined;
}

export interface KeptSessions extends SessionLimits {
  readonly eventStore: EventStore | undefined;
  /** What the ids of sessions begin with; default: nothing. */
  readonly idPrefix?: string | undefined;
}

/** @throws TypeError naming the option that is wrong. */
export function readLegacy(
  given: "serve" | "reject" | LegacyHttpOptions | undefined,
  withSessions: boolean,
): Legacy | undefined {
  if (given === "reject") return undefined;
  const options = given === undefined || given === "serve" ? {} : given;
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`legacy must be "serve", "reject" or an object, got ${JSON.stringify(given)}`);
  }
  const { sessions, ...limits } = options;
  if (sessions !== undefined && sessions !== false && (!withSessions || typeof sessions !== "object")) {
    throw new TypeError(`legacy.sessions must be ${withSessions ? "false or an object" : "left out here"}`);
  }
  return {
    limits: over(DEFAULT_LEGACY_LIMITS, limits, "legacy"),
    sessions: sessions ? readSessions(sessions) : undefined,
  };
}

function readSessions({ eventStore, ...limits }: SessionOptions): KeptSessions {
  for (const method of ["append", "after", "drop"] as const) {
    if (eventStore === undefined || typeof eventStore[method] === "function") continue;
    throw new TypeError(`legacy.sessions.eventStore must have the method ${method}`);
  }
  return { ...over(DEFAULT_SESSION_LIMITS, limits, "legacy.sessions"), eventStore };
}

function over<Limits extends object>(defaults: Limits, given: Partial<Limits>, what: string): Limits {
  const limits = { ...defaults };
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(defaults, name)) {
      throw new TypeError(`${what}.${name} is unknown; expected ${Object.keys(defaults).join(", ")}`);
    }
    if (!Number.isSafeInteger(value) || (value as number) <= 0) {
      throw new TypeError(`${what}.${name} must be a positive integer, got ${String(value)}`);
    }
    limits[name as keyof Limits] = value as Limits[keyof Limits];
  }
  return limits;
}
