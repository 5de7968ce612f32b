/** Processes of their own, made of TypeScript: built once, forked, and ended with the test. */
import { type ChildProcess, fork } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { onTestFinished } from "vitest";

/** A folder for a test, gone when it is over. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "mica-auth-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Builds fixtures where the packages that they import can be found. */
export async function buildFixtures(
  ...names: string[]
): Promise<{ at(name: string): string; remove(): void }> {
  const cache = fileURLToPath(new URL("../../../node_modules/.cache/", import.meta.url));
  mkdirSync(cache, { recursive: true });
  const outdir = mkdtempSync(join(cache, "auth-"));
  await build({
    entryPoints: names.map((name) => fileURLToPath(new URL(`./fixtures/${name}.ts`, import.meta.url))),
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    tsconfigRaw: {},
    logLevel: "silent",
  });
  return {
    at: (name) => join(outdir, `${name}.mjs`),
    remove: () => rmSync(outdir, { recursive: true, force: true }),
  };
}

export interface Forked {
  readonly child: ChildProcess;
  /** The next message that it sends. */
  next(): Promise<unknown>;
  go(): void;
}

export async function start(file: string, ...args: string[]): Promise<Forked> {
  const child = fork(file, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const messages: unknown[] = [];
  const waiting: ((message: unknown) => void)[] = [];
  child.on("message", (message) => {
    const take = waiting.shift();
    if (take) take(message);
    else messages.push(message);
  });
  onTestFinished(() => {
    if (child.exitCode === null) child.kill("SIGKILL");
  });
  const next = () =>
    messages.length > 0
      ? Promise.resolve(messages.shift())
      : new Promise<unknown>((resolve, reject) => {
          waiting.push(resolve);
          child.once("exit", (code) => reject(new Error(`it ended with exit code ${code}`)));
        });
  await next();
  return { child, next, go: () => void child.send("go") };
}
