/** The catalogue of a server, read once: every page as it came. */
import { isObject } from "../json.js";
import type { Members } from "./audited.js";
import { errorOf, type RawExchange, resultOf, seen } from "./wire/raw.js";

export type ListName = "tools" | "resources" | "resourceTemplates" | "prompts";

export const LISTS: Readonly<Record<ListName, { readonly method: string; readonly capability: string }>> = {
  tools: { method: "tools/list", capability: "tools" },
  resources: { method: "resources/list", capability: "resources" },
  resourceTemplates: { method: "resources/templates/list", capability: "resources" },
  prompts: { method: "prompts/list", capability: "prompts" },
};

export interface Listing {
  readonly method: string;
  readonly pages: readonly Page[];
  /** All entries of all pages, objects only. */
  readonly entries: readonly Members[];
  /** Why it was not read to its end; undefined where it was. */
  readonly stopped: string | undefined;
}

export interface Page {
  /** The cursor that it was asked with. */
  readonly cursor: string | undefined;
  readonly exchange: RawExchange;
  /** Empty where there was none. */
  readonly result: Members;
  /** As they came, whatever they are. */
  readonly items: readonly unknown[];
  readonly nextCursor: unknown;
}

/** A list that the server declares no capability for is undefined. */
export type Catalogue = Readonly<Record<ListName, Listing | undefined>>;

/** Most pages of one list: a list may have no end. */
export const MOST_PAGES = 50;

export async function readCatalogue(
  capabilities: Members,
  request: (method: string, params: Members) => Promise<RawExchange>,
): Promise<Catalogue> {
  const read = async (name: ListName) =>
    capabilities[LISTS[name].capability] === undefined ? undefined : readList(name, request);
  // One after the other: some servers answer one at a time, and nothing here is in a hurry.
  return {
    tools: await read("tools"),
    resources: await read("resources"),
    resourceTemplates: await read("resourceTemplates"),
    prompts: await read("prompts"),
  };
}

async function readList(
  name: ListName,
  request: (method: string, params: Members) => Promise<RawExchange>,
): Promise<Listing> {
  const { method } = LISTS[name];
  const pages: Page[] = [];
  let cursor: string | undefined;
  let stopped: string | undefined;
  do {
    const exchange = await request(method, cursor === undefined ? {} : { cursor });
    const result = resultOf(exchange) ?? {};
    const items = Array.isArray(result[name]) ? result[name] : [];
    const nextCursor = result["nextCursor"] ?? undefined;
    pages.push({ cursor, exchange, result, items, nextCursor });
    if (resultOf(exchange) === undefined) {
      const error = errorOf(exchange);
      stopped = error ? `error ${String(error.code)}: ${String(error.message)}` : seen(exchange);
    } else if (pages.length >= MOST_PAGES && nextCursor !== undefined) {
      stopped = `more than ${MOST_PAGES} pages`;
    }
    cursor = typeof nextCursor === "string" ? nextCursor : undefined;
  } while (cursor !== undefined && stopped === undefined);
  return { method, pages, stopped, entries: pages.flatMap(({ items }) => items.filter(isObject)) };
}
