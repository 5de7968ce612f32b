/** Source files made runnable by a plain `node`, for the tests that need a real process. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

export interface Bundle {
  readonly file: string;
  remove(): Promise<void>;
}

/** Bundles a fixture with all that it imports. */
export async function bundle(fixture: string): Promise<Bundle> {
  const directory = await mkdtemp(join(tmpdir(), "mica-stdio-"));
  const file = join(directory, "bundle.mjs");
  const entry = fileURLToPath(new URL(`./fixtures/${fixture}`, import.meta.url));
  await build({
    entryPoints: [entry],
    outfile: file,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
  });
  return { file, remove: () => rm(directory, { recursive: true }) };
}
