/**
 * The terms by which incidents are found. One place turns text into terms, for the index and for queries alike, so
 * that a word that was stored is a word that is found, whatever its alphabet. The index keeps, for every incident:
 *
 * - its words, in order, so that `db-prod-7` is found as a phrase; of scripts without spaces, each character;
 * - `°` and the stem of each word;
 * - `§` and the code point of each symbol, so that an emoji or `%` can be found;
 * - `§` and its handle;
 * - `§t`, its tenant, and its facets: none, severity, state, and both, since one term is sought faster than several.
 *
 * No word contains `°` or `§`: both are symbols, and so become codes. No term contains a quotation mark, which is
 * what makes the queries safe.
 */
import { numberOf } from "./handle.js";
import { stemOf } from "./stem.js";
import type { IncidentState, Severity } from "./store.js";

/** Scripts that are written without spaces between words. */
const UNSPACED = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]`;
const LETTER = String.raw`(?:(?!${UNSPACED})[\p{L}\p{M}\p{N}])`;
const WORDS = new RegExp(`${UNSPACED}|${LETTER}+`, "gu");
/** `auth*`. A single letter before the asterisk would have most of the index read. */
const BEGINNING = new RegExp(`${LETTER}{2}\\*$`, "u");
const SYMBOLS = /[^\p{L}\p{M}\p{N}\s]/gu;
/** Stands between two texts, so that no phrase reaches across. */
const BOUNDARY = "§";

export interface Facets {
  readonly tenant: string;
  readonly severity?: Severity | undefined;
  readonly state?: IncidentState | undefined;
}

/** Everything that one incident is found by. */
export function indexTerms(
  number: number,
  texts: readonly (string | null)[],
  { tenant, severity, state }: Required<Facets>,
): string {
  const words: string[] = [];
  const facets = [{}, { severity }, { state }, { severity, state }];
  const others = new Set([`§inc${number}`, ...facets.map((some) => facetTerm({ tenant, ...some }))]);
  for (const text of texts) {
    if (text === null) continue;
    const plain = normalize(text);
    const found = wordsOf(plain);
    words.push(...found, BOUNDARY);
    for (const word of found) others.add(stemTerm(word));
    for (const symbol of symbolTerms(plain)) others.add(symbol);
  }
  return [...words, ...others].join(" ");
}

/**
 * An FTS5 expression for incidents that contain every piece of the text and have these facets. Undefined where the
 * text asks for nothing.
 */
export function matchExpression(text: string, facets: Facets): string | undefined {
  const pieces = normalize(text)
    .split(/\s+/)
    .map(pieceExpression)
    .filter((piece) => piece !== undefined);
  if (pieces.length === 0) return undefined;
  return [...new Set(pieces), phrase([facetTerm(facets)])].join(" AND ");
}

/** Whether a text asks for anything: one of invisible characters alone does not. */
export function isSearchable(text: string): boolean {
  return matchExpression(text, { tenant: "" }) !== undefined;
}

/** A tenant is any text, and may be long; two that shared a term would still be told apart by the table. */
function facetTerm({ tenant, severity, state }: Facets): string {
  return `§t${tenant && digestOf(tenant)}${severity ?? ""}${state ?? ""}`;
}

function digestOf(tenant: string): string {
  // Loaded where there are tenants: it takes milliseconds of every start.
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(tenant.toWellFormed()).digest("hex").slice(0, 32);
}

function pieceExpression(piece: string): string | undefined {
  const words = wordsOf(piece);
  const [first] = words;
  if (first === undefined) {
    const symbols = symbolTerms(piece).map((term) => phrase([term]));
    return symbols.length > 0 ? [...new Set(symbols)].join(" AND ") : undefined;
  }
  const number = numberOf(piece);
  if (number !== undefined) return `(${phrase([`§inc${number}`])} OR ${phrase(words)})`;
  if (BEGINNING.test(piece)) return `${phrase(words)} *`;
  return words.length === 1 ? phrase([stemTerm(first)]) : phrase(words);
}

/** One spelling for what reads the same: width, case, accents, and what cannot be seen at all. */
function normalize(text: string): string {
  return text
    .toWellFormed()
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\u0300-\u036f\p{Default_Ignorable_Code_Point}]/gu, "")
    .replace(/\p{Cc}/gu, " ")
    .normalize("NFC");
}

function wordsOf(normalized: string): string[] {
  return normalized.match(WORDS) ?? [];
}

function stemTerm(word: string): string {
  return `°${stemOf(word)}`;
}

function symbolTerms(normalized: string): string[] {
  return (normalized.match(SYMBOLS) ?? []).map((symbol) => `§${symbol.codePointAt(0)!.toString(16)}`);
}

function phrase(terms: readonly string[]): string {
  return `"${terms.join(" ")}"`;
}
