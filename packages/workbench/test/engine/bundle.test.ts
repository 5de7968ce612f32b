/** Bundles are run: what counts is that they do what the files did. */
import { spawnSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bundle } from "../../src/engine/bundle.js";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "mica-bundle-"));
  await file("package.json", JSON.stringify({ name: "mine", type: "module" }));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function file(path: string, text: string): Promise<string> {
  const at = join(folder, path);
  await mkdir(dirname(at), { recursive: true });
  await writeFile(at, text);
  return at;
}

const pack = (name: string, files: Record<string, string>) =>
  Promise.all(Object.entries(files).map(([path, text]) => file(`node_modules/${name}/${path}`, text)));

function run(path: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...args], {
    encoding: "utf8",
    cwd: folder,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout.trim();
}

const build = (entry: string, options: { to?: string; external?: string[] } = {}) =>
  bundle(entry, { to: options.to, external: options.external ?? [] });

describe("one file", () => {
  it("holds the entry and its dependencies, whatever module system they are in", async () => {
    await pack("esm", {
      "package.json": JSON.stringify({ name: "esm", type: "module", exports: "./index.js" }),
      "index.js": 'export const esm = "esm";',
    });
    await pack("cjs", {
      "package.json": JSON.stringify({ name: "cjs", main: "./index.js" }),
      "index.js":
        'const path = require("path"); exports.cjs = path.basename(__filename) + path.basename(__dirname);',
    });
    await file("src/part.ts", 'export const part: string = "part";');
    const entry = await file(
      "src/server.ts",
      '#!/usr/bin/env node\nimport { esm } from "esm";\nimport cjs from "cjs";\nimport { part } from "./part.js";\nconst { late } = await import("./late.js");\nconsole.log([esm, cjs.cjs, part, late()].join(" "));',
    );
    await file("src/late.ts", 'import { sep } from "node:path";\nexport const late = () => sep + "late";');

    const made = await build(entry);
    expect(made).toMatchObject({
      file: join(folder, "dist/server.mjs"),
      before: { files: 5 },
      after: { files: 1 },
      outside: [],
      warnings: [],
    });
    await rm(join(folder, "node_modules"), { recursive: true });
    await rm(join(folder, "src"), { recursive: true });
    expect(run(made.file)).toBe("esm server.mjsdist part /late");
    expect(await readFile(made.file, "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
    const map = JSON.parse(await readFile(`${made.file}.map`, "utf8")) as { sources: string[] };
    expect(map.sources).toContain("../src/part.ts");
  });

  it("loads modules of Node where they are used, by every way of naming them", async () => {
    const entry = await file(
      "server.mjs",
      [
        'import fs, { existsSync } from "fs";',
        'import * as path from "node:path";',
        'import { readFile } from "node:fs/promises";',
        'import process from "node:process";',
        "const own = process.argv[1];",
        "const same = fs.existsSync(own) === existsSync(own);",
        'console.log(same, path.sep, (await readFile(own, "utf8")).length > 0, typeof (await import("node:http")).createServer);',
      ].join("\n"),
    );
    const { file: made } = await build(entry);
    expect(run(made)).toBe("true / true function");
    // No import is left that Node would make before anything runs.
    expect(await readFile(made, "utf8")).not.toMatch(/^import\b|[;}]import[ {*"']/m);
  });

  it("keeps of zod what is used", async () => {
    await cp(join(process.cwd(), "node_modules/zod"), join(folder, "node_modules/zod"), { recursive: true });
    const entry = await file(
      "server.ts",
      'import { z } from "zod";\nconsole.log(z.object({ a: z.string() }).safeParse({ a: 1 }).success, JSON.stringify(z.toJSONSchema(z.int())));',
    );
    const { file: made, after } = await build(entry);
    expect(run(made)).toMatch(/^false \{.*"type":"integer".*\}$/);
    expect(after.bytes).toBeLessThan(200_000);
  });
});

describe("what is left outside", () => {
  const addon = {
    "package.json": JSON.stringify({ name: "addon", main: "./index.js" }),
    "binding.gyp": "{}",
    "index.js": 'module.exports = () => "native";',
  };

  it("are native addons, required where they are first used", async () => {
    await pack("addon", addon);
    await pack("uses-addon", {
      "package.json": JSON.stringify({ name: "uses-addon", type: "module", exports: "./index.js" }),
      "index.js": 'import addon from "addon";\nexport const use = () => addon();',
    });
    const entry = await file(
      "server.mjs",
      'if (process.argv[2]) { const { use } = await import("uses-addon"); console.log(use()); } else console.log("without");',
    );
    const { file: made, outside } = await build(entry);
    expect(outside).toEqual([{ name: "addon", why: "native addon" }]);
    expect(run(made, "use")).toBe("native");
    await rm(join(folder, "node_modules"), { recursive: true });
    expect(run(made)).toBe("without");
  });

  it.each<[string, Record<string, string>]>([
    [
      "by what they depend on",
      {
        "package.json": JSON.stringify({
          name: "addon",
          main: "./index.js",
          dependencies: { bindings: "^1" },
        }),
      },
    ],
    [
      "by the platforms they offer",
      {
        "package.json": JSON.stringify({
          name: "addon",
          main: "./index.js",
          optionalDependencies: { "@addon/linux-x64-gnu": "1" },
        }),
      },
    ],
    [
      "by what they hold",
      { "package.json": JSON.stringify({ name: "addon", main: "./index.js" }), "a.node": "" },
    ],
  ])("are recognised %s", async (_, files) => {
    await pack("addon", { "index.js": addon["index.js"], ...files });
    const entry = await file("server.mjs", 'import addon from "addon";\nconsole.log(addon());');
    const { file: made, outside } = await build(entry);
    expect(outside).toEqual([{ name: "addon", why: "native addon" }]);
    expect(run(made)).toBe("native");
  });

  it("are files of machine code that the author has", async () => {
    await file("lib/own.node", "");
    const entry = await file(
      "src/server.mjs",
      'import { createRequire } from "node:module";\nexport const load = () => require("../lib/own.node");\nconsole.log("loaded late");',
    );
    const { file: made, outside } = await build(entry);
    expect(outside).toEqual([{ name: "../lib/own.node", why: "native addon" }]);
    expect(run(made)).toBe("loaded late");
  });

  it("is what was asked for: an ES module stays an import", async () => {
    await pack("plain", {
      "package.json": JSON.stringify({ name: "plain", type: "module", exports: { import: "./index.js" } }),
      "index.js": 'export const plain = "plain";',
    });
    const entry = await file("server.mjs", 'import { plain } from "plain";\nconsole.log(plain);');
    const { file: made, outside } = await build(entry, { external: ["plain"] });
    expect(outside).toEqual([{ name: "plain", why: "asked for" }]);
    expect(run(made)).toBe("plain");
  });
});

describe("what cannot be bundled", () => {
  it("is an entry that is not there", async () => {
    await expect(build(join(folder, "none.ts"))).rejects.toThrow("ENTRY: expected a file, got");
    await expect(build(folder)).rejects.toThrow("ENTRY: expected a file, got");
  });

  it("is an entry with errors, each with its place", async () => {
    const entry = await file("server.ts", 'import "./none.js";\nconst = 1;');
    await expect(build(entry)).rejects.toMatchObject({
      name: "UsageError",
      message: expect.stringMatching(/^the entry cannot be bundled:\n.*server\.ts:2: /),
    });
  });

  it("is an entry over itself, by whatever name", async () => {
    const entry = await file("dist/server.mjs", "");
    await expect(build(entry)).rejects.toThrow("is the entry itself; --to names another file");
    await expect(build(entry, { to: join(folder, "dist/../dist/server.mjs") })).rejects.toThrow("--to");
  });
});
