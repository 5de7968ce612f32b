/** Making a directory with those above it. Node's own way never comes back where the system refuses oddly (`/proc/x`). */
import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Makes what is missing of a path, from the top.
 *
 * @param mode Of the directories that are made. Default: as the process has it.
 * @throws Error naming the part that is in the way, or cannot be made.
 * @example makeDirectory("out/charts")
 */
export function makeDirectory(path: string, mode?: number): void {
  const missing: string[] = [];
  let at = resolve(path);
  for (let found = kindOf(at); found !== "directory"; found = kindOf(at)) {
    if (found === "other") throw new Error(`${at} is no directory`);
    missing.unshift(at);
    if (dirname(at) === at) throw new Error(`${at} is not there`);
    at = dirname(at);
  }
  for (const directory of missing) {
    try {
      mkdirSync(directory, mode);
    } catch (error) {
      // Somebody else may have been quicker.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || kindOf(directory) !== "directory")
        throw error;
    }
  }
}

/** Undefined where there is nothing. */
function kindOf(path: string): "directory" | "other" | undefined {
  try {
    return statSync(path).isDirectory() ? "directory" : "other";
  } catch (error) {
    // Below a file there is nothing either.
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}
