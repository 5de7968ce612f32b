/** Lists, whole or page by page. Cursors are opaque, `""` and repeated ones included (server/utilities/pagination). */
import { ErrorCode } from "../protocol/errors.js";
import type { Prompt, Resource, ResourceTemplate, Tool } from "../protocol/features.js";
import { isObject } from "../protocol/jsonrpc.js";
import type { Method } from "../protocol/methods.js";
import type { Cursor, Result } from "../protocol/types.js";
import { rpcCodeOf, shown } from "./exchange.js";
import type { CachedCallOptions, ClientLimits } from "./options.js";

export interface ListOptions extends CachedCallOptions {
  /** Fetches one page only: the one at this cursor, or with `null` the first. Without it all pages are collected. */
  cursor?: Cursor | null | undefined;
}

/** What is said of a list besides its entries. */
export interface ListOutcome {
  /** Whether the server named no further page. Never true where the list was cut. */
  complete: boolean;
  /** Why the list was cut before its end. */
  reason?: string;
  /** Where it goes on. */
  nextCursor?: Cursor;
  /** Entries that the server listed and the client left out, because their definition is invalid. */
  leftOut: LeftOut[];
}

export interface LeftOut {
  /** Name or URI; empty where it has none. */
  readonly name: string;
  readonly reason: string;
}

export type ToolListing = ListOutcome & { tools: Tool[] };
export type ResourceListing = ListOutcome & { resources: Resource[] };
export type ResourceTemplateListing = ListOutcome & { resourceTemplates: ResourceTemplate[] };
export type PromptListing = ListOutcome & { prompts: Prompt[] };

export interface ListKind {
  readonly method: Method;
  /** The member of a page that holds its entries. */
  readonly member: string;
  /** Names one entry in messages. */
  readonly what: string;
  /** The member that names an entry. */
  readonly key: string;
  /** What makes an entry unusable. */
  readonly problem: (entry: Record<string, unknown>) => string | undefined;
}

const needs =
  (...names: string[]) =>
  (entry: Record<string, unknown>): string | undefined => {
    const missing = names.find((name) => typeof entry[name] !== "string");
    return missing && `${missing} must be a string, got ${shown(entry[missing])}`;
  };

export const TOOLS: ListKind = {
  method: "tools/list",
  member: "tools",
  what: "tool",
  key: "name",
  problem: (tool) =>
    needs("name")(tool) ??
    (isObject(tool["inputSchema"])
      ? undefined
      : `inputSchema must be an object, got ${shown(tool["inputSchema"])}`),
};

export const RESOURCES: ListKind = {
  method: "resources/list",
  member: "resources",
  what: "resource",
  key: "uri",
  problem: needs("uri", "name"),
};

export const RESOURCE_TEMPLATES: ListKind = {
  method: "resources/templates/list",
  member: "resourceTemplates",
  what: "resource template",
  key: "uriTemplate",
  problem: needs("uriTemplate", "name"),
};

export const PROMPTS: ListKind = {
  method: "prompts/list",
  member: "prompts",
  what: "prompt",
  key: "name",
  problem: needs("name"),
};

/** Where pages come from. */
export interface Pages {
  /** Reads the page at a cursor, from the cache where `fresh` is false and it has it. */
  read(cursor: Cursor | undefined, fresh: boolean): Promise<Result>;
  /** Forgets the pages that are cached. */
  drop(): void;
}

export interface Collected extends ListOutcome {
  entries: Record<string, unknown>[];
}

/** Collects a list as {@link ListOptions} say. */
export async function collect(
  kind: ListKind,
  pages: Pages,
  { cursor, fresh = false }: ListOptions,
  limits: ClientLimits,
): Promise<Collected> {
  if (cursor !== undefined) return sortOut(kind, [await pages.read(cursor ?? undefined, fresh)]);
  const read: Result[] = [];
  try {
    return await collectAll(kind, pages, read, fresh, limits);
  } catch (error) {
    // "If a cursor becomes invalid, the client SHOULD discard all cached pages and re-fetch from the beginning."
    if (read.length === 0 || rpcCodeOf(error) !== ErrorCode.InvalidParams) throw error;
    pages.drop();
    return collectAll(kind, pages, [], fresh, limits);
  }
}

async function collectAll(
  kind: ListKind,
  pages: Pages,
  read: Result[],
  fresh: boolean,
  limits: ClientLimits,
): Promise<Collected> {
  const visited = new Set<Cursor | undefined>();
  let repeated = false;
  let entries = 0;
  let cursor: Cursor | undefined;
  do {
    // A cursor may come again and mean the next page all the same, which a cached page would hide.
    const again = visited.has(cursor);
    repeated ||= again;
    visited.add(cursor);
    const page = await pages.read(cursor, fresh || again);
    read.push(page);
    entries += (page[kind.member] as unknown[]).length;
    cursor = cursorOf(page);
  } while (cursor !== undefined && read.length < limits.maxPages && entries < limits.maxEntries);
  if (repeated) pages.drop();
  const collected = sortOut(kind, read);
  if (cursor !== undefined) {
    const bound =
      read.length >= limits.maxPages ? `${read.length} pages (maxPages)` : `${entries} entries (maxEntries)`;
    collected.reason = `${kind.method} was cut after ${bound}, although the server names a further page`;
  }
  return collected;
}

function sortOut(kind: ListKind, pages: readonly Result[]): Collected {
  const entries: Record<string, unknown>[] = [];
  const leftOut: LeftOut[] = [];
  for (const page of pages) {
    for (const entry of page[kind.member] as unknown[]) {
      const problem = isObject(entry) ? kind.problem(entry) : `expected an object, got ${shown(entry)}`;
      const name = isObject(entry) ? entry[kind.key] : undefined;
      if (problem === undefined) entries.push(entry as Record<string, unknown>);
      else leftOut.push({ name: typeof name === "string" ? name : "", reason: problem });
    }
  }
  const nextCursor = cursorOf(pages.at(-1) as Result);
  const outcome = { entries, leftOut, complete: nextCursor === undefined };
  return nextCursor === undefined ? outcome : { ...outcome, nextCursor };
}

/** "Whether a non-null value was provided" is all that a cursor says. */
function cursorOf(page: Result): Cursor | undefined {
  return (page["nextCursor"] as Cursor | null | undefined) ?? undefined;
}
