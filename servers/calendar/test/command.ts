/** The command as a process: built from the sources, in few files, so that many processes start quickly. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const mica = (entry: string) => here(`../../../packages/mica/src/entry/${entry}.ts`);

export interface BuiltCommand {
  /** The file to run. */
  readonly file: string;
  remove(): void;
}

export async function buildCommand(): Promise<BuiltCommand> {
  // Inside the package, so that what stays external is found from there.
  const cache = here("../node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "test-"));
  await build({
    entryPoints: [here("../src/calendar-mcp.ts")],
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    alias: { "mica-mcp": mica("index"), "mica-mcp/stdio": mica("stdio"), "mica-mcp/http": mica("http") },
    external: ["better-sqlite3"],
    logLevel: "warning",
    tsconfigRaw: {},
  });
  return {
    file: join(folder, "calendar-mcp.mjs"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Arguments for Node that stop a process's clock at an instant. */
export function atInstant(instant: string): string[] {
  return ["--import", `data:text/javascript,Date.now=()=>${Date.parse(instant)}`];
}
