/** Runs the SDK's and the workbench's tests on the newest LTS too. The servers' addon is built for the Node that installed it. */
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { node24 } from "./node24.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const { status } = spawnSync(node24(), [vitest, "run", "packages/mica", "packages/workbench"], {
  cwd: root,
  stdio: "inherit",
});
process.exit(status ?? 1);
