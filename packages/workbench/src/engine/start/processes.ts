/** The processes of a server, from the one that was started to what that started: their memory, and who is the server. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  /** Hundredths of a second since the system started. */
  readonly startedAt: number;
  readonly residentBytes: number;
  readonly command: string;
  /** What its standard input and output are, as the system names them. */
  readonly streams: string;
}

/** Whether this system tells of processes. */
export const tellsProcesses = process.platform === "linux";

/** Milliseconds of one unit of `startedAt`: what the kernel shows to programs has 100 of them a second. */
export const TICK_MS = 10;

/** The processes that this one has started itself. */
export function ownChildren(): Set<number> {
  return new Set(
    allProcesses()
      .filter(({ parent }) => parent === process.pid)
      .map(({ pid }) => pid),
  );
}

/** A child of this process that is not among those of before, and all that descends from it; the child comes first. */
export function newTree(before: ReadonlySet<number>): ProcessInfo[] {
  const all = allProcesses();
  const root = all.find(({ pid, parent }) => parent === process.pid && !before.has(pid));
  if (root === undefined) return [];
  const tree = [root];
  for (const { pid } of tree) tree.push(...all.filter(({ parent }) => parent === pid));
  return tree;
}

/**
 * The server of a tree: launchers (`npx`, `npm run`, `uvx`, a shell) hand their own standard streams on, so it is the
 * last in line that has those of the root. What a server starts for itself has others.
 */
export function serverOf(tree: readonly ProcessInfo[]): ProcessInfo | undefined {
  let server = tree[0];
  for (;;) {
    const next = tree
      .filter(({ parent, streams }) => parent === server?.pid && streams === tree[0]?.streams)
      .sort((a, b) => a.startedAt - b.startedAt)[0];
    if (next === undefined) return server;
    server = next;
  }
}

function allProcesses(): ProcessInfo[] {
  if (!tellsProcesses) return [];
  return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (processInfo(name) ?? []) : []));
}

function processInfo(pid: string): ProcessInfo | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // After the name, which may hold anything (proc_pid_stat, fields 3 and on).
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z") return undefined;
    const parent = Number(fields[1]);
    const isOurs = parent === process.pid || parent > 1;
    return {
      pid: Number(pid),
      parent,
      startedAt: Number(fields[19]),
      residentBytes: residentBytes(pid),
      command: readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ").trim(),
      streams: isOurs ? [0, 1].map((fd) => linkOf(`/proc/${pid}/fd/${fd}`)).join(" ") : "",
    };
  } catch {
    // Gone meanwhile, or somebody else's.
    return undefined;
  }
}

function residentBytes(pid: string): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
