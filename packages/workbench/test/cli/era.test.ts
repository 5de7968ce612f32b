/** `mica probe` says which branch of the specification's rule told the era, and what it saw; `--era` forces one. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Built, buildCommand } from "../build-command.js";
import { fixture, runProgram } from "../run-command.js";

let built: Built;
beforeAll(async () => {
  built = await buildCommand();
});
afterAll(() => built?.remove());

const mica = (...args: string[]) => runProgram(process.execPath, [built.path, ...args]);

/** The official reference server, which speaks revisions before the current one. */
const require = createRequire(new URL("../../../mica/package.json", import.meta.url));
const everything = [
  "--",
  process.execPath,
  join(dirname(require.resolve("@modelcontextprotocol/server-everything/package.json")), "dist", "index.js"),
  "stdio",
];

it("an earlier server is told by how it answers server/discover, and served all the same", async () => {
  const { code, stdout } = await mica("probe", ...everything);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    / {2}era +legacy: server\/discover was refused with an error that is none of a modern server's\n/,
  );
  expect(stdout).toMatch(/ {2}saw +.*server\/discover.*-32601/);
  expect(stdout).toMatch(/ {2}protocol +2025-11-25/);
  const listed = await mica("tools", "--json", ...everything);
  expect(JSON.parse(listed.stdout).result.tools.map(({ name }: { name: string }) => name)).toContain("echo");
});

it("a modern server is told by its answer", async () => {
  const { stdout } = await mica("probe", "--json", ...fixture());
  expect(JSON.parse(stdout).result.era).toEqual({
    era: "modern",
    revision: "2026-07-28",
    branch: "discovered",
    saw: ["server/discover: 2026-07-28"],
  });
});

it("--era skips the probe, and a server that does not speak it is an error", async () => {
  const forced = await mica("probe", "--json", "--era", "legacy", ...everything);
  expect(JSON.parse(forced.stdout).result.era).toMatchObject({ era: "legacy", branch: "forced" });
  const wrong = await mica("probe", "--era", "modern", ...everything);
  expect(wrong.code).not.toBe(0);
  expect(wrong.stderr).toMatch(/^mica: .*server\/discover/);
  const unknown = await mica("probe", "--era", "medieval", ...fixture());
  expect(unknown).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--era: expected auto, modern, legacy, got "medieval"'),
  });
});
