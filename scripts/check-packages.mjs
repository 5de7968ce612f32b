/**
 * Packs what would be published, installs it in an empty project and uses it there: every subpath loads, its types
 * hold, the README's server and client work as printed, and the commands start.
 */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const folders = [
  "packages/mica",
  "packages/workbench",
  ...readdirSync(join(root, "servers"))
    .map((name) => `servers/${name}`)
    // What they share is no package.
    .filter((folder) => existsSync(join(root, folder, "package.json"))),
];
const work = mkdtempSync(join(tmpdir(), "mica-packages-"));

try {
  const tarballs = folders.map((folder) => {
    const packed = JSON.parse(
      run("npm", ["pack", "--json", "--pack-destination", work], join(root, folder)).stdout,
    );
    const { filename, files } = Array.isArray(packed) ? packed[0] : Object.values(packed)[0];
    const stray = files
      .map(({ path }) => path)
      .filter((path) => !/^(dist\/|package\.json$|README\.md$|LICENSE$)/.test(path));
    if (stray.length > 0) throw new Error(`${folder} would publish ${stray.join(", ")}`);
    for (const name of ["README.md", "LICENSE"])
      if (!files.some(({ path }) => path === name))
        throw new Error(`${folder} would be published without ${name}`);
    return join(work, filename);
  });

  const sdk = project("sdk", [tarballs[0], "zod@4"]);
  const manifest = JSON.parse(readFileSync(join(root, "packages/mica/package.json"), "utf8"));
  const subpaths = Object.keys(manifest.exports).filter((path) => path !== "./package.json");
  writeFileSync(
    join(sdk, "load.mjs"),
    subpaths.map((path) => `await import(${JSON.stringify(path.replace(/^\./, "mica-mcp"))});`).join("\n"),
  );
  run(process.execPath, ["load.mjs"], sdk);
  for (const [name, code] of readmeExamples()) writeFileSync(join(sdk, name), code);
  const said = run(process.execPath, ["client.mjs"], sdk).stdout;
  if (!said.includes("Hello, Ada!")) throw new Error(`the README's client printed:\n${said}`);
  checkTypes(sdk);
  const alone = project("alone", [tarballs[0]]);
  const { packages, bytes } = weigh(join(alone, "node_modules"));
  if (packages > 4 || bytes > 2_000_000)
    throw new Error(`mica-mcp installs ${packages} packages and ${bytes} bytes`);

  const commands = project("commands", tarballs);
  for (const name of readdirSync(join(commands, "node_modules", ".bin"))) {
    if (!["mica", "incidents-mcp", "calendar-mcp"].includes(name)) continue;
    run(process.execPath, [join(commands, "node_modules", ".bin", name), "--help"], commands);
  }
  const workbench = join(commands, "node_modules", "mica-workbench");
  const shipped = weigh(workbench).bytes;
  if (shipped > 3_500_000) throw new Error(`mica-workbench is ${shipped} bytes by itself`);
  checkCost(commands);
  console.log(
    `packages: ${folders.length} packed and used; mica-mcp installs ${packages} packages, ${(bytes / 1000).toFixed(0)} kB; mica-workbench is ${(shipped / 1000).toFixed(0)} kB`,
  );
} finally {
  rmSync(work, { recursive: true, force: true });
}

function project(name, packages) {
  const folder = join(work, name);
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name, private: true, type: "module" }));
  run("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", ...packages], folder);
  return folder;
}

/** The table of tokens is shipped, not installed. */
function checkCost(folder) {
  const command = (name) => join(folder, "node_modules", ".bin", name);
  const words = [
    "cost",
    "--json",
    "--",
    process.execPath,
    command("calendar-mcp"),
    "--database",
    "cost.sqlite",
  ];
  const { result } = JSON.parse(run(process.execPath, [command("mica"), ...words], folder).stdout);
  if (!(result.total.everyConversation > 0))
    throw new Error(`mica cost counted ${JSON.stringify(result.total)}`);
  if (existsSync(join(folder, "node_modules", "gpt-tokenizer")))
    throw new Error("gpt-tokenizer was installed");
}

/** The code blocks of the README that name a file. */
function readmeExamples() {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const blocks = [...readme.matchAll(/\(`([a-z]+\.mjs)`\):\n\n```ts\n([\s\S]*?)```/g)].map(
    ([, name, code]) => [name, code],
  );
  if (blocks.length < 2) throw new Error("README.md no longer shows server.mjs and client.mjs");
  return blocks;
}

/** Type-checks the README's examples against the published declarations, as strictly as can be. */
function checkTypes(folder) {
  mkdirSync(join(folder, "types"));
  for (const [name, code] of readmeExamples())
    writeFileSync(join(folder, "types", name.replace(".mjs", ".mts")), code);
  cpSync(join(root, "node_modules/@types/node"), join(folder, "node_modules/@types/node"), {
    recursive: true,
  });
  cpSync(join(root, "node_modules/undici-types"), join(folder, "node_modules/undici-types"), {
    recursive: true,
  });
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const flags = [
    "--noEmit",
    "--strict",
    "--module",
    "nodenext",
    "--target",
    "es2022",
    "--types",
    "node",
    "--skipLibCheck",
    "false",
  ];
  run(
    process.execPath,
    [tsc, ...flags, ...readdirSync(join(folder, "types")).map((name) => `types/${name}`)],
    folder,
  );
}

function weigh(folder) {
  let packages = 0;
  let bytes = 0;
  const visit = (path) => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const inner = join(path, entry.name);
      if (entry.isDirectory()) visit(inner);
      else {
        bytes += statSync(inner).size;
        if (entry.name === "package.json" && /node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(inner))
          packages++;
      }
    }
  };
  visit(folder);
  return { packages, bytes };
}

function run(command, args, cwd) {
  const result = spawnSync(command, args, { cwd, encoding: "utf8", maxBuffer: 1 << 26 });
  if (result.status === 0) return result;
  throw new Error(
    `${command} ${args.join(" ")} failed with status ${result.status}\n${result.stdout}${result.stderr}`,
  );
}
