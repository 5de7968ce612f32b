/** The command as it is installed: built from the sources at hand, and run as a process of its own. */
import { type ChildProcessWithoutNullStreams, type SpawnOptions, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll } from "vitest";

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const sdk = (entry: string): string => source(`../../../packages/mica/src/entry/${entry}.ts`);

/** Builds the given sources before the tests of a file; the result says where each one lies. */
export function builtFiles(...entries: string[]): (entry: string) => string {
  // Inside the package, so that its dependencies are found from there.
  const folder = source(`../node_modules/.cache/${randomUUID()}`);
  beforeAll(async () => {
    mkdirSync(folder, { recursive: true });
    await build({
      entryPoints: entries.map((entry) => ({ in: source(entry), out: nameOf(entry) })),
      outdir: folder,
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "node",
      target: "node20",
      external: ["better-sqlite3", "zod"],
      alias: {
        "mica-mcp/stdio": sdk("stdio"),
        "mica-mcp/http": sdk("http"),
        "mica-mcp/client": sdk("client"),
        "mica-mcp": sdk("index"),
      },
      outExtension: { ".js": ".mjs" },
      tsconfigRaw: {},
      logLevel: "warning",
    });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return (entry) => join(folder, `${nameOf(entry)}.mjs`);
}

function nameOf(entry: string): string {
  return basename(entry, ".ts");
}

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  /** Resolves to the first line of stdout that matches. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  readonly finished: Promise<Finished>;
}

/** Starts a script; it is killed with the test run at the latest. */
export function run(script: string, args: readonly string[], options: SpawnOptions = {}): Running {
  const env = { ...process.env, ...options.env };
  const child = spawn(process.execPath, [script, ...args], {
    ...options,
    env,
    stdio: "pipe",
  }) as ChildProcessWithoutNullStreams;
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.on("error", () => {});
  const onExit = () => child.kill("SIGKILL");
  process.once("exit", onExit);
  const finished = new Promise<Finished>((resolve, reject) => {
    child.on("error", reject).on("close", (code, signal) => {
      process.off("exit", onExit);
      resolve({ code, signal, stdout, stderr });
    });
  });
  return {
    child,
    finished,
    printed(pattern) {
      return new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(stdout);
          if (match !== null) resolve(match);
        };
        child.stdout.on("data", look);
        look();
        void finished.then((end) => reject(new Error(`ended without ${pattern}: ${JSON.stringify(end)}`)));
      });
    },
  };
}
