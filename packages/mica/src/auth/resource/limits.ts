/** Every limit of a protected resource, with its value, unit and reason. */
import type { CacheTimes } from "../shared/cached-document.js";

/** Times are in milliseconds, sizes in bytes. */
export interface AuthLimits {
  /** How far the clocks of this machine and of an authorization server may differ. May be 0. */
  readonly clockToleranceMs: number;
  /** How long any one request to an authorization server may take. */
  readonly fetchTimeoutMs: number;
  /** Largest answer of an authorization server. */
  readonly maxDocumentBytes: number;
  /** Longest access token; a longer one is malformed. */
  readonly maxTokenBytes: number;
  /** How long keys are used before they are fetched again: the longest that a withdrawn key goes on being accepted. */
  readonly keysMaxAgeMs: number;
  /** How much longer they are used while the authorization server cannot be reached. */
  readonly keysMaxStaleMs: number;
  /** The least time between two fetches that are caused by tokens with an unknown key. */
  readonly keysCooldownMs: number;
  /** How long after a fetch that failed nobody tries again. */
  readonly retryMs: number;
  /** How long the answer of an introspection is used: the longest that a revoked token goes on being accepted. 0 asks every time. */
  readonly introspectionCacheMs: number;
  /** Introspections and exchanged tokens that are kept, each. */
  readonly maxCached: number;
}

export const DEFAULT_AUTH_LIMITS: Readonly<AuthLimits> = Object.freeze({
  /** 5 s: what clocks differ by that are set by the network. */
  clockToleranceMs: 5_000,
  /** 5 s: the caller of a tool waits for it. */
  fetchTimeoutMs: 5_000,
  /** 256 KiB: hundreds of keys. */
  maxDocumentBytes: 256 * 1024,
  /** 16 KiB: what node:http takes of all headers together. */
  maxTokenBytes: 16 * 1024,
  /** 10 minutes. */
  keysMaxAgeMs: 10 * 60_000,
  /** 1 hour: an outage that long is noticed. */
  keysMaxStaleMs: 60 * 60_000,
  /** 30 s: made-up keys cause two requests a minute, and a new key is known soon. */
  keysCooldownMs: 30_000,
  /** 2 s. */
  retryMs: 2_000,
  /** 30 s: a conversation asks once or twice a minute, and a revoked token is noticed soon. */
  introspectionCacheMs: 30_000,
  /** 10,000: some kilobytes each. */
  maxCached: 10_000,
});

const MAY_BE_ZERO = new Set(["clockToleranceMs", "introspectionCacheMs"]);

/** @throws TypeError naming the limit that is unknown or no whole number. */
export function authLimits(given: Partial<AuthLimits> = {}): AuthLimits {
  const limits: Record<string, number> = { ...DEFAULT_AUTH_LIMITS };
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(DEFAULT_AUTH_LIMITS, name)) {
      const known = Object.keys(DEFAULT_AUTH_LIMITS).join(", ");
      throw new TypeError(`limits.${name} is unknown; expected ${known}`);
    }
    const least = MAY_BE_ZERO.has(name) ? 0 : 1;
    if (!Number.isSafeInteger(value) || value < least) {
      throw new TypeError(`limits.${name} must be a whole number from ${least}, got ${String(value)}`);
    }
    limits[name] = value;
  }
  return limits as unknown as AuthLimits;
}

/** How documents of authorization servers are kept. */
export function documentTimes(limits: AuthLimits): CacheTimes {
  return {
    maxAgeMs: limits.keysMaxAgeMs,
    maxStaleMs: limits.keysMaxStaleMs,
    retryMs: limits.retryMs,
    cooldownMs: limits.keysCooldownMs,
  };
}
