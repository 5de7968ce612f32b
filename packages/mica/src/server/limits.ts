/** Every limit and default of a server, in one place. */
import type { CacheHints } from "../protocol/types.js";

export interface ServerLimits {
  /** Entries on one page of a list. */
  pageSize: number;
  /** Subscriptions open at once, over all callers. */
  maxSubscriptions: number;
  /** URIs in one subscription's `resourceSubscriptions`. */
  maxSubscriptionUris: number;
  /** Characters of a URI that is matched against templates: bounds the work of matching. */
  maxUriLength: number;
}

export const DEFAULT_LIMITS: Readonly<ServerLimits> = {
  /** Large enough that most catalogues are one page, small enough to bound a response. */
  pageSize: 500,
  /** An idle subscription costs a few kilobytes; this keeps them under some 100 MB. */
  maxSubscriptions: 10_000,
  maxSubscriptionUris: 1_000,
  maxUriLength: 8_192,
};

/** "Maximum 100 items per response" (server/utilities/completion). */
export const MAX_COMPLETION_VALUES = 100;

/** Caching hints, per cacheable method (server/utilities/caching). */
export interface ServerCacheHints {
  discover: CacheHints;
  tools: CacheHints;
  resources: CacheHints;
  resourceTemplates: CacheHints;
  prompts: CacheHints;
  /** For resources that give no hints of their own. */
  read: CacheHints;
}

const MINUTE = 60_000;

/** Lists change only while a server is being updated, and then subscribers are told; contents may change at any time. */
export const DEFAULT_CACHE_HINTS: Readonly<ServerCacheHints> = {
  discover: { ttlMs: 60 * MINUTE, cacheScope: "public" },
  tools: { ttlMs: 5 * MINUTE, cacheScope: "public" },
  resources: { ttlMs: 5 * MINUTE, cacheScope: "public" },
  resourceTemplates: { ttlMs: 5 * MINUTE, cacheScope: "public" },
  prompts: { ttlMs: 5 * MINUTE, cacheScope: "public" },
  read: { ttlMs: 0, cacheScope: "private" },
};

/** @throws TypeError naming the hint, where `ttlMs` is not a whole number from 0 or `cacheScope` is unknown. */
export function checkCacheHints(hints: CacheHints, what: string): CacheHints {
  if (!Number.isSafeInteger(hints.ttlMs) || hints.ttlMs < 0) {
    throw new TypeError(`${what}: ttlMs must be a whole number of milliseconds from 0, got ${hints.ttlMs}`);
  }
  if (hints.cacheScope !== "public" && hints.cacheScope !== "private") {
    throw new TypeError(
      `${what}: cacheScope must be "public" or "private", got ${JSON.stringify(hints.cacheScope)}`,
    );
  }
  return { ttlMs: hints.ttlMs, cacheScope: hints.cacheScope };
}
