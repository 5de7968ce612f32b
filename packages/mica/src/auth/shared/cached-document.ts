/** A document from elsewhere, kept for a while: loaded once for all who wait, and again when it may have changed. */

/** Milliseconds, all of them. */
export interface CacheTimes {
  /** How long a document is used without a look at whether it changed. */
  readonly maxAgeMs: number;
  /** How much longer it is used while it cannot be loaded. */
  readonly maxStaleMs: number;
  /** How long after a load that failed nobody tries again. */
  readonly retryMs: number;
  /** The least time between two loads that callers cause by asking for something new. */
  readonly cooldownMs: number;
}

export interface CachedDocument<T> {
  /** @throws the error of the last load, where there is nothing that could still be used. */
  current(): Promise<T>;
  /** A newer document than `known`, for whoever misses something in it; undefined where none can be had now. */
  newerThan(known: T): Promise<T | undefined>;
}

/** @param load Its failures are kept, and given to all who ask before the next try. */
export function cacheDocument<T extends object>(
  load: () => Promise<T>,
  { maxAgeMs, maxStaleMs, retryMs, cooldownMs }: CacheTimes,
): CachedDocument<T> {
  let document: T | undefined;
  let loadedAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let failure: unknown;
  let loading: Promise<void> | undefined;

  async function reload(): Promise<void> {
    triedAt = Date.now();
    try {
      document = await load();
      loadedAt = Date.now();
      failure = undefined;
    } catch (error) {
      failure = error;
    } finally {
      loading = undefined;
    }
  }

  const reloaded = (): Promise<void> => (loading ??= reload());

  return {
    async current() {
      if (document !== undefined && Date.now() - loadedAt < maxAgeMs) return document;
      if (failure === undefined || loading !== undefined || Date.now() - triedAt >= retryMs) await reloaded();
      if (document !== undefined && Date.now() - loadedAt < maxAgeMs + maxStaleMs) return document;
      throw failure;
    },
    async newerThan(known) {
      if (document !== known) return document;
      if (loading === undefined && Date.now() - triedAt < cooldownMs) return undefined;
      await reloaded();
      return document === known ? undefined : document;
    },
  };
}
