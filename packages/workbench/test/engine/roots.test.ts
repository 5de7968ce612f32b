/** Directories that a server may be told of. */
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readRoots } from "../../src/engine/roots.js";

let base: string;
beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "mica-roots-")));
  await mkdir(join(base, "my project"));
  await symlink(join(base, "my project"), join(base, "link"));
  await writeFile(join(base, "file"), "");
});
afterAll(() => rm(base, { recursive: true, force: true }));

describe("roots", () => {
  it("are directories as they really are", async () => {
    const root = { uri: pathToFileURL(join(base, "my project")).href, name: "my project" };
    expect(root.uri).toMatch(/\/my%20project$/);
    expect(await readRoots([join(base, "my project", "/"), join(base, "link")])).toStrictEqual([root, root]);
    expect(await readRoots(["/"])).toStrictEqual([{ uri: "file:///", name: "/" }]);
  });

  it("are nothing else", async () => {
    await expect(readRoots([join(base, "file")])).rejects.toMatchObject({
      name: "UsageError",
      message: expect.stringMatching(/^--root: cannot offer ".*file": it is no directory$/),
    });
    await expect(readRoots([base, join(base, "nothing")])).rejects.toMatchObject({
      name: "UsageError",
      message: expect.stringContaining("ENOENT"),
    });
  });
});
