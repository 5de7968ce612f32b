/** `mica audit` as a person or a script runs it: what it prints in each format, and with which exit code it ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RULES } from "../../src/engine/audit/rules.js";
import { type Built, buildCommand, bundle } from "../build-command.js";
import { eventually, fixture, isAlive, runProgram } from "../run-command.js";

let built: Built;
let program: string;
beforeAll(async () => {
  built = await buildCommand();
  program = await bundle("./fixtures/audit/planted.ts", join(built.directory, "fixture"));
});
afterAll(() => built?.remove());

const mica = (...words: string[]) => runProgram(process.execPath, [built.path, "audit", ...words]);
const planted = (...defects: string[]) => ["--", process.execPath, program, ...defects];

/** Over HTTP, until it is closed. */
async function listening(...words: string[]): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [program, "--http", ...words], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await new Promise<string>((resolve) => {
    child.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString("utf8").trim()));
  });
  return { url, child };
}

describe("for people", () => {
  it("a clean server: one line that sums up, and exit code 0", async () => {
    const { code, stdout, stderr } = await mica("--rule", "server-info", "--rule", "ping", ...planted());
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(
      /^\S.* \(modern, 2026-07-28\)\n\n0 errors, 0 warnings, 0 notes; 1 rule ran; 1 did not apply; \d+ left out\n$/,
    );
  });

  it("a finding has its section, what was seen and what to do, and ends with exit code 7", async () => {
    const { code, stdout } = await mica("--rule", "result-type", ...planted("no-result-type"));
    expect(code).toBe(7);
    expect(stdout).toContain("error  result-type  The result of tools/list has no resultType\n");
    expect(stdout).toMatch(/\n {2}section {2}basic, ResultType\n {2}seen {5}\{"tools":.*\n {2}fix {6}\S/);
  });

  it("a warning fails with --strict alone", async () => {
    const words = ["--rule", "server-info", ...planted("no-server-info")];
    expect((await mica(...words)).code).toBe(0);
    expect((await mica("--strict", ...words)).code).toBe(7);
  });

  it("--verbose says what did not apply, and why", async () => {
    const { stdout } = await mica(
      "--verbose",
      "--rule",
      "http-host",
      "--rule",
      "log-level-invalid",
      ...planted(),
    );
    expect(stdout).toContain("does not apply  http-host: it is about http\n");
    expect(stdout).toContain("does not apply  log-level-invalid: it declares no logging\n");
    expect(stdout).toContain("skipped  ping\n");
  });
});

describe("for programs", () => {
  const words = () => ["--rule", "result-type", "--rule", "ping", ...planted("no-result-type")];

  it("--json and --format json print the same document", async () => {
    const { stdout, code } = await mica("--json", ...words());
    expect(code).toBe(7);
    const { mica: version, verb, result } = JSON.parse(stdout);
    expect({ version, verb }).toEqual({ version: 1, verb: "audit" });
    expect(result).toMatchObject({ era: "modern", revision: "2026-07-28", known: [], gone: [] });
    expect(result.counts.error).toBe(result.findings.length);
    expect(result.findings[0]).toEqual({
      rule: "result-type",
      severity: "error",
      section: "basic, ResultType",
      message: expect.any(String),
      evidence: expect.any(String),
      fix: expect.any(String),
    });
    expect(result.rules.map(({ id }: { id: string }) => id)).toEqual(RULES.map(({ id }) => id));
    const again = JSON.parse((await mica("--format", "json", ...words())).stdout);
    expect(again.result.findings.map((one: { message: string }) => one.message)).toEqual(
      result.findings.map((one: { message: string }) => one.message),
    );
  });

  it("--format sarif prints SARIF 2.1.0 with a result per finding", async () => {
    const { stdout, code } = await mica("--format", "sarif", ...words());
    expect(code).toBe(7);
    const { version, runs } = JSON.parse(stdout);
    expect(version).toBe("2.1.0");
    const [{ tool, results, invocations }] = runs;
    expect(tool.driver.rules).toHaveLength(RULES.length);
    expect(results[0]).toMatchObject({ ruleId: "result-type", level: "error" });
    expect(tool.driver.rules[results[0].ruleIndex].id).toBe("result-type");
    expect(invocations).toMatchObject([{ executionSuccessful: true }]);
  });

  it("--format junit prints a test per rule", async () => {
    const { stdout } = await mica("--format", "junit", ...words());
    expect(stdout).toMatch(
      /^<\?xml version="1.0" encoding="UTF-8"\?>\n<testsuites name="mica audit" tests="\d+" failures="1" errors="0"/,
    );
    expect(stdout).toContain('<failure type="error" message="The result of ');
    expect(stdout).toContain('<skipped message="it is about revisions that begin with initialize"/>');
    expect(stdout.match(/<testcase /g)).toHaveLength(RULES.length);
    // What JSON has in quotes is escaped.
    expect(stdout).toContain("&quot;tools&quot;");
  });
});

describe("a baseline", () => {
  it("keeps what is known from failing, and says what is gone", async () => {
    const file = join(built.directory, "baseline.json");
    const rules = ["--rule", "result-type", "--rule", "server-info"];
    const both = planted("no-result-type", "no-server-info");
    expect((await mica("--write-baseline", file, ...rules, ...both)).code).toBe(0);
    const known = JSON.parse(await readFile(file, "utf8"));
    expect(known.baseline).toBe(1);
    expect(new Set(known.findings.map(({ rule }: { rule: string }) => rule))).toEqual(
      new Set(["result-type", "server-info"]),
    );
    const { code, stdout } = await mica("--strict", "--baseline", file, ...rules, ...both);
    expect(code).toBe(0);
    expect(stdout).toContain(`${known.findings.length} in the baseline`);
    const better = await mica("--baseline", file, ...rules, ...planted("no-result-type"));
    expect(better.stdout).toContain("no longer found  server-info: ");
    // A rule that is left out has not found that anything is gone.
    const less = await mica("--baseline", file, "--rule", "result-type", ...both);
    expect(less.stdout).not.toContain("no longer found");
  });

  it("that is none is bad usage", async () => {
    const file = join(built.directory, "no-baseline.json");
    await writeFile(file, "[]");
    const { code, stderr } = await mica("--baseline", file, ...planted());
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining("is no baseline; expected"),
    });
  });
});

describe("what cannot be audited", () => {
  it("a server that cannot be started is exit code 3, one that is no server 4, one that is silent 5", async () => {
    expect((await mica("--", join(built.directory, "nothing-here"))).code).toBe(3);
    const program = (source: string) => mica("--timeout", "1", "--", process.execPath, "-e", source);
    const stderr = expect.stringContaining("answers in no era of the protocol");
    expect(await program("process.stdin.pipe(process.stdout)")).toMatchObject({ code: 4, stderr });
    expect(await program("process.stdin.resume()")).toMatchObject({ code: 5, stderr });
  });

  it("a server that writes without end is audited to the end, and found", { timeout: 120_000 }, async () => {
    const source = `
      const flood = () => { while (process.stdout.write("noise\\n".repeat(1000))); process.stdout.once("drain", flood); };
      require("node:readline").createInterface({ input: process.stdin }).once("line", (line) => {
        const { id } = JSON.parse(line);
        const result = { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {} };
        console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
        flood();
      });`;
    const { code, stdout } = await mica(
      "--timeout",
      "1",
      "--rule",
      "stdout-pure",
      "--",
      process.execPath,
      "-e",
      source,
    );
    expect(code).toBe(7);
    expect(stdout).toMatch(/Something that is no message stands on stdout[\s\S]*\(2\d{4} such lines\)/);
  });

  it("rules that could not run are said, and are exit code 8", async () => {
    const { url, child } = await listening("--protected");
    try {
      const rules = ["--rule", "result-type", "--rule", "auth-challenge"];
      const { code, stdout, stderr } = await mica(url, ...rules);
      expect(code).toBe(8);
      expect(stdout).toContain(
        "not run  result-type: the server wants a token: --token valid=TOKEN, or mica login\n",
      );
      expect(stdout).toContain("1 rule ran; 1 could not run");
      expect(stderr).toContain("the rule result-type could not run, so nothing is known about it");
      const open = await mica(url, ...rules, "--token", "valid=valid-token");
      expect({ code: open.code, stderr: open.stderr }).toEqual({ code: 0, stderr: "" });
    } finally {
      child.kill("SIGKILL");
    }
  });

  it("a token is not printed, even where the server says it again", async () => {
    const { url, child } = await listening("--protected", "token-in-the-query-said-again");
    try {
      const words = ["--rule", "auth-query-token", "--token", "valid=valid-token", "--json"];
      const { code, stdout, stderr } = await mica(url, ...words);
      expect({ code, stderr }).toEqual({ code: 7, stderr: "" });
      expect(JSON.parse(stdout).result.findings[0].evidence).toContain('{"token":"(a token)"}');
      expect(stdout).not.toContain("valid-token");
    } finally {
      child.kill("SIGKILL");
    }
  });

  it("a slip in the options is exit code 2, and shows no token", async () => {
    const unknown = await mica("--rule", "stdout-pur", ...planted());
    expect(unknown).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean "stdout-pure"?'),
    });
    const token = await mica("--token", "secret-value", ...planted());
    expect(token.code).toBe(2);
    expect(token.stderr).toContain("--token: expected NAME=VALUE");
    expect(token.stderr).not.toContain("secret-value");
    expect((await mica("--format", "sarif", "--json", ...planted())).code).toBe(2);
  });
});

it("Ctrl-C ends what runs, and exit code 130", async () => {
  const pidFile = join(built.directory, "audited.pid");
  const { code } = await runProgram(
    process.execPath,
    [built.path, "audit", ...fixture(`--pid-file=${pidFile}`)],
    {
      onStart: (child) =>
        void eventually(() => existsSync(pidFile) || undefined).then(() => child.kill("SIGINT")),
    },
  );
  expect(code).toBe(130);
  expect(isAlive(Number(await readFile(pidFile, "utf8")))).toBe(false);
});

describe("what is called", () => {
  it("a tool that is not annotated as read-only is never called, unless it is named", async () => {
    const log = join(built.directory, "called");
    const run = async (...words: string[]) => {
      await writeFile(log, "");
      await mica(...words, "--env", `PLANTED_CALLS=${log}`, ...planted());
      return new Set((await readFile(log, "utf8")).split("\n").filter(Boolean));
    };
    expect(await run()).toEqual(new Set(["find_notes"]));
    expect(await run("--allow-writes", "add_note")).toEqual(new Set(["find_notes", "add_note"]));
  }, 60_000);
});

it("the README lists every rule with its severity and section", async () => {
  const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
  const table = readme.slice(readme.indexOf("| Rule "));
  const rows = table
    .slice(0, table.indexOf("\n\n"))
    .split("\n")
    .slice(2)
    .map((row) =>
      row
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll("\\|", "|")),
    );
  expect(rows).toEqual(
    RULES.map(({ id, severity, section, title }) => [`\`${id}\``, severity, section, title]),
  );
});
