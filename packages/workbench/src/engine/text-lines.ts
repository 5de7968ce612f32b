/** Lines of a stream of text, exactly as they stand: only a newline ends one, and only the newline is taken off. */
import type { Readable } from "node:stream";

/** The last line counts whether or not it ends with a newline. @throws AbortError once `signal` aborts. */
export async function* textLines(stream: Readable, signal: AbortSignal): AsyncGenerator<string, void> {
  const { addAbortSignal } = await import("node:stream");
  const decoder = new TextDecoder();
  let held = "";
  for await (const chunk of addAbortSignal(signal, stream) as AsyncIterable<Buffer | string>) {
    held += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    const lines = held.split("\n");
    held = lines.pop() ?? "";
    yield* lines;
  }
  if (held !== "") yield held;
}
