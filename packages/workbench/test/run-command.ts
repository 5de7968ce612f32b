/** Runs the built command as a person or a script would, and tells what came of it. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const FIXTURE = fileURLToPath(new URL("./fixtures/stdio-server.mjs", import.meta.url));

/** The words after `--` that start the fixture. */
export const fixture = (...switches: string[]) => ["--", process.execPath, FIXTURE, ...switches];

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly bytes: Buffer;
}

export interface RunOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Called once it runs. */
  readonly onStart?: (child: ChildProcess) => void;
}

/** Runs a program to its end. */
export function runProgram(
  file: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const { NO_COLOR: _, ...env } = process.env;
    const child = spawn(file, args, { env: { ...env, TERM: "xterm-256color", ...options.env } });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    child.stdin.on("error", () => {});
    child.stdin.end(options.stdin ?? "");
    child.on("error", reject);
    child.on("close", (code) => {
      const bytes = Buffer.concat(out);
      resolve({ code, bytes, stdout: bytes.toString("utf8"), stderr: Buffer.concat(err).toString("utf8") });
    });
    options.onStart?.(child);
  });
}

/** What must never reach a terminal from a server: control characters, and those that hide or reorder text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is what this is for
export const STEERING = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u{e0041}]/u;

/** A screen without what this program itself sends to a terminal: colours, and the erasing of a line. */
export function withoutOwnCodes(screen: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is what this is for
  return screen.replace(/\x1b\[(\d+m|2K)|\r/g, "");
}

/** Where `script` (util-linux) is: it runs a program on a terminal. */
export const SCRIPT = ["/usr/bin/script", "/bin/script"].find(
  (path) => existsSync(path) && process.platform === "linux",
);

/** Runs a program on a terminal of 100 columns; what it wrote to stdout and stderr comes back as one. */
export async function runOnTerminal(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; screen: string }> {
  const quoted = [file, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const line = `stty cols 100 rows 40; ${quoted}`;
  const { code, stdout } = await runProgram(SCRIPT as string, ["-qec", line, "/dev/null"], { env });
  return { code, screen: stdout.replaceAll("\r\n", "\n") };
}

/** Whether a process is there. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Looks again and again until there is something to see. */
export async function eventually<T>(look: () => T | undefined): Promise<T> {
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
