/** A folder for one test file, gone when its tests are done. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** Makes paths of files that do not exist yet, each in a folder of its own. */
export function temporaryFiles(): (name?: string) => string {
  const folder = mkdtempSync(join(tmpdir(), "incidents-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  let count = 0;
  return (name = "incidents.sqlite") => {
    count += 1;
    return join(folder, String(count), name);
  };
}
