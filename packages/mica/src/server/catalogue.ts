/**
 * A named, ordered collection of registrations (tools, resources, templates, prompts) and its pages.
 * Order is that of registration, so that a list reads the same at every request (server/tools, Listing Tools);
 * pages are built and encoded once and serve every caller (with the same scopes, where lists are filtered by them)
 * until the collection changes.
 */
import { ErrorCode, ProtocolError } from "../protocol/errors.js";
import { encodeOnce } from "../protocol/jsonrpc.js";
import { missingScopes } from "../protocol/scopes.js";
import type { PaginatedResult } from "../protocol/types.js";

interface Entry<T> {
  readonly position: number;
  readonly value: T;
}

/** Undoes a registration; safe to call twice. */
export interface Registration {
  remove(): void;
}

export interface Catalogue<T> {
  add(key: string, value: T): Registration;
  get(key: string): T | undefined;
  values(): Iterable<T>;
  /** Whether anything was ever registered: what a server offers once it keeps offering, as an empty list. */
  readonly isOffered: boolean;
  /**
   * The page after `cursor`.
   *
   * @param held Leaves out whatever needs other scopes than these.
   * @throws ProtocolError -32602 where the cursor is not one that was handed out.
   */
  page(cursor: unknown, held?: readonly string[]): PaginatedResult;
}

/** What a collection is of. */
interface Scoped {
  readonly scopes?: readonly string[] | undefined;
}

/** The collection as some callers see it, and the pages of that which were built. */
interface View<T> {
  readonly ordered: readonly Entry<T>[];
  readonly pages: Map<number, PaginatedResult>;
}

/** Views that are kept at once: one for each set of scopes that callers hold, as far as entries need any. */
const MAX_VIEWS = 100;

/**
 * @param kind what a registration is called in messages, e.g. `tool`
 * @param buildPage makes the result of a page from its entries
 */
export function createCatalogue<T>(
  kind: string,
  pageSize: number,
  buildPage: (entries: T[]) => PaginatedResult,
  onChange: () => void,
): Catalogue<T> {
  const entries = new Map<string, Entry<T>>();
  let nextPosition = 1;
  let whole: View<T> | undefined;
  let views = new Map<string, View<T>>();
  let scopesInUse: readonly string[] | undefined;

  const changed = () => {
    whole = undefined;
    views = new Map();
    scopesInUse = undefined;
    onChange();
  };

  const scopesOf = ({ value }: Entry<T>): readonly string[] => (value as Scoped).scopes ?? [];

  const viewFor = (held: readonly string[] | undefined): View<T> => {
    if (held === undefined) {
      whole ??= { ordered: [...entries.values()], pages: new Map() };
      return whole;
    }
    scopesInUse ??= [...new Set([...entries.values()].flatMap(scopesOf))].sort();
    // Scopes that nothing here needs make no difference.
    const key = scopesInUse.filter((scope) => held.includes(scope)).join(" ");
    let view = views.get(key);
    if (view === undefined) {
      const ordered = [...entries.values()].filter(
        (entry) => missingScopes(held, scopesOf(entry)).length === 0,
      );
      view = { ordered, pages: new Map() };
      if (views.size >= MAX_VIEWS) views.delete(views.keys().next().value!);
      views.set(key, view);
    }
    return view;
  };

  const buildFrom = (ordered: readonly Entry<T>[], start: number): PaginatedResult => {
    const slice = ordered.slice(start, start + pageSize);
    const result = buildPage(slice.map(({ value }) => value));
    const last = slice.at(-1);
    if (last !== undefined && start + pageSize < ordered.length)
      result.nextCursor = writeCursor(last.position);
    return result;
  };

  return {
    add(key, value) {
      if (entries.has(key)) throw new TypeError(`${kind} ${JSON.stringify(key)} is registered already`);
      const entry = { position: nextPosition++, value };
      entries.set(key, entry);
      changed();
      return {
        remove() {
          if (entries.get(key) !== entry) return;
          entries.delete(key);
          changed();
        },
      };
    },
    get: (key) => entries.get(key)?.value,
    *values() {
      for (const { value } of entries.values()) yield value;
    },
    get isOffered() {
      return nextPosition > 1;
    },
    page(cursor, held) {
      const { ordered, pages } = viewFor(held);
      const start = cursor === undefined ? 0 : firstAfter(ordered, readCursor(cursor, nextPosition));
      // Only pages of the list as it is now are kept: old and made-up cursors must not fill the memory.
      if (start % pageSize !== 0) return buildFrom(ordered, start);
      let result = pages.get(start);
      if (result === undefined) {
        result = encodeOnce(buildFrom(ordered, start));
        pages.set(start, result);
      }
      return result;
    },
  };
}

/** The index of the first entry behind a position: entries are in ascending order of it. */
function firstAfter(ordered: readonly Entry<unknown>[], position: number): number {
  let low = 0;
  let high = ordered.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ordered[middle]!.position <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}

// A cursor names the last entry that was sent, not an offset: entries that come or go meanwhile shift nothing.

function writeCursor(position: number): string {
  return `p${position.toString(36)}`;
}

function readCursor(cursor: unknown, nextPosition: number): number {
  const position =
    typeof cursor === "string" && /^p[0-9a-z]{1,8}$/.test(cursor) ? Number.parseInt(cursor.slice(1), 36) : -1;
  if (position < 1 || position >= nextPosition || writeCursor(position) !== cursor) {
    throw new ProtocolError(
      ErrorCode.InvalidParams,
      `Invalid cursor ${JSON.stringify(cursor)}: expected a nextCursor of this list`,
    );
  }
  return position;
}
