/** Bundles of contenders, made by `mica build` once per run. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { onCore } from "./processes.mjs";

export const root = fileURLToPath(new URL("../../", import.meta.url));
/** Where everything goes that the bench writes: inside, so that packages are found from there. */
export const cache = `${root}node_modules/.cache/bench`;

const made = new Map();

/** The path of a file's bundle. */
export function bundled(file) {
  let path = made.get(file);
  if (path === undefined) {
    path = `${cache}/bundle-${made.size}.mjs`;
    const mica = `${root}packages/workbench/dist/mica.js`;
    const [command, ...args] = onCore(
      [process.execPath, mica, "build", file, "--to", path, "--no-measure", "--json"],
      "all",
    );
    execFileSync(command, args, { stdio: ["ignore", "ignore", "inherit"] });
    made.set(file, path);
  }
  return path;
}
