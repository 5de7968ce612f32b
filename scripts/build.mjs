/**
 * Builds the published files: one ES module per subpath, with source maps, and declarations. What several subpaths
 * share stands in few and large chunks, because each file costs a start as much as fifteen kilobytes do; line breaks
 * and indentation are left out for the same reason, names are kept. `--types=no` leaves the declarations out.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { rolldown } from "rolldown";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const require = createRequire(import.meta.url);

/** What the subpaths of the SDK share, by file: without this there would be thirty chunks. What is loaded late stays apart. */
const CHUNKS = [
  {
    name: "base",
    test: /\/src\/(?:(?:protocol|bus)\/|(?:cancellation|legacy-options|http\/status-error)\.ts|server\/expiry\.ts|stdio\/(?:lines|fair|outbox|limits|own-stdout|deadline|overlong|launch-options|launch-stdio)\.ts|schema\/(?!json-schema|compile|applicators|assertions|evaluation|formats|members|time-limit|values))/,
    priority: 2,
  },
  { name: "http-wire", test: /\/src\/http\/(?:headers|sse)\./, priority: 2 },
  {
    name: "endpoint",
    test: /\/src\/http\/(?!client|post|node\.|serve|fetch\.|cluster|status-error)/,
    priority: 1,
  },
  {
    name: "launch",
    test: /\/src\/stdio\/(?:launch\.|asking|in-flight|child|server-process|environment|process-tree|printable)/,
    priority: 1,
  },
  { name: "http-client", test: /\/src\/http\/(?:client|post)/, priority: 1 },
  { name: "earlier-clients", test: /\/src\/legacy\/(?!client\/)/, priority: 1 },
  { name: "earlier-servers", test: /\/src\/legacy\/client\//, priority: 1 },
];

/** The same for the command: what reads a command line, and what almost every verb needs for a server. */
const COMMAND_CHUNKS = [
  {
    name: "command-line",
    test: /\/src\/(?:version\.ts|cli\/(?:command-line|run|option-rows|option-text|options|measuring-options|target-options|verbs|exit|screen|paint|terminal)\.ts|engine\/(?:argument-pairs|given-answers|closest|json|output-error|usage-error|target)\.ts)/,
    priority: 2,
  },
  {
    name: "session",
    test: /\/src\/(?:cli\/(?:live|answering|given-arguments|listing|table|verbs\/(?:tools|probe))\.ts|engine\/(?:auth-hint|connect|credentials|describe|field-text|first-line|form|form-content|input-needed|input-words|read-members|read-value|roots|round-plan|schema-alternatives|schema-fit|schema-words|url-verdict)\.ts)/,
    priority: 1,
  },
];

/**
 * What is built: the entries of a package, modules of packages that are shipped with it, and commands that
 * `mica build` makes one file each of.
 */
const packages = [
  {
    folder: "packages/mica",
    entries: [
      "index",
      "client",
      "stdio",
      "http",
      "fetch",
      "auth",
      "auth/client",
      "schema",
      "skills",
      "tasks",
      "testing",
    ],
    from: "src/entry",
  },
  {
    folder: "packages/workbench",
    entries: ["mica"],
    from: "src/cli",
    shipped: { "gpt-tokenizer/bpeRanks/o200k_base": "o200k_base" },
  },
  { folder: "servers/incidents", entries: ["index"], bundles: ["incidents-mcp"], from: "src" },
  { folder: "servers/calendar", entries: ["index"], bundles: ["calendar-mcp"], from: "src" },
];

export async function buildAll({ types = true } = {}) {
  for (const { folder, entries, bundles = [], shipped = {}, from } of packages) {
    const base = join(root, folder);
    const found = entries.filter((entry) => existsSync(join(base, from, `${entry}.ts`)));
    if (found.length === 0) continue;
    // Built aside and put in place whole, so that nothing that runs meanwhile finds half of it.
    const fresh = `dist.${process.pid}`;
    const isSdk = folder === "packages/mica";
    if (isSdk || folder === "packages/workbench") {
      const paths = Object.fromEntries(
        Object.entries(shipped).map(([module, name]) => [module, `./${name}.js`]),
      );
      await buildInChunks(base, found, from, fresh, {
        platform: isSdk ? "neutral" : "node",
        groups: isSdk ? CHUNKS : COMMAND_CHUNKS,
        paths,
      });
    } else
      await build({
        absWorkingDir: base,
        entryPoints: found.map((entry) => `${from}/${entry}.ts`),
        outdir: fresh,
        bundle: true,
        splitting: true,
        chunkNames: "shared-[hash]",
        format: "esm",
        platform: "node",
        target: "node20",
        packages: "external",
        external: ["node:*"],
        sourcemap: true,
        logLevel: "warning",
        tsconfigRaw: {},
      });
    for (const [module, name] of Object.entries(shipped)) await ship(module, join(base, fresh, name));
    for (const command of bundles) bundleCommand(base, `${from}/${command}.ts`, `${fresh}/${command}.js`);
    allowCommands(base, fresh);
    if (types) declare(base, fresh);
    else if (existsSync(join(base, "dist", "types")))
      cpSync(join(base, "dist", "types"), join(base, fresh, "types"), { recursive: true });
    rmSync(join(base, "dist"), { recursive: true, force: true });
    renameSync(join(base, fresh), join(base, "dist"));
  }
}

/** npm does so for what it links, once; what is built anew has to be as good. */
function allowCommands(base, fresh) {
  const { bin = {} } = JSON.parse(readFileSync(join(base, "package.json"), "utf8"));
  for (const file of Object.values(bin)) chmodSync(join(base, file.replace("./dist/", `${fresh}/`)), 0o755);
}

/** "The above copyright notice and this permission notice shall be included in all copies" (MIT). */
async function ship(module, file) {
  await build({
    stdin: { contents: `export { default } from ${JSON.stringify(module)};`, resolveDir: root },
    outfile: `${file}.js`,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    minify: true,
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
  });
  const [name] = module.split("/");
  cpSync(join(dirname(require.resolve(`${name}/package.json`)), "LICENSE"), `${file}.LICENSE`);
}

/** @param how `paths`: where modules of packages are that nobody installs, since they stand beside what is built. */
async function buildInChunks(base, entries, from, dir, { platform, groups, paths }) {
  const bundle = await rolldown({
    cwd: base,
    input: Object.fromEntries(entries.map((entry) => [entry, `${from}/${entry}.ts`])),
    platform,
    external: /^[^./]/,
    tsconfig: false,
    logLevel: "warn",
  });
  await bundle.write({
    dir,
    format: "esm",
    // Not published: the modules are readable as they stand, and the maps would be a third of the package.
    sourcemap: "hidden",
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: false } },
    codeSplitting: { groups },
    paths,
  });
  await bundle.close();
}

/** As any author would: with the command that was built before. */
function bundleCommand(base, entry, file) {
  const mica = join(root, "packages/workbench/dist/mica.js");
  const words = [mica, "build", entry, "--to", file, "--no-measure", "--json"];
  const { status } = spawnSync(process.execPath, words, {
    cwd: base,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) throw new Error(`mica build ${entry} failed with status ${status}`);
}

function declare(base, folder) {
  const tsc = join(dirname(require.resolve("typescript/package.json")), "bin", "tsc");
  const config = join(base, "tsconfig.build.json");
  if (!existsSync(config)) return;
  const { status } = spawnSync(
    process.execPath,
    [tsc, "-p", config, "--outDir", join(base, folder, "types")],
    { stdio: "inherit", cwd: root },
  );
  if (status !== 0)
    throw new Error(
      `declarations of ${JSON.parse(readFileSync(join(base, "package.json"), "utf8")).name} failed`,
    );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildAll({ types: !process.argv.includes("--types=no") });
}
