/** Cache hints, and lists that can be cached because they do not change by themselves (utilities/caching; server/tools). */
import { isObject } from "../../json.js";
import type { Audited, Members } from "../audited.js";
import { LISTS, type ListName } from "../catalogue.js";
import type { Found, Rule } from "../rule.js";
import { type RawExchange, resultOf, seen } from "../wire/raw.js";
import { quoted } from "./observed.js";

/** What an entry of a list is known by. */
const KEYS: Readonly<Record<ListName, string>> = {
  tools: "name",
  resources: "uri",
  resourceTemplates: "uriTemplate",
  prompts: "name",
};

/** Times that a list is read again. */
const AGAIN = 3;

export const CACHING: readonly Rule[] = [
  {
    id: "cache-hints",
    severity: "error",
    section: "utilities/caching, Cacheable Results",
    title: "Results that can be cached say for how long and for whom",
    era: "modern",
    async run(audited) {
      const found = new Map<string, Found>();
      for (const [method, exchange] of await cacheable(audited)) {
        const result = resultOf(exchange);
        if (result === undefined || result["resultType"] === "input_required") continue;
        for (const problem of hintProblems(result)) {
          const message = `The result of ${method}: ${problem}`;
          const fix =
            'Put "ttlMs": milliseconds (0 or more) and "cacheScope": "public" or "private" into it.';
          found.set(message, { message, evidence: seen(exchange), fix });
        }
      }
      return [...found.values()];
    },
  },
  {
    id: "cache-scope-pages",
    severity: "error",
    section: "utilities/caching, Interaction with Pagination",
    title: "All pages of a list have the same cacheScope",
    era: "modern",
    run({ catalogue }) {
      return Object.values(catalogue).flatMap((listing) => {
        const scopes = (listing?.pages ?? []).map(({ result }) => result["cacheScope"]);
        if (listing === undefined || new Set(scopes).size < 2) return [];
        return {
          message: `Pages of ${listing.method} differ in cacheScope`,
          evidence: `by page: ${scopes.map((scope) => JSON.stringify(scope)).join(", ")}`,
          fix: "Choose the scope by the list, not by the page; private where any entry is private.",
        };
      });
    },
  },
  {
    id: "list-order",
    severity: "warning",
    section: "server/tools, Listing Tools",
    title: "A list has the same order each time",
    async run(audited) {
      const found: Found[] = [];
      for (const [name, listing] of Object.entries(audited.catalogue) as [
        ListName,
        Audited["catalogue"][ListName],
      ][]) {
        if (listing === undefined || listing.entries.length < 2 || listing.stopped !== undefined) continue;
        const orders = [
          names(
            listing.pages.flatMap(({ items }) => items),
            KEYS[name],
          ),
        ];
        const ask = async (method: string, params: Members) =>
          resultOf(await audited.request(method, params));
        for (let again = 0; again < AGAIN; again++) orders.push(await readAgain(audited, name, ask));
        if (audited.binding === "stdio") orders.push(await readInFreshProcess(audited, name));
        const [first = []] = orders;
        const other = orders.find((order) => order.join("\n") !== first.join("\n"));
        // Another set is another matter: lists may change.
        if (other === undefined || [...other].sort().join("\n") !== [...first].sort().join("\n")) continue;
        found.push({
          message: `${listing.method} gives the same entries in different orders`,
          evidence: `${quoted(first.join(", "), 200)}\n${quoted(other.join(", "), 200)}`,
          fix: "Sort the list, or keep the order of registration: caches and the caches of prompts depend on it.",
          // It is written of tools only.
          severity: name === "tools" && audited.era === "modern" ? "warning" : "note",
        });
      }
      return found;
    },
  },
];

async function cacheable(audited: Audited): Promise<[method: string, exchange: RawExchange][]> {
  const { speaking, catalogue } = audited;
  const all: [string, RawExchange][] = [];
  if (speaking.discovered) all.push(["server/discover", speaking.opening]);
  for (const listing of Object.values(catalogue)) {
    for (const { exchange } of listing?.pages ?? [])
      all.push([(listing as { method: string }).method, exchange]);
  }
  const uri = catalogue.resources?.entries[0]?.["uri"];
  if (typeof uri === "string") all.push(["resources/read", await audited.request("resources/read", { uri })]);
  return all;
}

function hintProblems({ ttlMs, cacheScope }: Members): string[] {
  const problems: string[] = [];
  if (ttlMs === undefined) problems.push("it has no ttlMs");
  else if (!Number.isInteger(ttlMs)) problems.push("ttlMs is no integer");
  else if ((ttlMs as number) < 0) problems.push("ttlMs is below 0");
  if (cacheScope === undefined) problems.push("it has no cacheScope");
  else if (cacheScope !== "public" && cacheScope !== "private")
    problems.push('cacheScope is neither "public" nor "private"');
  return problems;
}

function names(items: readonly unknown[], key: string): string[] {
  return items.map((item) => String((item as Members | null)?.[key]));
}

/** The whole list, by as many pages as it had. */
async function readAgain(
  { catalogue }: Audited,
  name: ListName,
  ask: (method: string, params: Members) => Promise<Members | undefined>,
): Promise<string[]> {
  const all: string[] = [];
  let cursor: unknown;
  for (const _ of catalogue[name]?.pages ?? []) {
    const result = (await ask(LISTS[name].method, cursor === undefined ? {} : { cursor })) ?? {};
    all.push(...names(Array.isArray(result[name]) ? result[name] : [], KEYS[name]));
    cursor = result["nextCursor"] ?? undefined;
    if (cursor === undefined) break;
  }
  return all;
}

async function readInFreshProcess(audited: Audited, name: ListName): Promise<string[]> {
  const child = await audited.spawnSpoken();
  const ask = async (method: string, params: Members) =>
    resultIn(await child.ask(audited.message(method, params), audited.answerMs));
  const all = await readAgain(audited, name, ask);
  await child.kill();
  return all;
}

function resultIn(response: Members | undefined): Members | undefined {
  return isObject(response?.["result"]) ? response["result"] : undefined;
}
