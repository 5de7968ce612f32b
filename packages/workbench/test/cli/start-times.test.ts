/** `mica start` against servers whose start is known. */
import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readCommandLine } from "../../src/cli/command-line.js";
import { shellWords } from "../../src/cli/measuring-options.js";
import { mica } from "../run-in-process.js";

const SERVER = fileURLToPath(new URL("../fixtures/slow-start.mjs", import.meta.url));
const node = (...switches: string[]) => [process.execPath, SERVER, ...switches];
const onLinux = describe.runIf(process.platform === "linux");

async function start(words: string[], ...command: string[]) {
  const { code, stdout, stderr } = await mica(["start", "--runs", "3", "--json", ...words, "--", ...command]);
  return { code, stderr, ...JSON.parse(stdout) };
}

describe("a start", () => {
  it("is timed to each answer, with how far the runs lie apart", async () => {
    const { code, result, stderr } = await start([], ...node("--sleep=100"));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(result).toMatchObject({ runs: 3, ratio: null });
    const [one] = result.starts;
    expect(one).toMatchObject({
      era: "modern",
      protocolVersion: "2026-07-28",
      server: null,
      toolFailed: false,
    });
    for (const { median, min, p25, p75, max } of [one.discoverMs, one.listMs, one.callMs]) {
      expect(min).toBeGreaterThanOrEqual(100);
      expect([min, p25, median, p75, max]).toEqual([min, p25, median, p75, max].sort((a, b) => a - b));
    }
    expect(one.listMs.min).toBeGreaterThan(one.discoverMs.min);
    expect(one.callMs.min).toBeGreaterThan(one.listMs.min);
  });

  it("calls what is read-only and needs no arguments, or what is named", async () => {
    expect((await start([], ...node())).result.starts[0].tool).toBe("look");
    expect((await start(["read", "key=a"], ...node())).result.starts[0].tool).toBe("read");
    const unknown = await mica(["start", "raed", "--", ...node()]);
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain('unknown tool "raed"; the server has write, read, look');
    const missing = await mica(["start", "read", "--", ...node()]);
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("key: ") });
  });

  it("of a tool that fails says so", async () => {
    const { code, result, warnings } = await start([], ...node("--fails"));
    expect(code).toBe(1);
    expect(result.starts[0].toolFailed).toBe(true);
    expect(warnings).toMatchObject([{ code: "tool_failed" }]);
  });

  it("of a server that dies, or of a URL, is an error", async () => {
    const dead = await mica(["start", "--", process.execPath, "-e", "process.exit(3)"]);
    expect(dead).toMatchObject({ code: 3, stdout: "" });
    expect(dead.stderr).toContain("exited with code 3");
    const url = await mica(["start", "http://127.0.0.1:1/mcp"]);
    expect(url).toMatchObject({ code: 2, stderr: expect.stringContaining("runs already") });
  });
});

onLinux("its processes", () => {
  it("hold memory together, and the last in line is the server", async () => {
    const { result } = await start([], ...node("--launch=200", "--helper"));
    const [{ launcher, processes, residentBytes, discoverMs }] = result.starts;
    expect(processes).toBe(3);
    // Three times Node.
    expect(residentBytes.median).toBeGreaterThan(60_000_000);
    expect(launcher.launcherMs.min).toBeGreaterThanOrEqual(190);
    expect(launcher.launcherMs.max).toBeLessThan(discoverMs.max);
    expect(launcher.serverMs.max).toBeLessThanOrEqual(discoverMs.max - 190);
    expect(launcher.server).toContain("slow-start.mjs --helper");
  });

  it("are one where the command is the server", async () => {
    const { result } = await start([], ...node());
    expect(result.starts[0]).toMatchObject({ launcher: null, processes: 1 });
    expect(result.starts[0].residentBytes.min).toBeGreaterThan(10_000_000);
  });

  it("through a shell are those of the server", async () => {
    const { result } = await start([], "/bin/sh", "-c", `"${process.execPath}" "${SERVER}"; true`);
    expect(result.starts[0].launcher.server).toContain("slow-start.mjs");
    expect(result.starts[0].loaded.entry).toBe(SERVER);
  });
});

describe("what a Node server loads", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "mica-start-")));
    const inside = (...parts: string[]) => join(folder, "node_modules", ...parts);
    await mkdir(inside("@scope", "esm"), { recursive: true });
    await mkdir(inside("common", "node_modules", "deep"), { recursive: true });
    await mkdir(inside("unused"), { recursive: true });
    await writeFile(
      join(folder, "package.json"),
      JSON.stringify({
        name: "own",
        type: "module",
        dependencies: { "@scope/esm": "1", common: "1", gone: "1" },
      }),
    );
    await writeFile(inside("@scope", "esm", "package.json"), '{"name":"@scope/esm","main":"main.mjs"}');
    await writeFile(inside("@scope", "esm", "main.mjs"), "export default 1;");
    await writeFile(
      inside("common", "package.json"),
      '{"name":"common","main":"main.js","dependencies":{"deep":"1"}}',
    );
    await writeFile(inside("common", "main.js"), 'require("./part.js"); require("deep");');
    await writeFile(inside("common", "part.js"), "");
    await writeFile(inside("common", "unused.bin"), Buffer.alloc(1_000));
    await writeFile(inside("common", "node_modules", "deep", "package.json"), '{"name":"deep"}');
    await writeFile(inside("common", "node_modules", "deep", "index.js"), "");
    await writeFile(inside("unused", "package.json"), '{"name":"unused"}');
    await cp(SERVER, join(folder, "real.mjs"));
    await writeFile(
      join(folder, "server.mjs"),
      'import "@scope/esm"; import "common"; await import("./real.mjs");',
    );
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("is told by package, with what is installed for it", async () => {
    const { result } = await start([], process.execPath, join(folder, "server.mjs"));
    const [{ loaded, installed }] = result.starts;
    expect(loaded).toMatchObject({ entry: join(folder, "server.mjs"), files: 6 });
    expect(loaded.packages.map(({ name, files }: { name: string; files: number }) => [name, files])).toEqual([
      ["", 2],
      ["common", 2],
      ["@scope/esm", 1],
      ["deep", 1],
    ]);
    expect(loaded.packages[2].bytes).toBe("export default 1;".length);
    // What nothing depends on, and the server itself, which is not installed, do not count.
    expect(installed.packages).toBe(3);
    expect(installed.bytes).toBeGreaterThan(1_000);
    expect(installed.complete).toBe(true);
  });

  it("is not told where it is not Node, and NODE_OPTIONS of the caller still hold", async () => {
    const script = `exec "${process.execPath}" "${SERVER}" 2>/dev/null; exit`;
    const { result } = await start(["--env", "NODE_OPTIONS=--title=x"], "/bin/sh", "-c", script);
    expect(result.starts[0].loaded.files).toBe(1);
    const { result: other } = await start([], "/bin/sh", "-c", `unset NODE_OPTIONS; ${script}`);
    expect(other.starts[0]).toMatchObject({ loaded: null, installed: null });
  });
});

describe("two commands", () => {
  it("take turns, and are compared", async () => {
    const { code, result } = await start(["--vs", node("--sleep=300").join(" ")], ...node());
    expect(code).toBe(0);
    expect(result.starts).toHaveLength(2);
    expect(result.starts[1].command).toContain("--sleep=300");
    expect(result.ratio.discoverMs).toBeGreaterThan(1);
    const [one, two] = result.starts;
    expect(result.ratio.discoverMs).toBeCloseTo(two.discoverMs.median / one.discoverMs.median, 1);
  });

  it("are written in two ways", () => {
    const read = (...words: string[]) => readCommandLine(words, {});
    const expected = { target: { command: "a", args: ["-x"] }, options: { measuring: { vs: ["b", "c d"] } } };
    expect(read("start", "--vs", "b 'c d'", "--", "a", "-x")).toMatchObject(expected);
    expect(read("start", "--", "a", "-x", "--vs", "--", "b", "c d")).toMatchObject(expected);
    expect(() => read("start", "--vs", "b", "--", "a", "--vs", "--", "c")).toThrow("--vs: is given twice");
    expect(() => read("start", "--", "a", "--vs", "--")).toThrow("--vs: expected a command");
    // To other verbs these are words like any other.
    expect(read("tools", "--", "a", "--vs", "--", "b")).toMatchObject({
      target: { args: ["--vs", "--", "b"] },
    });
  });

  it("are cut into words as by a shell", () => {
    expect(shellWords(` node  "a b" c'd e'f \\"g "h\\"i\\j" '' `)).toEqual([
      "node",
      "a b",
      "cd ef",
      '"g',
      'h"i\\j',
      "",
    ]);
    expect(() => shellWords("a 'b")).toThrow("--vs: a ' is not closed");
  });
});

it("is printed for people", async () => {
  const { code, stdout, stderr } = await mica(["start", "--runs", "2", "--", ...node()]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(
    /\n +median +min +p25 +p75 +max\n {2}to discover +[\d.]+ ms( +[\d.]+){4}\n {2}to tools\/list/,
  );
  expect(stdout).toMatch(/\n {2}loads +1 files, \d+ kB\n/);
  expect(stdout).toMatch(/\n2 starts each, after one that fills the disk cache\.\n$/);
});

it("takes a bounded number of runs", async () => {
  for (const runs of ["0", "1001", "x"]) {
    expect((await mica(["start", "--runs", runs, "--", "a"])).stderr).toContain(
      "expected a whole number from 1 to 1000",
    );
  }
});
