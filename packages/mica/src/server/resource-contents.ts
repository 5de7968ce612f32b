/** What readers of resources return, and the contents that are made of it (server/resources, Resource Contents). */
import { type BinaryData, toBase64 } from "../protocol/content.js";
import type { ResourceContents } from "../protocol/features.js";
import type { CacheHints, MetaObject } from "../protocol/types.js";
import { checkCacheHints } from "./limits.js";

/** One item of {@link contents}: `uri` and `mimeType` default to those of the resource that is read. */
export interface ContentsItem {
  uri?: string;
  mimeType?: string;
  text?: string;
  blob?: BinaryData;
  _meta?: MetaObject;
}

/** What {@link contents} returns. */
export class ResourceOutput {
  readonly items: readonly ContentsItem[];
  readonly cache: CacheHints | undefined;

  constructor(items: readonly ContentsItem[], cache: CacheHints | undefined) {
    this.items = items;
    this.cache = cache;
  }
}

/**
 * Contents built by hand: several items, other URIs, hints for this read alone.
 *
 * @example return contents([{ text: "# Log", mimeType: "text/markdown" }], { ttlMs: 5000, cacheScope: "private" });
 */
export function contents(items: ContentsItem | readonly ContentsItem[], cache?: CacheHints): ResourceOutput {
  return new ResourceOutput(
    Array.isArray(items) ? items : [items as ContentsItem],
    cache && checkCacheHints(cache, "contents"),
  );
}

/** The contents of the resource at `uri`, whatever its reader returned. */
export function renderContents(
  value: unknown,
  uri: string,
  mimeType: string | undefined,
): { items: ResourceContents[]; cache: CacheHints | undefined } {
  const { items, cache } = value instanceof ResourceOutput ? value : contents(itemOf(value, mimeType));
  return { items: items.map((item) => renderItem(item, uri, mimeType)), cache };
}

function itemOf(value: unknown, mimeType: string | undefined): ContentsItem {
  if (typeof value === "string") return { text: value };
  if (value instanceof Uint8Array) return { blob: value };
  if (value instanceof ArrayBuffer) return { blob: new Uint8Array(value) };
  const json = JSON.stringify(value);
  if (json === undefined) throw new TypeError(`the reader returned a ${typeof value}, which has no JSON`);
  return { text: json, mimeType: mimeType ?? "application/json" };
}

function renderItem(item: ContentsItem, uri: string, mimeType: string | undefined): ResourceContents {
  const type = item.mimeType ?? mimeType;
  const base = { uri: item.uri ?? uri, ...(type !== undefined && { mimeType: type }) };
  const meta = item._meta !== undefined && { _meta: item._meta };
  if (item.blob !== undefined) return { ...base, blob: toBase64(item.blob), ...meta };
  if (typeof item.text !== "string") throw new TypeError(`contents of ${uri}: every item needs text or blob`);
  return { ...base, text: item.text, ...meta };
}
