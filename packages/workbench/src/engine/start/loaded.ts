/**
 * What a Node server loads: in a run of its own, which is not timed, every file is noted by a module that is loaded
 * before the server. Programs that are not Node take no notice of it.
 */
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Loaded {
  /** The script that was started. */
  readonly entry: string;
  readonly files: number;
  readonly bytes: number;
  /** Files by package, the most first; those of none are under "". */
  readonly packages: readonly { readonly name: string; readonly files: number; readonly bytes: number }[];
}

export interface LoadNotes {
  /** The variable to start the server with. */
  readonly env: { readonly NODE_OPTIONS: string };
  /** What a process has loaded so far; undefined where it is none of Node. */
  read(pid: number | undefined): Loaded | undefined;
  remove(): void;
}

/** @param nodeOptions What `NODE_OPTIONS` holds already. */
export function noteLoads(nodeOptions: string | undefined): LoadNotes {
  const folder = mkdtempSync(join(tmpdir(), "mica-loads-"));
  const file = join(folder, "notes");
  const hook = `data:text/javascript,${encodeURIComponent(hookCode(file))}`;
  return {
    env: { NODE_OPTIONS: [nodeOptions, `--import=${hook}`].filter(Boolean).join(" ") },
    read: (pid) => readNotes(file, pid),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** ES modules come by the loader, which sees their imports only, everything else by `Module.prototype.load`. */
const hookCode = (file: string) => `
import { appendFileSync } from "node:fs";
import Module, { register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";
const note = (kind, what) => appendFileSync(${JSON.stringify(file)}, JSON.stringify([process.pid, kind, what]) + "\\n");
if (isMainThread) {
  note("start", process.argv[1] ?? "");
  register(import.meta.url);
  const { load } = Module.prototype;
  Module.prototype.load = function (path, ...rest) {
    note("file", path);
    return load.call(this, path, ...rest);
  };
}
export async function load(url, context, next) {
  if (url.startsWith("file:")) note("file", fileURLToPath(url));
  return next(url, context);
}
`;

function readNotes(file: string, pid: number | undefined): Loaded | undefined {
  let lines: string[];
  try {
    lines = readFileSync(file, "utf8").trim().split("\n");
  } catch {
    return undefined;
  }
  const notes = lines.map((line) => JSON.parse(line) as [number, "start" | "file", string]);
  // Where processes cannot be looked at, the last that was started.
  const of = pid ?? notes.findLast(([, kind]) => kind === "start")?.[0];
  const own = notes.filter(([each]) => each === of);
  const entry = own.find(([, kind]) => kind === "start")?.[2];
  if (entry === undefined) return undefined;
  const packages = new Map<string, { files: number; bytes: number }>();
  const paths = new Set(own.filter(([, kind]) => kind === "file").map(([, , path]) => path));
  let bytes = 0;
  for (const path of paths) {
    const size = sizeOf(path);
    const name = packageOf(path);
    const sum = packages.get(name) ?? { files: 0, bytes: 0 };
    packages.set(name, { files: sum.files + 1, bytes: sum.bytes + size });
    bytes += size;
  }
  return {
    entry,
    files: paths.size,
    bytes,
    packages: [...packages]
      .map(([name, sum]) => ({ name, ...sum }))
      .sort((a, b) => b.files - a.files || b.bytes - a.bytes),
  };
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}

/** The package by the last `node_modules` of a path; "" where there is none. */
function packageOf(path: string): string {
  return /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(path)?.[1]?.replace("\\", "/") ?? "";
}
