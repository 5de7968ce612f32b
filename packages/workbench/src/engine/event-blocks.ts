/** A stream of Server-Sent Events, cut into its events without leaving anything out. */
import type { Readable } from "node:stream";

export interface EventBlock {
  /** The event with all its lines, comments included, as it came. */
  readonly text: string;
  /** Its data; undefined where it has none. */
  readonly data: string | undefined;
}

const BLANK_LINE = /\r?\n\r?\n|\r\r/g;
/** Characters of a blank line that may have come already, less one. */
const OVERLAP = 3;

/** Reads to the end of the stream. @throws Error where an event is longer than `most` characters, or the stream breaks. */
export async function readEvents(
  stream: Readable,
  most: number,
  onBlock: (block: EventBlock) => void,
): Promise<void> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let held = "";
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    // What was looked through before is not looked through again.
    let from = Math.max(0, held.length - OVERLAP);
    let begin = 0;
    held += decoder.decode(chunk, { stream: true });
    for (;;) {
      BLANK_LINE.lastIndex = from;
      const end = BLANK_LINE.exec(held);
      if (end === null) break;
      from = end.index + end[0].length;
      onBlock(blockOf(held.slice(begin, from)));
      begin = from;
    }
    held = held.slice(begin);
    if (held.length > most) throw new Error(`an event is longer than ${most} characters`);
  }
  if (held !== "") onBlock({ text: held, data: undefined });
}

function blockOf(text: string): EventBlock {
  return { text, data: dataOf(text.replace(/^\ufeff/, "")) };
}

/** The data of each complete event of a text; of one that has none, nothing (HTML Standard, Server-sent events). */
export function eventData(text: string): string[] {
  // What follows the last blank line is no complete event.
  const events = text.replace(/\r\n?/g, "\n").split("\n\n").slice(0, -1);
  return events.flatMap((event) => dataOf(event) ?? []);
}

function dataOf(event: string): string | undefined {
  const data = event
    .split(/\r\n|\n|\r/)
    .filter((line) => line === "data" || line.startsWith("data:"))
    .map((line) => line.slice(5).replace(/^ /, ""));
  const joined = data.join("\n");
  return joined === "" ? undefined : joined;
}
