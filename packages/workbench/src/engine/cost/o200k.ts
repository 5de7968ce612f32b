/**
 * Tokens of a text in o200k_base. The table is that of gpt-tokenizer, which is loaded at first use; the merging is done
 * here, because a text comes from a server, and most tokenizers take hours for one long word.
 */

/**
 * How o200k_base cuts a text into pieces before bytes are merged: words with their case, up to three digits,
 * punctuation, white space.
 */
const CONTRACTION = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?";
const UPPER = "\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}";
const LOWER = "\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}";
const PIECES = new RegExp(
  [
    `[^\\r\\n\\p{L}\\p{N}]?[${UPPER}]*[${LOWER}]+${CONTRACTION}`,
    `[^\\r\\n\\p{L}\\p{N}]?[${UPPER}]+[${LOWER}]*${CONTRACTION}`,
    "\\p{N}{1,3}",
    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*",
    "\\s*[\\r\\n]+",
    "\\s+(?!\\S)",
    "\\s+",
  ].join("|"),
  "gu",
);

/** The largest number of bytes that one token of the table stands for. */
const LONGEST_TOKEN = 128;
/** Pieces whose count is kept: the same words come again and again. */
const MOST_KEPT = 50_000;

/** Counts the tokens of a text. What looks like a special token (`<|endoftext|>`) is text, as it is to a server. */
export type CountTokens = (text: string) => number;

let loaded: Promise<CountTokens> | undefined;

/** Loads the table, once. */
export function loadO200k(): Promise<CountTokens> {
  loaded ??= import("gpt-tokenizer/bpeRanks/o200k_base").then(({ default: table }) => counter(table));
  return loaded;
}

function counter(table: readonly (string | readonly number[])[]): CountTokens {
  // By the bytes of a token, each as one character.
  const ranks = new Map<string, number>();
  for (const [rank, token] of table.entries()) {
    if (token === undefined) continue;
    ranks.set(typeof token === "string" ? bytesOf(token) : String.fromCharCode(...token), rank);
  }
  const kept = new Map<string, number>();
  return (text) => {
    let tokens = 0;
    for (const [piece] of text.matchAll(PIECES)) {
      let count = kept.get(piece);
      if (count === undefined) {
        const bytes = bytesOf(piece);
        count = ranks.has(bytes) ? 1 : merge(bytes, ranks);
        if (kept.size >= MOST_KEPT) kept.clear();
        kept.set(piece, count);
      }
      tokens += count;
    }
    return tokens;
  };
}

/** The bytes of a text in UTF-8, each as one character. */
function bytesOf(text: string): string {
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) > 0x7f) return Buffer.from(text, "utf8").toString("latin1");
  }
  return text;
}

/** Positions and ranks are kept in one number in the heap: rank first, then position. */
const POSITIONS = 2 ** 32;

/**
 * Merges the neighbours of lowest rank, the leftmost first, until no two make a token. With a heap the time grows
 * little faster than the length.
 *
 * @returns how many tokens are left
 */
function merge(bytes: string, ranks: ReadonlyMap<string, number>): number {
  const { length } = bytes;
  // The part that begins at each position ends where `next` says; `rank` is that of it together with the next part.
  const next = Uint32Array.from({ length }, (_, at) => at + 1);
  const previous = Int32Array.from({ length }, (_, at) => at - 1);
  const rank = new Int32Array(length).fill(-1);
  const heap: number[] = [];

  const look = (at: number) => {
    const middle = next[at] as number;
    const end = middle < length ? (next[middle] as number) : -1;
    const found = end > 0 && end - at <= LONGEST_TOKEN ? ranks.get(bytes.slice(at, end)) : undefined;
    rank[at] = found ?? -1;
    if (found !== undefined) push(heap, found * POSITIONS + at);
  };

  for (let at = 0; at + 1 < length; at++) look(at);
  let parts = length;
  while (heap.length > 0) {
    const lowest = pop(heap);
    const at = lowest % POSITIONS;
    // What has been merged since is no pair any more.
    if (rank[at] !== Math.floor(lowest / POSITIONS)) continue;
    const gone = next[at] as number;
    const after = next[gone] as number;
    next[at] = after;
    rank[gone] = -1;
    if (after < length) previous[after] = at;
    parts--;
    look(at);
    const before = previous[at] as number;
    if (before >= 0) look(before);
  }
  return parts;
}

function push(heap: number[], value: number): void {
  let at = heap.length;
  heap.push(value);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if ((heap[parent] as number) <= value) break;
    heap[at] = heap[parent] as number;
    at = parent;
  }
  heap[at] = value;
}

function pop(heap: number[]): number {
  const lowest = heap[0] as number;
  const value = heap.pop() as number;
  const { length } = heap;
  if (length === 0) return lowest;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= length) break;
    if (child + 1 < length && (heap[child + 1] as number) < (heap[child] as number)) child++;
    if ((heap[child] as number) >= value) break;
    heap[at] = heap[child] as number;
    at = child;
  }
  heap[at] = value;
  return lowest;
}
