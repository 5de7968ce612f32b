/** `mica call --copy`: what is printed does what the call would have done. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type HttpServer, serveHttp } from "mica-mcp/http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Built, buildCommand, bundle } from "../build-command.js";
import { makeServer } from "../fixtures/changing-server.js";
import { fixture, type RunOptions, runProgram } from "../run-command.js";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const run = promisify(execFile);
let built: Built;
let script: string;
let http: HttpServer;
beforeAll(async () => {
  built = await buildCommand();
  script = await bundle("./fixtures/changing-stdio.ts", join(built.directory, "server"));
  http = await serveHttp(makeServer(), { port: 0 });
});
afterAll(async () => {
  await Promise.all([built?.remove(), http?.close()]);
});

const mica = (args: readonly string[], options?: RunOptions) =>
  runProgram(process.execPath, [built.path, ...args], options);
/** Every kind of character that a shell, a header or a string in code takes for something else. */
const NASTY = 'it\'s "$HOME" `id` \\ %s\t\u2028 Süd 世界 ; & | > * ~ !x\n2nd';
const sh = (line: string, env: Record<string, string> = {}) =>
  // The command may not be on the PATH under its own name.
  runProgram("/bin/sh", ["-c", `mica() { "${process.execPath}" "${built.path}" "$@"; }\n${line}`], { env });

describe.runIf(process.platform !== "win32")("--copy", () => {
  it("curl: a command that works when it is pasted, headers and all", async () => {
    const words = ["call", http.url, "echo", `text=${NASTY}`, "region=Süd 'x'", "--copy", "curl"];
    const { code, stdout, stderr } = await mica(words);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(
      /^curl -sS -g -N http:\/\/127\.0\.0\.1:\d+\/mcp \\\n {2}-H 'Content-Type: application\/json' \\\n/,
    );
    const ran = await sh(stdout);
    expect(ran.stderr).toBe("");
    const { result } = JSON.parse(ran.stdout);
    expect(JSON.parse(result.content[0].text)).toEqual({ text: NASTY, region: "Süd 'x'" });
  });

  it("curl: secrets are variables, and other headers stay", async () => {
    const seen: (string | undefined)[] = [];
    const listener = createServer(async (incoming, outgoing) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString());
      seen.push(incoming.headers.authorization, incoming.headers["x-note"] as string);
      const tools = [{ name: "t", inputSchema: { type: "object" } }];
      const result =
        method === "server/discover"
          ? { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } }
          : method === "tools/list"
            ? { tools }
            : { content: [{ type: "text", text: "ok" }] };
      outgoing.writeHead(200, { "content-type": "application/json" });
      outgoing.end(
        JSON.stringify({
          jsonrpc: "2.0",
          id,
          result: { resultType: "complete", ttlMs: 0, cacheScope: "private", ...result },
        }),
      );
    });
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp?a=[1]&b={x}`;
    const headers = ["--header", "Authorization: Bearer very-secret", "--header", "X-Note: it's"];
    try {
      const { stdout, stderr } = await mica(["call", url, "t", "--copy", "curl", ...headers]);
      expect(stdout).not.toContain("very-secret");
      expect(stderr).toBe("mica: $AUTHORIZATION stands for a secret; set it before use\n");
      seen.length = 0;
      const ran = await sh(stdout, { AUTHORIZATION: "Bearer other" });
      expect(ran.stdout).toContain('"text":"ok"');
      expect(seen).toEqual(["Bearer other", "it's"]);
      const again = await mica(["call", url, "t", "--copy", "mica", ...headers]);
      expect(again.stdout).not.toContain("very-secret");
      seen.length = 0;
      expect((await sh(again.stdout, { AUTHORIZATION: "Bearer third" })).stdout).toBe("ok\n");
      expect(new Set(seen)).toEqual(new Set(["Bearer third", "it's"]));
    } finally {
      listener.close();
    }
  });

  it("mica: the command line, quoted", async () => {
    const target = [
      "--env",
      "NOTE=it's",
      "--cwd",
      built.directory,
      "--",
      process.execPath,
      script,
      "with space",
    ];
    const { code, stdout } = await mica([
      "call",
      "echo",
      `text=${NASTY}`,
      'region:="x y"',
      "--copy",
      "mica",
      ...target,
    ]);
    expect(code).toBe(0);
    const ran = await sh(stdout);
    expect(ran.stderr).toBe("");
    expect(JSON.parse(ran.stdout)).toEqual({ text: NASTY, region: "x y" });
  });

  it("mica: arguments that were given whole, and answers", async () => {
    const args = ["--args", "-", "--answer", "sure.yes=true", "--era", "modern"];
    const { stdout } = await mica(
      ["call", "ask", ...args, "--copy", "mica", "--", process.execPath, script],
      { stdin: "{}" },
    );
    expect(stdout).toContain("mica call ask --args '{}' --answer sure.yes=true --era modern -- ");
    expect((await sh(stdout)).stdout).toBe("accept\n");
  });

  it.each([
    ["a command", () => ({ first: [] as string[], last: ["--", process.execPath, script] })],
    [
      "a URL",
      () => ({
        first: [http.url, "--header", "X-Api-Key: abc", "--header", "X-Note: n"],
        last: [] as string[],
      }),
    ],
  ])("vitest: a file that compiles and passes, against %s", { timeout: 120_000 }, async (_, target) => {
    const { first, last } = target();
    const { code, stdout } = await mica([
      "call",
      ...first,
      "echo",
      `text=${NASTY}`,
      "--copy",
      "vitest",
      ...last,
    ]);
    expect(code).toBe(0);
    expect(stdout).not.toContain("abc");
    // Inside of the repository, so that the packages are found.
    const cache = here("../../../mica/node_modules/.cache");
    mkdirSync(cache, { recursive: true });
    const folder = mkdtempSync(join(cache, "copy-"));
    try {
      writeFileSync(join(folder, "copied.test.ts"), stdout);
      const config = { extends: here("../../../../tsconfig.json"), files: ["copied.test.ts"], include: [] };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
      const require = createRequire(import.meta.url);
      const bin = (name: string, path: string) =>
        join(dirname(require.resolve(`${name}/package.json`)), path);
      const typed = await run(process.execPath, [
        bin("typescript", "bin/tsc"),
        "--noEmit",
        "-p",
        folder,
      ]).catch((error: unknown) => error as { stdout: string });
      // What is wrong elsewhere is reported elsewhere.
      expect(typed.stdout.split("\n").filter((line) => /^error |copied\.test/.test(line))).toEqual([]);
      const entry = (name: string) => here(`../../../mica/src/entry/${name}.ts`);
      writeFileSync(
        join(folder, "vitest.config.mjs"),
        `export default { test: { root: ${JSON.stringify(folder)}, include: ["*.test.ts"] }, resolve: { alias: { "mica-mcp/client": ${JSON.stringify(entry("client"))} } } };`,
      );
      const words = [bin("vitest", "vitest.mjs"), "run", "--config", join(folder, "vitest.config.mjs")];
      const ran = await run(process.execPath, words, {
        cwd: folder,
        env: { ...process.env, X_API_KEY: "abc", NO_COLOR: "1" },
      });
      expect(ran.stdout).toMatch(/Tests {2}1 passed/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("is JSON with --json, and calls nothing", async () => {
    const { stdout } = await mica(["call", "die", "--copy", "mica", "--json", ...fixture()]);
    const { result } = JSON.parse(stdout);
    expect(result).toMatchObject({
      as: "mica",
      text: expect.stringContaining("mica call die -- "),
      variables: [],
    });
  });

  it.each([
    [["call", "echo", "--copy", "curl"], "curl speaks to URLs, and the target is a command"],
    [["call", "echo", "--copy", "wget"], '--copy: expected curl, mica, vitest, got "wget"'],
    [["call", "nothing", "--copy", "mica"], 'unknown tool "nothing"'],
    [["call", "echo", "texd=1", "--copy", "mica"], "texd"],
  ])("%j is bad usage", async (words, message) => {
    const { code, stdout, stderr } = await mica([...words, "--", process.execPath, script]);
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining(message),
    });
  });

  it("curl has no session, which earlier revisions need", async () => {
    const { code, stderr } = await mica(["call", http.url, "echo", "--era", "legacy", "--copy", "curl"]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining("where a call needs a session"),
    });
  });
});
