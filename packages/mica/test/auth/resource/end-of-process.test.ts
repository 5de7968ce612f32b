/** Nothing that verification needs keeps a process alive: no timer, no socket. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { expect, it, onTestFinished } from "vitest";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

it("a process ends by itself once it has verified its tokens", async () => {
  // Inside the package, so that what stays external is found from there.
  const cache = here("../../../node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "auth-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "verify-and-end.mjs");
  await build({
    entryPoints: [here("fixtures/verify-and-end.ts")],
    outfile: file,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    external: ["jose"],
    logLevel: "warning",
    tsconfigRaw: {},
  });
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [file]);
  expect({ stdout, stderr }).toEqual({ stdout: "other, other, took longer\n", stderr: "" });
});
