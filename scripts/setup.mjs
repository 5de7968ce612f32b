/**
 * Makes a fresh clone ready, once: installs the packages that the lock file names and builds. Later runs notice
 * that nothing has changed and take a moment. Uses nothing but Node.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const cache = join(root, "node_modules", ".cache", "mica");

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 16)) {
  fail(`Mica needs Node 20.16 or newer; this is ${process.versions.node}`);
}

const lock = createHash("sha256")
  .update(readFileSync(join(root, "package-lock.json")))
  .update(process.version)
  .digest("hex");
if (read("installed") !== lock) {
  say(
    "Installing packages. The SQLite addon may be compiled the first time, which takes a minute, or several on a busy machine.",
  );
  run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
  write("installed", lock);
}

const BUILT = ["packages/mica", "packages/workbench", "servers/incidents", "servers/calendar"];
const sources = fingerprint(["packages", "servers", "scripts"]);
if (read("built") !== sources || !BUILT.every((folder) => existsSync(join(root, folder, "dist")))) {
  say("Building.");
  run(process.execPath, [join(root, "scripts", "build.mjs")]);
  write("built", sources);
}
// npm links only the commands that are there, and these were built after it ran.
if (
  !["mica", "incidents-mcp", "calendar-mcp"].every((name) =>
    existsSync(join(root, "node_modules", ".bin", name)),
  )
) {
  run("npm", [
    "rebuild",
    "--ignore-scripts",
    "--loglevel=error",
    "mica-workbench",
    "incidents-mcp",
    "calendar-mcp",
  ]);
}

function fingerprint(folders) {
  const hash = createHash("sha256").update(lock);
  const visit = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) =>
      a.name < b.name ? -1 : 1,
    )) {
      if (/^(node_modules|test|dist(\..*)?)$/.test(entry.name)) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) visit(path);
      else hash.update(`${path.slice(root.length)} ${statSync(path).size}\n`).update(readFileSync(path));
    }
  };
  for (const folder of folders) visit(join(root, folder));
  return hash.digest("hex");
}

function run(command, args) {
  // Standard output belongs to whatever runs after the set-up.
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  if (status !== 0)
    fail(`${command} ${args.join(" ")} failed${error ? `: ${error.message}` : ` with status ${status}`}`);
}

function read(name) {
  const path = join(cache, name);
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

function write(name, value) {
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, name), value);
}

function say(line) {
  process.stderr.write(`[setup] ${line}\n`);
}

function fail(line) {
  say(line);
  process.exit(1);
}
