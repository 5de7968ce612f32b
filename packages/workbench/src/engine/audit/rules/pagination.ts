/** Pages: lists come to an end, hold each entry once, and refuse a cursor that was never given (server/utilities/pagination). */
import { isDeepStrictEqual } from "node:util";
import { isObject, shown } from "../../json.js";
import { type Catalogue, type Listing, MOST_PAGES } from "../catalogue.js";
import { type Found, Inapplicable, type Rule } from "../rule.js";
import { errorOf, resultOf, seen } from "../wire/raw.js";
import { shortened } from "./names.js";
import { type Provoked, provokedOf } from "./provoked.js";

const SECTION = "server/utilities/pagination";

export const PAGINATION: readonly Rule[] = [
  {
    id: "pagination-end",
    severity: "error",
    section: `${SECTION}, Response Format`,
    title: "A list has a next page only where it has more entries",
    run: ({ catalogue }) => listings(catalogue).flatMap((listing) => loop(listing)),
  },
  {
    id: "pagination-cursor",
    severity: "error",
    section: `${SECTION}, Pagination Model`,
    title: "Cursors are strings",
    run: ({ catalogue }) => listings(catalogue).flatMap(cursorTypes),
  },
  {
    id: "pagination-empty",
    severity: "note",
    section: `${SECTION}, Response Format`,
    title: "Pages are not empty one after the other",
    run: ({ catalogue }) => listings(catalogue).flatMap(emptyPages),
  },
  {
    id: "pagination-duplicates",
    severity: "warning",
    section: `${SECTION}, Implementation Guidelines`,
    title: "No entry stands on two pages",
    run: ({ catalogue }) => listings(catalogue).flatMap(duplicates),
  },
  {
    id: "pagination-invalid-cursor",
    severity: "warning",
    section: `${SECTION}, Error Handling`,
    title: "A cursor that the server never gave is error -32602",
    async run(audited) {
      const asked = (await provokedOf(audited)).filter(({ kind }) => kind === "unknown cursor");
      if (asked.length === 0) throw new Inapplicable("it has no lists");
      const isPaged = (method: string) =>
        listings(audited.catalogue).some((one) => one.method === method && one.pages.length > 1);
      const accepting = asked.filter(({ exchange }) => resultOf(exchange) !== undefined);
      // Who gives no cursors is harmless in not reading them.
      const careless = accepting.filter(({ method }) => !isPaged(method));
      return [
        ...accepting.filter(({ method }) => isPaged(method)).map((one) => acceptedCursor([one])),
        ...(careless.length > 0 ? [{ ...acceptedCursor(careless), severity: "note" as const }] : []),
        ...asked.flatMap(otherError),
      ];
    },
  },
];

const INVALID_CURSOR = 'Answer with the error { "code": -32602, "message": "Invalid cursor" }.';

function acceptedCursor(all: readonly Provoked[]): Found {
  const methods = all.map(({ method }) => method).join(", ");
  return {
    message: `A cursor that was never given is accepted by ${methods}`,
    evidence: all
      .map(({ exchange }) => `${exchange.sent}\nwas answered with ${seen(exchange, 120)}`)
      .join("\n"),
    fix: INVALID_CURSOR,
  };
}

/** What cannot be answered at all is a matter of the rules for capabilities. */
function otherError({ method, exchange }: Provoked): Found[] {
  const error = errorOf(exchange);
  if (error === undefined || error.code === -32602 || error.code === -32601) return [];
  return [
    {
      message: `${method} answers an invalid cursor with error ${String(error.code)}`,
      evidence: `${exchange.sent}\nwas answered with ${seen(exchange)}`,
      fix: INVALID_CURSOR,
    },
  ];
}

function listings(catalogue: Catalogue): Listing[] {
  return Object.values(catalogue).filter((listing) => listing !== undefined);
}

type Pages = Pick<Listing, "method" | "pages">;

/** The same page under the same cursor again. A cursor alone proves nothing: what it means is the server's affair. */
export function loop({ method, pages }: Pages): Found[] {
  for (const [index, page] of pages.entries()) {
    const before = pages
      .slice(0, index)
      .findIndex((one) => one.cursor === page.cursor && isDeepStrictEqual(one.items, page.items));
    if (before < 0 || page.cursor === undefined || page.nextCursor === undefined) continue;
    return [
      {
        message: `${method} comes back to a page that it has given, and so has no end`,
        evidence: `pages ${before + 1} and ${index + 1}, asked with the cursor ${shown(page.cursor)}: ${shown(page.result, 200)}`,
        fix: "Leave nextCursor out of the last page, and let each cursor lead to the page after it.",
      },
    ];
  }
  return [];
}

export function cursorTypes({ method, pages }: Pages): Found[] {
  const wrong = pages.find(({ nextCursor }) => nextCursor !== undefined && typeof nextCursor !== "string");
  if (wrong === undefined) return [];
  return [
    {
      message: `${method}: nextCursor must be a string`,
      evidence: `"nextCursor": ${shown(wrong.nextCursor)}`,
      fix: "Write it as a string.",
    },
  ];
}

const MOST_EMPTY = 3;

export function emptyPages(listing: Pages): Found[] {
  const { method, pages } = listing;
  if (loop(listing).length > 0) return [];
  let empty = 0;
  for (const { items, nextCursor } of pages) {
    empty = items.length === 0 && nextCursor !== undefined ? empty + 1 : 0;
    if (empty < MOST_EMPTY) continue;
    return [
      {
        message: `${method} has ${MOST_EMPTY} empty pages in a row, and claims that more follow`,
        evidence: `of ${pages.length}${pages.length >= MOST_PAGES ? " or more" : ""} pages; the last nextCursor was ${shown(nextCursor)}`,
        fix: "Go on to the next entries before answering: every page costs a round trip.",
      },
    ];
  }
  return [];
}

export function duplicates(listing: Pages): Found[] {
  const { method, pages } = listing;
  if (loop(listing).length > 0) return [];
  const pageOf = new Map<string, number>();
  const twice = new Map<string, string>();
  for (const [index, { items }] of pages.entries()) {
    for (const item of items.filter(isObject)) {
      const key = item["uri"] ?? item["uriTemplate"] ?? item["name"];
      if (typeof key !== "string") continue;
      const first = pageOf.get(key);
      if (first === undefined) pageOf.set(key, index);
      else if (first !== index) twice.set(key, `pages ${first + 1} and ${index + 1}`);
    }
  }
  return [...twice].slice(0, 10).map(([key, where]) => ({
    message: `${method} lists ${shortened(key)} on more than one page`,
    evidence: `${where}, of ${pages.length}`,
    fix: "Order the entries by something that does not change, and let the cursor say after which one to go on.",
  }));
}
