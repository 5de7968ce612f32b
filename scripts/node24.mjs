/** The newest LTS, beside whatever Node runs this: installs the npm package `node@24` once and names its binary. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = join(dirname(fileURLToPath(import.meta.url)), "..", "node_modules", ".cache", "node24");

export function node24() {
  const binary = join(
    folder,
    "node_modules",
    "node",
    "bin",
    process.platform === "win32" ? "node.exe" : "node",
  );
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ private: true, allowScripts: { node: true } }),
  );
  const { status } = spawnSync("npm", ["install", "node@24", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  if (status !== 0 || !existsSync(binary)) throw new Error("node@24 could not be installed from npm");
  return binary;
}
