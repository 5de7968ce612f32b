/** Asking a person, line by line: questions go to stderr, answers come from stdin. */
import { createInterface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";
import { type Paint, paint } from "./paint.js";

export interface Dialog {
  readonly paint: Paint;
  /** Lines that are safe to show. */
  say(...lines: readonly string[]): void;
  /**
   * Asks for one line; undefined at the end of input (Ctrl-D).
   *
   * @throws AbortError where the answer is no longer wanted.
   */
  ask(prompt: string): Promise<string | undefined>;
  /** Gives the terminal back. */
  close(): void;
}

export interface DialogStreams {
  readonly input: Readable;
  readonly output: Writable;
  /** Default: without colours. */
  readonly paint?: Paint;
  /** Aborts when no answer is wanted any more. */
  readonly signal: AbortSignal;
  /** Called for Ctrl-C, which a terminal that edits lines reports as a key. */
  readonly interrupt: () => void;
}

/** Milliseconds in which what was typed before there was a question is read, and dropped. */
const STALE_MS = 50;

/**
 * Begins to ask. What was typed ahead is no answer: nobody can agree to what is not shown yet. The same holds for
 * further lines of a paste.
 */
export async function openDialog(streams: DialogStreams): Promise<Dialog> {
  const { input, output, signal, interrupt } = streams;
  signal.throwIfAborted();
  const isTerminal = (input as { isTTY?: boolean }).isTTY === true;
  const lines = createInterface({ input, output, terminal: isTerminal, historySize: 0, prompt: "" });
  const newLine = () => {
    if (isTerminal) output.write("\n");
  };
  const ended = new Promise<undefined>((resolve) => lines.once("close", () => resolve(undefined)));
  let isEnded = false;
  void ended.then(() => {
    isEnded = true;
  });
  lines.on("SIGINT", interrupt);
  // The cursor stands behind a question, and what comes next begins a line.
  signal.addEventListener("abort", newLine);

  if (isTerminal) {
    await new Promise((resolve) => setTimeout(resolve, STALE_MS));
    if (lines.line !== "") {
      lines.write("", { ctrl: true, name: "e" });
      lines.write("", { ctrl: true, name: "u" });
    }
  }
  return {
    paint: streams.paint ?? paint(false),
    say(...said) {
      output.write(said.map((line) => `${line}\n`).join(""));
    },
    async ask(prompt) {
      const answer = isEnded ? undefined : await Promise.race([lines.question(prompt, { signal }), ended]);
      if (answer === undefined) newLine();
      return answer;
    },
    close() {
      signal.removeEventListener("abort", newLine);
      lines.close();
    },
  };
}
