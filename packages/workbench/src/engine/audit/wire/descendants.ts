/** Processes that a server started and left behind, found by a mark in their environment or by their group. */
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** A variable that is set for each server process, and that whatever it starts inherits. */
export const MARK = "MICA_AUDIT_PROCESS";

export interface Descendant {
  readonly pid: number;
  readonly command: string;
}

/**
 * Live processes with the mark, or of the group, besides the leader of the group itself; undefined where this system
 * does not tell.
 */
export async function descendants(mark: string, group: number): Promise<Descendant[] | undefined> {
  if (process.platform === "linux") return fromProc(mark, group);
  return process.platform === "win32" ? undefined : fromPs(group);
}

async function fromProc(mark: string, group: number): Promise<Descendant[]> {
  const found: Descendant[] = [];
  for (const name of await readdir("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === group) continue;
    try {
      const stat = await readFile(`/proc/${name}/stat`, "utf8");
      // After the name, which may hold anything: state, parent, group.
      const [state, , inGroup] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (state === "Z" || state === "X") continue;
      const marked = (await readFile(`/proc/${name}/environ`, "utf8"))
        .split("\0")
        .includes(`${MARK}=${mark}`);
      if (!marked && Number(inGroup) !== group) continue;
      const command = (await readFile(`/proc/${name}/cmdline`, "utf8")).split("\0").join(" ").trim();
      found.push({ pid, command });
    } catch {
      // Gone meanwhile, or somebody else's.
    }
  }
  return found;
}

async function fromPs(group: number): Promise<Descendant[]> {
  const { execFile } = await import("node:child_process");
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,pgid=,stat=,command="]);
  return stdout.split("\n").flatMap((line) => {
    const [, pid, inGroup, state = "", command = ""] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    const counts = Number(inGroup) === group && Number(pid) !== group && !state.startsWith("Z");
    return counts ? [{ pid: Number(pid), command }] : [];
  });
}
