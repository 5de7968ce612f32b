/** What is loaded when: a verb's file and the client only where they are needed. */
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
let files: Set<string>;

beforeAll(async () => {
  const { metafile } = await build({
    entryPoints: [at("../../src/cli/mica.ts")],
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    packages: "external",
    outdir: "unwritten",
    write: false,
    metafile: true,
    tsconfigRaw: {},
  });
  // Everything that is loaded before the first dynamic import.
  const base = relative(process.cwd(), at("../../src")).replaceAll("\\", "/");
  const loaded = new Set<string>();
  const visit = (output: string) => {
    const { inputs, imports } = metafile.outputs[output] as (typeof metafile.outputs)[string];
    for (const input of Object.keys(inputs)) loaded.add(input.replace(`${base}/`, ""));
    for (const { path, kind, external } of imports) {
      if (kind === "import-statement" && external) loaded.add(path);
      else if (kind === "import-statement") visit(path);
    }
  };
  visit(Object.keys(metafile.outputs).find((output) => output.endsWith("/mica.js")) as string);
  files = loaded;
});

describe("the start", () => {
  it("loads what reads the command line", () => {
    expect(files).toContain("cli/command-line.ts");
    expect(files).toContain("node:util");
  });

  it("loads neither client nor verb nor help", () => {
    const early = [...files].filter((file) =>
      /^mica-mcp|^cli\/verbs\/|^cli\/help|^engine\/(connect|call|describe)/.test(file),
    );
    expect(early).toStrictEqual([]);
  });
});
