/** Packages that cannot be bundled: those with machine code, which stay outside and are loaded from where they are installed. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Plugin } from "esbuild";

/** Something that the bundle leaves outside. */
export interface LeftOutside {
  /** The package, or the file where it is one of the author's own. */
  readonly name: string;
  readonly why: "native addon" | "asked for";
}

/** A package name at the beginning of an import: `@scope/name` or `name`. */
const PACKAGE = /^(@[^/]+\/[^/]+|[^./@][^/]*)(?:\/|$)/;
/** What a package depends on when it brings or builds machine code. */
const LOADERS = [
  "bindings",
  "node-gyp-build",
  "node-pre-gyp",
  "@mapbox/node-pre-gyp",
  "node-gyp-build-optional-packages",
];
/** The tail of a package that holds machine code for one platform. */
const PLATFORM =
  /(?:^|[-/])(?:linux|darwin|win32|freebsd|android)-(?:x64|arm64|ia32|arm|ppc64|riscv64|s390x)/;

const NAMESPACE = "left-outside";

/**
 * Leaves packages with machine code outside, and those named in `asked`. Those in CommonJS are required where they are
 * first needed; an import would be made at the start, and read all their files once more for the names they export.
 *
 * @param outdir The folder of the bundle: a `.node` file of the author's own is named by its path from there.
 */
export function leaveOutside(
  asked: readonly string[],
  outdir: string,
  found: Map<string, LeftOutside>,
): Plugin {
  const native = new Map<string, boolean>();
  const outside = (path: string, folder: string | undefined) =>
    folder !== undefined && isCommonJs(folder) ? { path, namespace: NAMESPACE } : { path, external: true };
  return {
    name: NAMESPACE,
    setup(build) {
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({
        contents: `module.exports = require(${JSON.stringify(path)});`,
        loader: "js",
      }));
      build.onResolve({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({ path, external: true }));
      build.onResolve({ filter: /\.node$/ }, ({ path, resolveDir }) => {
        if (!path.startsWith(".")) return undefined;
        const file = relative(outdir, join(resolveDir, path)).replaceAll("\\", "/");
        found.set(file, { name: file, why: "native addon" });
        return { path: file.startsWith(".") ? file : `./${file}`, external: true };
      });
      build.onResolve({ filter: PACKAGE, namespace: "file" }, ({ path, resolveDir, kind }) => {
        const name = PACKAGE.exec(path)?.[1];
        if (name === undefined || kind === "entry-point" || path.startsWith("node:")) return undefined;
        const folder = folderOf(name, resolveDir);
        if (asked.includes(name)) {
          found.set(name, { name, why: "asked for" });
          return outside(path, folder);
        }
        if (folder === undefined) return undefined;
        let isNative = native.get(folder);
        if (isNative === undefined) {
          isNative = hasMachineCode(folder);
          native.set(folder, isNative);
        }
        if (!isNative) return undefined;
        found.set(name, { name, why: "native addon" });
        return outside(path, folder);
      });
    },
  };
}

/** Where a package is installed, seen from a folder. */
function folderOf(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) return candidate;
    if (dirname(folder) === folder) return undefined;
  }
}

/** Whether nothing of a package is an ES module. */
function isCommonJs(folder: string): boolean {
  const { type, exports } = manifestOf(folder);
  return type !== "module" && !/"(?:import|module)"|\.mjs"/.test(JSON.stringify(exports ?? ""));
}

interface Manifest {
  readonly type?: string;
  readonly exports?: unknown;
  readonly gypfile?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

function hasMachineCode(folder: string): boolean {
  if (["binding.gyp", "prebuilds", join("build", "Release")].some((path) => existsSync(join(folder, path))))
    return true;
  const manifest = manifestOf(folder);
  if (manifest.gypfile) return true;
  if (LOADERS.some((name) => manifest.dependencies?.[name] !== undefined)) return true;
  if (Object.keys(manifest.optionalDependencies ?? {}).some((name) => PLATFORM.test(name))) return true;
  return readdirSync(folder).some((name) => name.endsWith(".node"));
}
