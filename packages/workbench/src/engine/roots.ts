/** Directories that a server may be told of (client/roots). */
import { realpath, stat } from "node:fs/promises";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import type { Root } from "mica-mcp/client";
import { UsageError } from "./usage-error.js";

/** @throws UsageError where one is no directory that can be reached. */
export function readRoots(directories: readonly string[]): Promise<Root[]> {
  return Promise.all(directories.map(readRoot));
}

async function readRoot(directory: string): Promise<Root> {
  let problem = "it is no directory";
  try {
    // As it really is, so that nothing is hidden behind a link.
    const path = await realpath(directory);
    if ((await stat(path)).isDirectory())
      return { uri: pathToFileURL(path).href, name: basename(path) || path };
  } catch (error) {
    problem = (error as Error).message;
  }
  const message = `cannot offer ${JSON.stringify(directory)}: ${problem}`;
  throw new UsageError(`--root: ${message}`, [{ path: "--root", message }]);
}
