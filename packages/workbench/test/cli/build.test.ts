/** `mica build` from its words to its exit code. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readCommandLine } from "../../src/cli/command-line.js";
import { help } from "../../src/cli/help.js";
import { VERBS } from "../../src/cli/verbs.js";
import { mica as inProcess } from "../run-in-process.js";

/** A server by hand: it answers only where it is started with `--serve`. */
const SERVER = `
let rest: string = "";
if (process.argv[2] === "--serve") process.stdin.on("data", (chunk: Buffer) => {
  const lines = (rest + chunk).split("\\n");
  rest = lines.pop() as string;
  for (const line of lines) {
    const { id } = JSON.parse(line);
    const result = { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {}, ttlMs: 0, cacheScope: "private" };
    console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
  }
});
`;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "mica-build-"));
  await writeFile(join(folder, "package.json"), "{}");
  await writeFile(join(folder, "server.ts"), SERVER);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const mica = (...words: string[]) => inProcess(words);

describe("mica build", () => {
  it("writes one file, and says what that saved", async () => {
    const { code, stdout, stderr } = await mica("build", join(folder, "server.ts"), "--", "--serve");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(
      /server\.mjs\n +before +after\n +files +1 +1\n +bytes +\d+ B +\d+ B\n +start +\d+ ms +\d+ ms\n/,
    );
    expect(stdout).toContain("median of 7");
    expect(await readdir(join(folder, "dist"))).toEqual(["server.mjs", "server.mjs.map"]);
  });

  it("says the same as JSON", async () => {
    const to = join(folder, "out.mjs");
    const words = ["build", join(folder, "server.ts"), "--to", to, "--no-measure", "--json"];
    const { code, stdout, stderr } = await mica(...words);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual({
      mica: 1,
      verb: "build",
      result: {
        file: to,
        map: `${to}.map`,
        before: { files: 1, bytes: SERVER.length },
        after: { files: 1, bytes: expect.any(Number) },
        start: null,
        outside: [],
      },
      warnings: [],
    });
    expect(spawnSync(process.execPath, [to]).status).toBe(0);
  });

  it("says why nothing was measured, and is done all the same", async () => {
    const { code, stdout, stderr } = await mica("build", join(folder, "server.ts"));
    expect(code).toBe(0);
    expect(stdout).not.toContain("start");
    expect(stderr).toMatch(/^mica: its start was not measured: The server .* exited with code 0/);
    expect(await readdir(join(folder, "dist"))).toEqual(["server.mjs", "server.mjs.map"]);
  });

  it("exits with 2 where the entry is no file, and writes nothing", async () => {
    const { code, stdout, stderr } = await mica("build", join(folder, "none.ts"), "--json");
    expect(code).toBe(2);
    expect(stderr).toMatch(/^mica: ENTRY: expected a file, got ".*none\.ts"\n$/);
    expect(JSON.parse(stdout)).toMatchObject({ verb: "build", error: { code: "usage", exitCode: 2 } });
    expect(existsSync(join(folder, "dist"))).toBe(false);
  });
});

describe("its command line", () => {
  const read = (...words: string[]) => readCommandLine(words, {});

  it("has an entry where others have a target, and arguments after --", () => {
    expect(read("build", "a.ts", "--external", "x", "--external", "y", "--", "--port", "1")).toMatchObject({
      kind: "local",
      operands: ["a.ts"],
      command: ["--port", "1"],
      options: { external: ["x", "y"], to: undefined, measure: true },
    });
  });

  it("needs the entry, and takes no more", () => {
    expect(() => read("build")).toThrow("expected ENTRY: mica build ENTRY");
    expect(() => read("build", "a.ts", "b.ts")).toThrow('mica build takes no "b.ts"');
    expect(() => read("build", "a.ts", "--args", "{}")).toThrow("--args: does not apply to mica build");
    expect(() => read("build", "a.ts", "--timeout", "1")).toThrow("--timeout: does not apply");
    expect(() => read("tools", "http://127.0.0.1/", "--to", "x")).toThrow("--to: does not apply");
  });

  it("is told by its help", () => {
    const text = help(VERBS.find(({ name }) => name === "build"));
    expect(text).toContain("mica build ENTRY [OPTIONS] [-- ARGS]");
    expect(text).not.toContain("URL");
  });
});
