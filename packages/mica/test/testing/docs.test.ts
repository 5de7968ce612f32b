/** The examples of the guide to testing: they compile as they stand, and their tests pass. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, it, vi } from "vitest";

vi.setConfig({ testTimeout: 120_000 });

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const run = promisify(execFile);
const guide = readFileSync(here("../../../../docs/testing.md"), "utf8");
/** Blocks that begin with the name of their file are whole files. */
const files = [...guide.matchAll(/^```ts\n\/\/ (\S+\.ts)\n([\s\S]*?)^```$/gm)].map(
  ([, name, source]) => [name, source] as [string, string],
);

let folder: string;

beforeAll(() => {
  const cache = here("../../node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, "guide-"));
  for (const [name, source] of files) writeFileSync(join(folder, name), source);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const config = {
    extends: here("../../../../tsconfig.json"),
    files: files.map(([name]) => name),
    include: [],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("are the ones that are expected", () => {
  expect(files.map(([name]) => name)).toEqual([
    "shop.ts",
    "memory.test.ts",
    "main.ts",
    "fresh-process.test.ts",
    "replay.test.ts",
    "by-hand.ts",
  ]);
});

it("compile", async () => {
  const require = createRequire(import.meta.url);
  const tsc = join(dirname(require.resolve("typescript/package.json")), "bin", "tsc");
  const checked = await run(process.execPath, [tsc, "--noEmit", "-p", folder]).catch(
    (error: unknown) => error,
  );
  // What is wrong elsewhere is reported elsewhere.
  const { stdout } = checked as { stdout: string };
  expect(stdout.split("\n").filter((line) => /^error |guide-/.test(line))).toEqual([]);
});

it("pass", async () => {
  const entry = (name: string) => here(`../../src/entry/${name}.ts`);
  await build({
    absWorkingDir: folder,
    entryPoints: files.map(([name]) => name).filter((name) => name !== "shop.ts"),
    outdir: folder,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    alias: {
      "mica-mcp": entry("index"),
      "mica-mcp/client": entry("client"),
      "mica-mcp/stdio": entry("stdio"),
      "mica-mcp/testing": entry("testing"),
    },
    external: ["zod"],
    logLevel: "warning",
    tsconfigRaw: {},
  });
  const tests = files
    .map(([name]) => name.replace(/\.ts$/, ".js"))
    .filter((name) => name.endsWith(".test.js"));
  const { stdout } = await run(process.execPath, ["--test", "--test-reporter=tap", ...tests], {
    cwd: folder,
  });
  expect(stdout).toMatch(/^# pass 3$/m);
  expect(stdout).toMatch(/^# fail 0$/m);
});
