/** The lines of stdout as they come, each cut and read once, however many there are and in whatever pieces. */
import type { Members } from "../audited.js";
import { messagesIn } from "./raw.js";

export interface Line {
  /** Counted from 1. */
  readonly number: number;
  /** Where it begins on stdout, in bytes. */
  readonly offset: number;
  /** Without its newline; a carriage return before it stays. */
  readonly bytes: Buffer;
  readonly text: string;
  /** The JSON objects in it. */
  readonly messages: readonly Members[];
  /** False for what follows the last newline. */
  readonly ended: boolean;
}

export interface Lines {
  feed(chunk: Buffer): void;
  /** Those that have ended; it grows. */
  readonly ended: readonly Line[];
  /** All that came, in bytes. */
  readonly length: number;
  /** What has no newline yet. */
  rest(): Line | undefined;
}

export function createLines(): Lines {
  const ended: Line[] = [];
  let pieces: Buffer[] = [];
  let offset = 0;
  let length = 0;
  const lineOf = (isEnded: boolean): Line => {
    const bytes = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
    const text = bytes.toString("utf8");
    return {
      number: ended.length + 1,
      offset,
      bytes,
      text,
      messages: isEnded ? messagesIn([text]) : [],
      ended: isEnded,
    };
  };
  return {
    ended,
    get length() {
      return length;
    },
    feed(chunk) {
      for (let from = 0; from < chunk.length; ) {
        const newline = chunk.indexOf(0x0a, from);
        const to = newline < 0 ? chunk.length : newline;
        pieces.push(chunk.subarray(from, to));
        from = to + 1;
        if (newline < 0) break;
        ended.push(lineOf(true));
        pieces = [];
        offset = length + from;
      }
      length += chunk.length;
    },
    rest: () => (length > offset ? lineOf(false) : undefined),
  };
}
