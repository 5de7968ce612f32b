/** The program that opens URLs: what it is given, and what it may do. */
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openUrl } from "../../src/engine/open-url.js";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "mica-open-"));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(directory, { recursive: true, force: true });
});

/** Puts a program in the place of the real one, and nothing else. */
async function opener(script: string): Promise<void> {
  const path = join(directory, "xdg-open");
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  vi.stubEnv("PATH", directory);
}

describe.skipIf(process.platform !== "linux")("opening a URL", () => {
  it("hands it over as one argument that no shell reads", async () => {
    const log = join(directory, "log");
    await opener(`printf '%s\\n' "$#" "$@" > '${log}'`);
    const href = "https://example.com/?a=1&b=$(touch%20x);'\"`|*~#c";
    expect(await openUrl(href)).toBeUndefined();
    expect(await readFile(log, "utf8")).toBe(`1\n${href}\n`);
  });

  it("tells what went wrong", async () => {
    await opener("exit 3");
    expect(await openUrl("https://example.com/")).toBe("xdg-open ended with exit code 3");
  });

  it("tells that there is no such program", async () => {
    vi.stubEnv("PATH", directory);
    expect(await openUrl("https://example.com/")).toBe("there is no xdg-open");
  });

  it("does not wait for a browser to be closed", async () => {
    const pidFile = join(directory, "pid");
    await opener(`echo $$ > '${pidFile}'; exec /bin/sleep 60`);
    expect(await openUrl("https://example.com/")).toBeUndefined();
    const pid = Number(await readFile(pidFile, "utf8"));
    // It is still there, in a group of its own that Ctrl-C does not reach.
    process.kill(-pid, "SIGKILL");
  });
});
