import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { decodeBase64, prepareDirectory, safeFileName, save, sizeText } from "../../src/engine/binary.js";
import { OutputError } from "../../src/engine/output-error.js";
import { UsageError } from "../../src/engine/usage-error.js";

describe("base64", () => {
  it("is decoded where it is base64, and nothing else", () => {
    expect(decodeBase64("aGk=")?.toString()).toBe("hi");
    expect(decodeBase64("")).toHaveLength(0);
    for (const wrong of ["aGk", "a===", "####", "aGk=\n", "_-8="])
      expect(decodeBase64(wrong)).toBeUndefined();
  });

  it("gives back any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(decodeBase64(Buffer.from(bytes).toString("base64"))).toStrictEqual(Buffer.from(bytes));
      }),
    );
  });
});

describe("sizes", () => {
  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1000, "1.0 kB"],
    [12_345, "12.3 kB"],
    [999_949, "999.9 kB"],
    [999_951, "1.0 MB"],
    [5_000_000_000_000, "5000.0 GB"],
  ])("shows %i as %s", (bytes, text) => {
    expect(sizeText(bytes)).toBe(text);
  });
});

describe("file names", () => {
  it.each([
    ["chart", "image/png", "chart.png"],
    ["file:///a/b/report.pdf?x=1#y", "application/pdf", "report.pdf"],
    ["../../etc/passwd", "text/plain", "passwd.txt"],
    ["..\\..\\boot.ini", undefined, "boot.ini"],
    ["/", "image/png", "content.png"],
    ["...", undefined, "content.bin"],
    [".bashrc", "text/x-sh", "bashrc.txt"],
    ["a b\u001b[2J", "IMAGE/PNG; q=1", "a-b-2J.png"],
    ["x".repeat(300), "audio/wav", `${"x".repeat(80)}.wav`],
  ])("makes of %j (%s) %s", (name, mimeType, expected) => {
    expect(safeFileName(name, mimeType)).toBe(expected);
  });

  it("are never a path, hidden or empty", () => {
    fc.assert(
      fc.property(fc.string(), fc.option(fc.string(), { nil: undefined }), (name, mimeType) => {
        expect(safeFileName(name, mimeType)).toMatch(/^[A-Za-z0-9_][\w.-]{0,95}$/);
      }),
    );
  });
});

describe("saving", () => {
  let directory = "";
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "mica-save-"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it("takes the next free name, and overwrites nothing", async () => {
    await writeFile(join(directory, "a.txt"), "mine");
    expect(await save(directory, "a.txt", "one")).toBe(join(directory, "a-2.txt"));
    expect(await save(directory, "a.txt", "two")).toBe(join(directory, "a-3.txt"));
    expect(await readFile(join(directory, "a.txt"), "utf8")).toBe("mine");
    expect((await readdir(directory)).sort()).toStrictEqual(["a-2.txt", "a-3.txt", "a.txt"]);
  });

  it("makes the directory, and says before anything else where it cannot", async () => {
    await prepareDirectory(join(directory, "new", "deeper"));
    expect(await readdir(directory)).toStrictEqual(["new"]);
    const file = join(directory, "file");
    await writeFile(file, "");
    await expect(prepareDirectory(file)).rejects.toThrow(UsageError);
    await expect(prepareDirectory(join(file, "below"))).rejects.toThrow(`${file} is no directory`);
    await expect(save(file, "a.txt", "")).rejects.toThrow(OutputError);
  });
});
