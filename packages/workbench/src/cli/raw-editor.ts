/** The line editor of `mica raw`: history, completion of method names, and what comes in is written above the prompt. */
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { METHOD_NAMES } from "../engine/method-names.js";
import { openHistory } from "../engine/raw-history.js";
import { UsageError } from "../engine/usage-error.js";
import type { Paint } from "./paint.js";
import { visible } from "./terminal.js";

const PROMPT = "mcp> ";

export const EDITOR_HELP = [
  "Type a message, METHOD {params}, or {params} for the method before; what is missing is filled in.",
  "Tab completes methods, the arrows recall lines, a line that begins with a space is not kept.",
  ".help shows this again, Ctrl-D ends.",
];

export interface Editor {
  /** Writes text above the line that is being edited. */
  print(text: string): void;
  /** Hands over every line until the end of input, `.exit` or Ctrl-C. A UsageError is shown, and editing goes on. */
  run(onLine: (line: string) => void): Promise<void>;
}

export interface EditorStreams {
  readonly input: Readable;
  readonly output: NodeJS.WriteStream;
  readonly paint: Paint;
  /** Ends editing when it aborts. */
  readonly signal: AbortSignal;
}

export function openEditor({ input, output, paint, signal }: EditorStreams): Editor {
  const history = openHistory();
  let isOpen = true;
  const lines = createInterface({
    input,
    output,
    terminal: true,
    prompt: PROMPT,
    history: [...history.lines].reverse(),
    historySize: 1_000,
    removeHistoryDuplicates: true,
    completer: (line: string): [string[], string] => {
      // Only the first word is a method.
      if (/[\s{]/.test(line)) return [[], line];
      return [METHOD_NAMES.filter((name) => name.startsWith(line)).map((name) => `${name} `), line];
    },
  });

  const print = (text: string) => {
    if (!isOpen) return void output.write(`${text}\n`);
    output.write(`\r\x1b[2K${text}\n`);
    lines.prompt(true);
  };
  return {
    print,
    run: (onLine) =>
      new Promise((resolve) => {
        const end = () => lines.close();
        signal.addEventListener("abort", end, { once: true });
        lines.on("SIGINT", end);
        lines.on("close", () => {
          isOpen = false;
          signal.removeEventListener("abort", end);
          output.write("\n");
          resolve();
        });
        lines.on("line", (line) => {
          const word = line.trim();
          if (word === ".exit") return end();
          if (word === ".help") output.write(`${EDITOR_HELP.join("\n")}\n`);
          else if (word !== "") take(line, onLine);
          if (isOpen) lines.prompt();
        });
        lines.prompt();
      }),
  };

  function take(line: string, onLine: (line: string) => void): void {
    history.add(line);
    try {
      onLine(line);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      output.write(`${paint.red(visible(error.message))}\n`);
    }
  }
}
