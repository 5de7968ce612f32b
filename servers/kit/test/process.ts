/** A command as it is installed: built from the sources at hand, and run as a process of its own. */
import { type ChildProcessWithoutNullStreams, type SpawnOptions, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll } from "vitest";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const sdk = (entry: string): string => here(`../../../packages/mica/src/entry/${entry}.ts`);

/**
 * Builds sources before the tests of a file, in few files, so that many processes start quickly. The result says
 * where each one lies.
 *
 * @param from `import.meta.url` of the tests, from which the entries are named
 */
export function builtFiles(from: string, ...entries: string[]): (entry: string) => string {
  // There, what stays external is found.
  const folder = here(`../../../node_modules/.cache/${randomUUID()}`);
  beforeAll(async () => {
    await build({
      entryPoints: entries.map((entry) => ({
        in: fileURLToPath(new URL(entry, from)),
        out: basename(entry, ".ts"),
      })),
      outdir: folder,
      outExtension: { ".js": ".mjs" },
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "node",
      target: "node20",
      external: ["better-sqlite3", "zod", "jose", "oauth4webapi", "@cfworker/json-schema"],
      alias: {
        "mica-mcp/stdio": sdk("stdio"),
        "mica-mcp/http": sdk("http"),
        "mica-mcp/client": sdk("client"),
        "mica-mcp/auth/client": sdk("auth/client"),
        "mica-mcp/auth": sdk("auth"),
        "mica-mcp": sdk("index"),
      },
      tsconfigRaw: {},
      logLevel: "warning",
    });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return (entry) => join(folder, `${basename(entry, ".ts")}.mjs`);
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
