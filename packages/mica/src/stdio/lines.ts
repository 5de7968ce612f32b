/**
 * Newline framing over bytes (transports/stdio): chunks in, lines out. Pure: it holds no stream and no timer.
 * Every byte is looked at once and copied a bounded number of times, however the chunks fall.
 */
import { isUtf8 } from "../protocol/utf8.js";

/** A line that cannot be a message. */
export type LineProblem =
  | {
      readonly kind: "too_long";
      /** Bytes of the line, without its newline. */
      readonly bytes: number;
      /** The limit that it went over, in bytes. */
      readonly limit: number;
      /** Its first and last characters: enough to tell whose message it was. */
      readonly head: string;
      readonly tail: string;
    }
  /** `text` is the line with U+FFFD in place of what is not UTF-8. */
  | { readonly kind: "not_utf8"; readonly text: string };

export interface LineReaderOptions {
  /** Longest line, in bytes without its newline. A longer one is skipped, never held. */
  readonly maxBytes: number;
  /** Called for each line that is not blank, in order, without its line end and a leading byte order mark. */
  readonly onLine: (text: string) => void;
  /** Called once for each line that cannot be read, in its place among the lines. */
  readonly onProblem: (problem: LineProblem) => void;
}

export interface LineReader {
  feed(chunk: Buffer): void;
  /** The stream has ended: what came after the last newline is a line too. */
  end(): void;
}

/** Bytes that are kept of either end of a line that is too long. */
const EXCERPT_BYTES = 2048;
/** Above this, memory held for one long line is given back after it. */
const KEPT_BYTES = 64 * 1024;
const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
const EMPTY = Buffer.alloc(0);

export function createLineReader({ maxBytes, onLine, onProblem }: LineReaderOptions): LineReader {
  // The beginning of a line whose newline has not come. It doubles when it grows, so that many small
  // chunks cost neither an object each nor a copy of the whole each.
  let held: Buffer = EMPTY;
  let used = 0;
  // A line that went over the limit: its length so far (0 while there is none) and its two ends.
  let skipped = 0;
  let head: Buffer = EMPTY;
  let tail: Buffer = EMPTY;

  function hold(part: Buffer): void {
    if (skipped > 0) {
      skip(part);
    } else if (used + part.length > maxBytes) {
      skipped = used;
      head = Buffer.from(held.subarray(0, Math.min(used, EXCERPT_BYTES)));
      tail = Buffer.from(held.subarray(Math.max(0, used - EXCERPT_BYTES), used));
      release();
      skip(part);
    } else {
      if (used + part.length > held.length) {
        const larger = Buffer.allocUnsafe(Math.max(used + part.length, 2 * held.length, 1024));
        held.copy(larger, 0, 0, used);
        held = larger;
      }
      part.copy(held, used);
      used += part.length;
    }
  }

  function skip(part: Buffer): void {
    skipped += part.length;
    const missing = EXCERPT_BYTES - head.length;
    if (missing > 0) head = Buffer.concat([head, part.subarray(0, missing)]);
    tail =
      part.length >= EXCERPT_BYTES
        ? Buffer.from(part.subarray(part.length - EXCERPT_BYTES))
        : Buffer.concat([tail.subarray(Math.max(0, tail.length + part.length - EXCERPT_BYTES)), part]);
  }

  function release(): void {
    used = 0;
    if (held.length > KEPT_BYTES) held = EMPTY;
  }

  /** The line that is held is complete. */
  function finish(): void {
    if (skipped > 0) {
      const ends = { head: head.toString(), tail: tail.toString() };
      const problem: LineProblem = { kind: "too_long", bytes: skipped, limit: maxBytes, ...ends };
      skipped = 0;
      head = EMPTY;
      tail = EMPTY;
      onProblem(problem);
    } else if (used > 0) {
      const line = held;
      const length = used;
      release();
      emit(line, 0, length);
    }
  }

  function emit(bytes: Buffer, start: number, end: number): void {
    let from = start;
    let to = end;
    if (to > from && bytes[to - 1] === CARRIAGE_RETURN) to--;
    if (to - from >= 3 && bytes[from] === 0xef && bytes[from + 1] === 0xbb && bytes[from + 2] === 0xbf)
      from += 3;
    if (from === to) return;
    const text = bytes.toString("utf8", from, to);
    // Only text with the replacement character can have been damaged, so only that is checked.
    if (text.includes("\ufffd") && !isUtf8(bytes.subarray(from, to))) onProblem({ kind: "not_utf8", text });
    else if (text.charCodeAt(0) > 32 || text.trim() !== "") onLine(text);
  }

  return {
    feed(chunk) {
      let start = 0;
      let newline = chunk.indexOf(NEWLINE);
      while (newline !== -1) {
        if (used > 0 || skipped > 0 || newline - start > maxBytes) {
          hold(chunk.subarray(start, newline));
          finish();
        } else {
          emit(chunk, start, newline);
        }
        start = newline + 1;
        newline = chunk.indexOf(NEWLINE, start);
      }
      if (start < chunk.length) hold(chunk.subarray(start));
    },
    end: finish,
  };
}
