/** Values that belong to a token, kept for a while under a digest of it: a memory dump holds no tokens to steal. */

/** What was found, and the time in milliseconds until which it may be used. */
export interface Found<T> {
  readonly value: T | undefined;
  readonly until: number;
}

export interface Kept<T> {
  /**
   * The value for a token: as it is kept, or as `find` finds it, once for all who ask meanwhile.
   *
   * @param max With more values than this, the one that was found first is forgotten.
   * @throws what `find` throws, which is not kept.
   */
  get(token: string, max: number, find: () => Promise<Found<T>>): Promise<T | undefined>;
  readonly size: number;
}

export function keepForAWhile<T>(): Kept<T> {
  const kept = new Map<string, Found<T>>();
  const finding = new Map<string, Promise<Found<T>>>();

  return {
    get size() {
      return kept.size;
    },
    async get(token, max, find) {
      const key = await digest(token);
      const known = kept.get(key);
      if (known !== undefined) {
        if (Date.now() < known.until) return known.value;
        kept.delete(key);
      }
      let search = finding.get(key);
      if (search === undefined) {
        search = find().finally(() => finding.delete(key));
        finding.set(key, search);
      }
      const found = await search;
      if (Date.now() < found.until) {
        // Found again, it counts as new.
        kept.delete(key);
        kept.set(key, found);
        if (kept.size > max) kept.delete(kept.keys().next().value!);
      }
      return found.value;
    },
  };
}

async function digest(token: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token)));
  return btoa(String.fromCharCode(...bytes));
}
