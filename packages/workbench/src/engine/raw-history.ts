/** What was typed into `mica raw`, kept for the next time. It may hold secrets, and is readable by its owner only. */
import { appendFileSync, chmodSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { makeDirectory } from "./make-directory.js";

/** Lines that are kept. */
const MOST_LINES = 1_000;

/** `mica/raw-history` under `$XDG_STATE_HOME`, or where the platform keeps such files. */
function historyPath(env: NodeJS.ProcessEnv = process.env): string {
  const xdg = env["XDG_STATE_HOME"];
  const local = process.platform === "win32" ? env["LOCALAPPDATA"] : undefined;
  const base = xdg && isAbsolute(xdg) ? xdg : (local ?? join(homedir(), ".local", "state"));
  return join(base, "mica", "raw-history");
}

export interface RawHistory {
  /** Oldest first. */
  readonly lines: readonly string[];
  /** Keeps a line; one that begins with a space is not kept, nor one that repeats the last. */
  add(line: string): void;
}

/** A file that cannot be read or written is no reason not to work: there is no history then. */
export function openHistory(path = historyPath()): RawHistory {
  let lines: string[] = [];
  let isWritable = true;
  try {
    lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
    if (lines.length > MOST_LINES) {
      lines = lines.slice(-MOST_LINES);
      writeFileSync(path, `${lines.join("\n")}\n`, { mode: 0o600 });
    }
    // Whoever made it, it is not for others.
    chmodSync(path, 0o600);
  } catch (error) {
    isWritable = (error as NodeJS.ErrnoException).code === "ENOENT";
  }
  let last = lines.at(-1);
  return {
    lines,
    add(line) {
      if (line === last || line.startsWith(" ") || !isWritable) return;
      last = line;
      try {
        makeDirectory(dirname(path), 0o700);
        appendFileSync(path, `${line}\n`, { mode: 0o600 });
      } catch {
        isWritable = false;
      }
    },
  };
}
