/** Bundles a server and its dependencies into one minified file with a source map. esbuild is loaded here and nowhere else. */
import { existsSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import type { BuildFailure, BuildOptions, Metafile, PartialMessage } from "esbuild";
import { builtinModules } from "./builtin-modules.js";
import { type LeftOutside, leaveOutside } from "./native-addons.js";
import { UsageError } from "./usage-error.js";
import { zodImports } from "./zod-imports.js";

export interface BundleOptions {
  /** The file to write; default: the entry's name, ending in `.mjs`, in the folder `dist` of its package. */
  readonly to: string | undefined;
  /** Packages to leave outside besides those with machine code. */
  readonly external: readonly string[];
}

export interface Bundle {
  /** The file that was written; its source map is beside it, with `.map` after its name. */
  readonly file: string;
  readonly entry: string;
  readonly before: Weight;
  readonly after: Weight;
  readonly outside: readonly LeftOutside[];
  readonly warnings: readonly string[];
}

export interface Weight {
  readonly files: number;
  readonly bytes: number;
}

/** Oldest Node that Mica runs on. */
const TARGET = "node20";

/**
 * @throws UsageError where the entry is not there, cannot be bundled, or would be overwritten.
 * @example const { file, before, after } = await bundle("src/server.ts", { to: undefined, external: [] });
 */
export async function bundle(entry: string, { to, external }: BundleOptions): Promise<Bundle> {
  const source = resolve(entry);
  if (!existsSync(source) || !statSync(source).isFile()) {
    throw new UsageError(`ENTRY: expected a file, got ${JSON.stringify(entry)}`);
  }
  const file = to === undefined ? defaultFile(source) : resolve(to);
  if (existsSync(file) && realpathSync(file) === realpathSync(source)) {
    throw new UsageError(`${relative(".", file)} is the entry itself; --to names another file to write`);
  }
  const outside = new Map<string, LeftOutside>();
  const options = {
    entryPoints: [source],
    outfile: file,
    minify: true,
    sourcemap: true,
    legalComments: "none",
    metafile: true,
    plugins: [leaveOutside(external, dirname(file), outside), builtinModules, zodImports],
  } as const satisfies BuildOptions;
  const first = await run({ ...options, write: false });
  const { metafile, warnings } = await run({ ...options, ...bannerFor(first.metafile) });
  return {
    file,
    entry: source,
    before: weightOf(metafile),
    after: { files: 1, bytes: statSync(file).size },
    outside: [...outside.values()],
    warnings,
  };
}

/** The author's own files as one file that Node can run, dependencies left where they are: what the bundle is compared with. */
export async function transpile(source: string, file: string): Promise<void> {
  await run({ entryPoints: [source], outfile: file, packages: "external", metafile: true });
}

async function run(options: BuildOptions): Promise<{ metafile: Metafile; warnings: string[] }> {
  const { build } = await import("esbuild");
  try {
    const { metafile, warnings } = await build({
      bundle: true,
      format: "esm",
      platform: "node",
      target: TARGET,
      logLevel: "silent",
      ...options,
    });
    return { metafile: metafile as Metafile, warnings: warnings.map(describe) };
  } catch (error) {
    const { errors } = error as Partial<BuildFailure>;
    if (!errors?.length) throw error;
    throw new UsageError(`the entry cannot be bundled:\n${errors.map(describe).join("\n")}`);
  }
}

/** CommonJS files expect names that an ES module does not have. */
function bannerFor(metafile: Metafile): Pick<BuildOptions, "banner"> {
  const isCommonJs = Object.values(metafile.inputs).some(({ format }) => format === "cjs");
  const requires = Object.values(metafile.outputs).some(({ imports }) =>
    imports.some(({ kind }) => kind === "require-call"),
  );
  if (!isCommonJs && !requires) return {};
  const names = [
    'const require=process.getBuiltinModule("node:module").createRequire(import.meta.url);',
    'const __filename=process.getBuiltinModule("node:url").fileURLToPath(import.meta.url);',
    'const __dirname=process.getBuiltinModule("node:path").dirname(__filename);',
  ];
  return { banner: { js: names.join("") } };
}

/** Of the files that the entry draws in; modules of Node and what is left outside are none of them. */
function weightOf({ inputs }: Metafile): Weight {
  const all = Object.entries(inputs).flatMap(([path, input]) => (/^[a-z-]+:/.test(path) ? [] : input));
  return { files: all.length, bytes: all.reduce((sum, { bytes }) => sum + bytes, 0) };
}

function defaultFile(source: string): string {
  return join(packageFolder(dirname(source)), "dist", `${basename(source, extname(source))}.mjs`);
}

/** The nearest folder upwards that holds a `package.json`; the file's own where there is none. */
function packageFolder(from: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, "package.json"))) return folder;
    if (dirname(folder) === folder) return from;
  }
}

function describe({ text, location }: PartialMessage): string {
  return location ? `${location.file}:${location.line}: ${text}` : String(text);
}
