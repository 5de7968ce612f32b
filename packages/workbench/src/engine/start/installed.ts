/** How much has to be installed for a Node server: its package where that is an installed one, and all it depends on. */
import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { isObject, readJson } from "../json.js";

export interface Installed {
  readonly packages: number;
  readonly bytes: number;
  /** False where there was more than is looked at. */
  readonly complete: boolean;
}

const MOST_FILES = 200_000;

/** @returns undefined where the script belongs to no package */
export function installedFor(script: string): Installed | undefined {
  let entry: string;
  try {
    entry = realpathSync(script);
  } catch {
    return undefined;
  }
  const own = packageFolder(entry);
  if (own === undefined) return undefined;
  const folders = new Set<string>();
  const isInstalled = own.includes(`${sep}node_modules${sep}`);
  const pending = isInstalled ? [own] : dependenciesOf(own);
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    if (folders.has(folder)) continue;
    folders.add(folder);
    pending.push(...dependenciesOf(folder));
  }
  const budget = { files: MOST_FILES };
  let bytes = 0;
  for (const folder of folders) bytes += weigh(folder, budget);
  return { packages: folders.size, bytes, complete: budget.files > 0 };
}

function packageFolder(file: string): string | undefined {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    // A file that only says which kind of module others are names no package.
    if (typeof manifestOf(folder)?.["name"] === "string") return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

function manifestOf(folder: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const manifest = readJson(readFileSync(join(folder, "package.json"), "utf8"))?.value;
    return isObject(manifest) ? manifest : undefined;
  } catch {
    return undefined;
  }
}

/** Folders of the packages that one needs: what is optional, or a peer, only where it is there. */
function dependenciesOf(folder: string): string[] {
  const manifest = manifestOf(folder) ?? {};
  const names = ["dependencies", "optionalDependencies", "peerDependencies"].flatMap((key) =>
    isObject(manifest[key]) ? Object.keys(manifest[key]) : [],
  );
  return [...new Set(names)].flatMap((name) => find(name, folder) ?? []);
}

function find(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) return realpathSync(candidate);
    if (folder === dirname(folder)) return undefined;
  }
}

/** Bytes of the files of a package, without those of packages inside it. */
function weigh(folder: string, budget: { files: number }): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (budget.files <= 0) break;
    if (entry.isDirectory()) {
      if (entry.name !== "node_modules") bytes += weigh(join(folder, entry.name), budget);
    } else if (entry.isFile()) {
      budget.files--;
      bytes += lstatSync(join(folder, entry.name)).size;
    }
  }
  return bytes;
}
