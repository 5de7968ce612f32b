/** Making a directory with those above it. */
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes what is missing of a path. Node's own `recursive` never comes back where the system refuses oddly, as in `/proc`.
 *
 * @param mode Of the directories that are made.
 * @throws Error of the system, where one cannot be made.
 */
export async function makeDirectory(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // What is there may be something else: whoever writes below it learns of that.
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || dirname(path) === path) throw error;
    await makeDirectory(dirname(path), mode);
    await mkdir(path, { mode }).catch((again: NodeJS.ErrnoException) => {
      if (again.code !== "EEXIST") throw again;
    });
  }
}
