/** Results kept for as long as their server allows (server/utilities/caching). One cache per client. */
import type { Result } from "../protocol/types.js";

/** What a cached result is found by: the method, and the parameters that affect the result. */
export interface CacheKey {
  readonly method: string;
  readonly params: Record<string, unknown>;
}

export interface ResultCache {
  /** A fresh result, as a value of its own; undefined where there is none. */
  get(key: CacheKey): Result | undefined;
  /**
   * Called before a request is sent; the returned function keeps its result, unless something invalidated it
   * in the meantime.
   */
  expect(key: CacheKey): (result: Result) => void;
  /** Drops what a method's list was made of. */
  dropMethod(method: string): void;
  /** Drops readings of a resource, of what contains it, and of what it contains. */
  dropResource(uri: string): void;
  clear(): void;
}

export interface CacheOptions {
  readonly maxEntries: number;
  readonly maxChars: number;
  readonly now: () => number;
}

interface Entry {
  readonly key: CacheKey;
  /** JSON, so that no caller can change what the next one gets, and memory can be counted. */
  readonly json: string;
  readonly receivedAt: number;
  readonly ttlMs: number;
}

export function createCache({ maxEntries, maxChars, now }: CacheOptions): ResultCache {
  /** In order of use: the first is the least recently used. */
  const entries = new Map<string, Entry>();
  let chars = 0;
  let generation = 0;

  const remove = (name: string, entry: Entry) => {
    entries.delete(name);
    chars -= entry.json.length;
  };

  const dropWhere = (matches: (key: CacheKey) => boolean) => {
    generation += 1;
    for (const [name, entry] of entries) if (matches(entry.key)) remove(name, entry);
  };

  const keep = (key: CacheKey, result: Result) => {
    const ttlMs = lifetime(result);
    const name = nameOf(key);
    const old = entries.get(name);
    if (old) remove(name, old);
    if (ttlMs <= 0) return;
    const json = JSON.stringify(result);
    if (json.length > maxChars) return;
    entries.set(name, { key, json, receivedAt: now(), ttlMs });
    chars += json.length;
    for (const [oldest, entry] of entries) {
      if (entries.size <= maxEntries && chars <= maxChars) break;
      remove(oldest, entry);
    }
  };

  return {
    get(key) {
      const name = nameOf(key);
      const entry = entries.get(name);
      if (entry === undefined) return undefined;
      const age = now() - entry.receivedAt;
      if (age < 0 || age >= entry.ttlMs) {
        remove(name, entry);
        return undefined;
      }
      entries.delete(name);
      entries.set(name, entry);
      return JSON.parse(entry.json) as Result;
    },
    expect(key) {
      const before = generation;
      return (result) => {
        if (generation === before) keep(key, result);
      };
    },
    dropMethod: (method) => dropWhere((key) => key.method === method),
    dropResource: (uri) =>
      dropWhere(({ method, params }) => {
        const read = params["uri"];
        return (
          method === "resources/read" &&
          typeof read === "string" &&
          (uri.startsWith(read) || read.startsWith(uri))
        );
      }),
    clear: () => dropWhere(() => true),
  };
}

/** "If `ttlMs` is absent, clients SHOULD assume a default of 0", and the same where it is negative. */
function lifetime(result: Result): number {
  const ttlMs = result["ttlMs"];
  return typeof ttlMs === "number" && ttlMs > 0 ? ttlMs : 0;
}

function nameOf({ method, params }: CacheKey): string {
  return `${method}\n${canonical(params)}`;
}

/** Trace context says who asks, not what for. */
const TRACE_KEYS = new Set(["traceparent", "tracestate", "baggage"]);

/** The key of a request: its parameters, and what its caller added to `_meta` other than trace context. */
export function cacheKey(
  method: string,
  params: Record<string, unknown>,
  meta: Record<string, unknown> | undefined,
): CacheKey {
  const telling = Object.entries(meta ?? {}).filter(([name]) => !TRACE_KEYS.has(name));
  return { method, params: telling.length ? { ...params, _meta: Object.fromEntries(telling) } : params };
}

/** JSON with sorted keys, so that equal values are equal texts. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value).filter(([, inner]) => inner !== undefined);
  members.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join(",")}}`;
}
