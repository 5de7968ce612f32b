/** Lines of a stream of text, exactly as they stand: only a newline ends one, and only the newline is taken off. */
import type { Readable } from "node:stream";

export interface LineSplitter {
  /** The lines that this piece ends. Its work is linear in what it is given, however that is cut. */
  feed(piece: string): string[];
  /** What has no newline yet, in characters. */
  readonly held: number;
  /** Gives up what has no newline yet. */
  rest(): string;
}

export function createLineSplitter(): LineSplitter {
  let pieces: string[] = [];
  let held = 0;
  const rest = () => {
    const text = pieces.length === 1 ? (pieces[0] as string) : pieces.join("");
    pieces = [];
    held = 0;
    return text;
  };
  return {
    rest,
    get held() {
      return held;
    },
    feed(piece) {
      const [first = "", ...more] = piece.split("\n");
      pieces.push(first);
      held += first.length;
      if (more.length === 0) return [];
      const lines = [rest(), ...more.slice(0, -1)];
      const last = more.at(-1) as string;
      pieces.push(last);
      held = last.length;
      return lines;
    },
  };
}

/** The last line counts whether or not it ends with a newline. @throws AbortError once `signal` aborts. */
export async function* textLines(stream: Readable, signal: AbortSignal): AsyncGenerator<string, void> {
  const { addAbortSignal } = await import("node:stream");
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const splitter = createLineSplitter();
  for await (const chunk of addAbortSignal(signal, stream) as AsyncIterable<Buffer | string>) {
    yield* splitter.feed(typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true }));
  }
  const last = splitter.rest();
  if (last !== "") yield last;
}
