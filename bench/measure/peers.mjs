/** Installs the contenders that only a full run needs, as their lock file names them, once. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../peers/", import.meta.url));

export function installPeers() {
  const lock = createHash("sha256")
    .update(readFileSync(`${folder}package-lock.json`))
    .digest("hex");
  const mark = `${folder}node_modules/.installed`;
  if (existsSync(mark) && readFileSync(mark, "utf8") === lock) return;
  process.stderr.write("[bench] Installing the peers that a full run measures.\n");
  // Not `npm ci`: a peer's optional dependency is in no registry, and therefore not in the lock file either.
  const { status } = spawnSync(
    "npm",
    ["install", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts"],
    {
      cwd: folder,
      stdio: ["ignore", 2, 2],
      shell: process.platform === "win32",
    },
  );
  if (status !== 0) throw new Error("bench/peers could not be installed from npm");
  writeFileSync(mark, lock);
}
