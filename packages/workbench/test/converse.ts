/** Talks to the built command on a terminal, as a person would: reads what is asked, then types. */
import { spawn } from "node:child_process";
import { SCRIPT } from "./run-command.js";

/** What to wait for on the screen, nothing for at once, and what to type then; `\r` is the key Enter. */
export type Step = readonly [seen: string, typed: string];

export interface Conversation {
  readonly code: number | null;
  /** All that was on the screen, colours and cursor movements included. */
  readonly screen: string;
}

export const KEY = { enter: "\r", ctrlC: "\x03", ctrlD: "\x04", left: "\x1b[D" } as const;

/**
 * Runs a program on a terminal. Every step waits for its text to come after that of the step before; where the
 * program ends too early, the promise rejects with what was on the screen.
 */
export function converse(
  words: readonly string[],
  steps: readonly Step[],
  env: Readonly<Record<string, string>> = {},
): Promise<Conversation> {
  return new Promise((resolve, reject) => {
    const quoted = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
    const line = `stty cols 100 rows 40; ${quoted}`;
    const child = spawn(SCRIPT as string, ["-qec", line, "/dev/null"], {
      env: { ...process.env, TERM: "xterm-256color", NO_COLOR: "1", ...env },
      stdio: ["pipe", "pipe", "inherit"],
    });
    const left = [...steps];
    let screen = "";
    let from = 0;
    child.stdout.setEncoding("utf8");
    const look = () => {
      for (let next = left[0]; next !== undefined; next = left[0]) {
        const at = screen.indexOf(next[0], from);
        if (at < 0) break;
        from = at + next[0].length;
        left.shift();
        child.stdin.write(next[1]);
      }
    };
    child.stdout.on("data", (chunk: string) => {
      screen += chunk;
      look();
    });
    look();
    child.stdin.on("error", () => {});
    child.on("error", reject);
    child.on("close", (code) => {
      const [missed] = left;
      if (missed === undefined) resolve({ code, screen: screen.replaceAll("\r\n", "\n") });
      else reject(new Error(`never saw ${JSON.stringify(missed[0])}; exit code ${code}, screen:\n${screen}`));
    });
  });
}
