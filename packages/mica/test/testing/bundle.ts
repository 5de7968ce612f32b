/** Makes a server of the fixtures runnable as a process of its own. */
import { mkdtempSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** @returns the file to run, and what removes it again. */
export async function bundleFixture(name: string): Promise<{ file: string; remove: () => void }> {
  // Inside the package, so that what stays external is found from there.
  const cache = here("../../node_modules/.cache");
  await mkdir(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "fixture-"));
  const file = join(folder, `${name}.mjs`);
  await build({
    entryPoints: [here(`fixtures/${name}.ts`)],
    outfile: file,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    alias: {
      "mica-mcp": here("../../src/entry/index.ts"),
      "mica-mcp/stdio": here("../../src/entry/stdio.ts"),
    },
    external: ["zod"],
    logLevel: "warning",
    tsconfigRaw: {},
  });
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
