/** Every example in the guides that names its file compiles as it stands. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const docs = here("../../../docs");
const cache = here("../node_modules/.cache");
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, "docs-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** As strict as this repository, and what `strict` alone means: there, an optional member may be `undefined`. */
const SETTINGS = {
  "with every check": {},
  "with strict alone": { exactOptionalPropertyTypes: false, noUncheckedIndexedAccess: false },
};

/** What no guide shows whole: answers made of what may be missing. */
const OPTIONAL_MEMBERS = `import { connect, type ElicitResult } from "mica-mcp/client";
declare const filled: { name?: string; count?: number };
export const answer: ElicitResult = { action: "accept", content: filled };
export const client = connect("http://127.0.0.1:9/mcp", { name: "a", version: "1", onElicit: () => ({ action: "accept", content: { name: filled.name } }) });
`;

it.each(Object.entries(SETTINGS))("compile %s", { timeout: 60_000 }, async (_, compilerOptions) => {
  const names: string[] = ["optional-members.ts"];
  writeFileSync(join(folder, "optional-members.ts"), OPTIONAL_MEMBERS);
  for (const guide of readdirSync(docs)) {
    const text = readFileSync(join(docs, guide), "utf8");
    for (const [, name, source] of text.matchAll(/^```ts\n\/\/ (\S+\.ts)\n([\s\S]*?)^```$/gm)) {
      writeFileSync(join(folder, name!), source!);
      names.push(name!);
    }
  }
  expect(names).toEqual(
    expect.arrayContaining([
      "notes.ts",
      "book.ts",
      "stdio.ts",
      "http.ts",
      "client.ts",
      "shop.ts",
      "report.ts",
      "follow.ts",
      "serve-skills.ts",
    ]),
  );
  const config = { extends: here("../../../tsconfig.json"), compilerOptions, files: names, include: [] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
  const checked = await promisify(execFile)(process.execPath, [tsc, "-p", folder]).catch(
    (error: unknown) => error,
  );
  const { stdout } = checked as { stdout: string };
  expect(stdout.split("\n").filter((line) => /^error |docs-/.test(line))).toEqual([]);
});
