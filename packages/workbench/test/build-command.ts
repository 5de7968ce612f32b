/** Builds the command from its sources into a temporary directory, as one would install it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export interface Built {
  /** The file to run. */
  readonly path: string;
  /** A directory for whatever a test writes. */
  readonly directory: string;
  remove(): Promise<void>;
}

export async function buildCommand(): Promise<Built> {
  const directory = await mkdtemp(join(tmpdir(), "mica-workbench-"));
  const remove = () => rm(directory, { recursive: true, force: true });
  try {
    return { directory, path: await bundle("../src/cli/mica.ts", join(directory, "dist")), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Bundles one entry, a path from here, with all that it imports. @returns The file to run. */
export async function bundle(entry: string, outdir: string): Promise<string> {
  await build({
    entryPoints: { main: at(entry) },
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    tsconfigRaw: {},
    alias: {
      "mica-mcp/auth/client": at("../../mica/src/entry/auth/client.ts"),
      "mica-mcp/client": at("../../mica/src/entry/client.ts"),
      "mica-mcp/schema": at("../../mica/src/entry/schema.ts"),
      "mica-mcp/testing": at("../../mica/src/entry/testing.ts"),
      "mica-mcp/tasks": at("../../mica/src/entry/tasks.ts"),
      "mica-mcp/stdio": at("../../mica/src/entry/stdio.ts"),
      "mica-mcp": at("../../mica/src/entry/index.ts"),
    },
    logLevel: "silent",
  });
  return join(outdir, "main.mjs");
}
