/** Every exit code, each caused for real, and what is said on the way out. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { VERBS } from "../../src/cli/verbs.js";
import { VERSION } from "../../src/version.js";
import { type Built, buildCommand } from "../build-command.js";
import { listen } from "../fixtures/http-server.js";
import { eventually, fixture, isAlive, type RunOptions, runProgram, STEERING } from "../run-command.js";

let built: Built;
let http: Awaited<ReturnType<typeof listen>>;
beforeAll(async () => {
  [built, http] = await Promise.all([buildCommand(), listen()]);
});
afterAll(async () => {
  await Promise.all([built?.remove(), http?.close()]);
});

const mica = (args: readonly string[], options?: RunOptions) =>
  runProgram(process.execPath, [built.path, ...args], options);

/** Fails as people see it, and checks that scripts see the same. */
async function failure(words: readonly string[], command: readonly string[] = []) {
  const [{ code, stdout, stderr }, asJson] = await Promise.all([
    mica([...words, ...command]),
    mica([...words, "--json", ...command]),
  ]);
  expect(asJson.code).toBe(code);
  const printed = JSON.parse(asJson.stdout);
  return { code, stdout, stderr, json: printed };
}

/** A port of 127.0.0.1 on which nobody listens. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe("0", () => {
  it("is the end of a good run, of help and of the version", async () => {
    expect(await mica(["tools", ...fixture()])).toMatchObject({ code: 0, stderr: "" });
    expect(await mica(["call", "--help"])).toMatchObject({
      code: 0,
      stderr: "",
      stdout: expect.stringMatching(/^mica call: /),
    });
    expect(await mica(["--version"])).toMatchObject({ code: 0, stderr: "", stdout: `mica ${VERSION}\n` });
  });

  it("is the version that the package has", () => {
    const file = new URL("../../package.json", import.meta.url);
    expect(JSON.parse(readFileSync(file, "utf8")).version).toBe(VERSION);
  });

  it("is also the end when the reader has had enough", async () => {
    const pipe = `'${process.execPath}' '${built.path}' call long lines=200000 ${fixture()
      .map((word) => `'${word}'`)
      .join(" ")} | head -1; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await runProgram("bash", ["-c", pipe]);
    expect({ stdout, stderr }).toStrictEqual({ stdout: "line 0\n0\n", stderr: "" });
  });
});

describe("1", () => {
  it("is a tool that failed: its words go to stderr, and nothing to stdout", async () => {
    const { code, stdout, stderr, json } = await failure(["call", "fail"], fixture());
    expect({ code, stdout }).toStrictEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^It did not work\. \\x1b\[2J/);
    expect(json.result).toMatchObject({ isError: true, content: [{ type: "text" }] });
  });
});

describe("2", () => {
  it("is an argument that does not fit, before anything is called", async () => {
    const { code, stdout, stderr, json } = await failure(
      ["call", "open_incident", "title=x", "severity=sev2", "limit=abc"],
      fixture(),
    );
    expect({ code, stdout, stderr }).toStrictEqual({
      code: 2,
      stdout: "",
      stderr: 'mica: limit: expected an integer, got "abc"\n',
    });
    expect(json).toStrictEqual({
      mica: 1,
      verb: "call",
      error: {
        code: "usage",
        message: 'limit: expected an integer, got "abc"',
        exitCode: 2,
        problems: [{ path: "limit", message: 'expected an integer, got "abc"' }],
      },
    });
  });

  it("names everything that is missing, with its description", async () => {
    const { code, stderr } = await failure(["call", `${http.origin}/mcp`, "open_incident"]);
    expect({ code, stderr }).toStrictEqual({
      code: 2,
      stderr: [
        "mica: open_incident cannot be called like this:",
        "  title: missing; expected a string (What happened, in one line.)",
        "  severity: missing; expected one of sev1, sev2, sev3 (How bad it is.)",
        "",
      ].join("\n"),
    });
    expect(http.seen.some((headers) => headers["mcp-method"] === "tools/call")).toBe(false);
  });

  it.each([
    [["tools"], "mica: target: expected a URL, or a command after --\n"],
    [
      ["tols", "--", "x"],
      `mica: unknown verb "tols"; expected one of ${VERBS.map(({ name }) => name).join(", ")}. Did you mean "tools"?\n`,
    ],
    [["call", "opn_incident", ...fixture()], 'Did you mean "open_incident"?\n'],
    [["prompt", "week", ...fixture()], 'mica: unknown prompt "week"; the server has prepare_week\n'],
    [
      ["prompt", "prepare_week", ...fixture()],
      "mica: focus: missing; expected a string (What matters most.)\n",
    ],
    [
      ["prompt", "prepare_week", "--args", '{"focus":5}', ...fixture()],
      "mica: args.focus: expected a string, got 5\n",
    ],
    [["tools", "http://127.0.0.1:1/", "--header", "Host: x"], "the protocol sets this header itself\n"],
    [
      ["call", "everything", "--out", "/dev/null/x", ...fixture()],
      'mica: --out: cannot write to "/dev/null/x": /dev/null is no directory\n',
    ],
    [
      ["read", "fixture://notes", "--out", "/dev/full", ...fixture()],
      'mica: --out: cannot write to "/dev/full": /dev/full is no directory\n',
    ],
    [
      ["read", "fixture://notes", "--out", "/proc/nowhere/at/all", ...fixture()],
      'mica: --out: cannot write to "/proc/nowhere/at/all": ENOENT',
    ],
  ])("is bad usage: %j", async (args, message) => {
    const { code, stdout, stderr } = await mica(args);
    expect({ code, stdout }).toStrictEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  });

  it("is told in JSON even where the command line cannot be read", async () => {
    const { stdout } = await mica(["tools", "--json", "--nonsense"]);
    expect(JSON.parse(stdout)).toMatchObject({ mica: 1, verb: null, error: { code: "usage", exitCode: 2 } });
  });
});

describe("3", () => {
  it("is a program that is not there", async () => {
    const { code, stderr, json } = await failure(["tools"], ["--", "no-such-program-anywhere"]);
    expect({ code, stderr }).toStrictEqual({
      code: 3,
      stderr: 'mica: The server "no-such-program-anywhere" could not be started: there is no such program\n',
    });
    expect(json.error).toMatchObject({ code: "connect_failed", exitCode: 3 });
  });

  it("is a server that ends before it answers: its code and last words are told", async () => {
    const { code, stderr, json } = await failure(["tools"], fixture("--crash"));
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /^mica: The server .* exited with code 7 before it answered .*\n {2}cannot open the database\n$/,
    );
    expect(json.error).toMatchObject({
      code: "connection_lost",
      exitCode: 3,
      server: { exitCode: 7, signal: null, stderr: ["cannot open the database"] },
    });
  });

  it("is a server that dies during a call", async () => {
    const { code, stderr, json } = await failure(["call", "die"], fixture());
    expect(code).toBe(3);
    expect(stderr).toContain("exited with code 3");
    expect(stderr).toContain("my last words");
    expect(stderr).not.toMatch(STEERING);
    expect(json.error.server).toMatchObject({ exitCode: 3 });
  });

  it("is a server that dies while a probe asks what it has, which is told as far as it came", async () => {
    const { code, stdout } = await failure(["probe"], fixture("--die-on-lists"));
    expect(code).toBe(3);
    expect(stdout).toContain("tools that cannot be listed");
  });

  it("is a port on which nobody listens", async () => {
    const { code, stderr } = await failure(["tools", `http://127.0.0.1:${await freePort()}/mcp`]);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^mica: Cannot connect to http:\/\/127\.0\.0\.1:\d+\/mcp .*ECONNREFUSED/);
  });

  it("is a server that lets nobody in", async () => {
    const { code, stderr, json } = await failure(["tools", `${http.origin}/closed`]);
    expect(code).toBe(3);
    const login = `mica login ${http.origin}/closed`;
    expect(stderr).toContain("401");
    expect(stderr).toContain(
      `; ${login} signs in, or --header 'Authorization: Bearer TOKEN' gives a token\n`,
    );
    expect(json.error).toMatchObject({ code: "connect_failed", http: { status: 401 } });
    const given = await failure(["tools", `${http.origin}/closed`, "--header", "Authorization: Bearer x"]);
    expect(given.stderr).toContain(
      `; the Authorization that --header gives was not accepted, ${login} signs in instead\n`,
    );
  });

  it("is a server that refuses, which is said once, with what to do", async () => {
    const { code, stderr } = await failure(["tools", `${http.origin}/forbidden`]);
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /^mica: \S+ \(server\/discover\) answered HTTP 403 Forbidden: Not for you; mica login \S+ signs in/,
    );
    expect(stderr).toContain("--header");
    expect(stderr.split("Not for you")).toHaveLength(2);
    const given = await failure(["tools", `${http.origin}/forbidden`, "--header", "Authorization: Bearer x"]);
    expect(given.stderr).toContain("is not enough for this");
  });

  it("is a URL with nothing behind it, which is said once", async () => {
    const { code, stderr } = await failure(["tools", `${http.origin}/absent`]);
    expect(code).toBe(4);
    expect(stderr.split("404 Not Found")).toHaveLength(2);
    expect(stderr).toContain("(initialize) answered the same; nor does it speak HTTP+SSE: ");
  });

  it("is a connection that breaks", async () => {
    expect(await failure(["tools", `${http.origin}/broken`])).toMatchObject({
      code: 3,
      json: { error: { code: "connection_lost" } },
    });
  });
});

describe("4", () => {
  it("is an error that the server answers with", async () => {
    const { code, stderr, json } = await failure(["call", "refuse"], fixture());
    expect(code).toBe(4);
    expect(stderr).toMatch(/^mica: tools\/call: No\. \\x1b\[2J.* \(-32000\)\n$/);
    expect(json.error).toMatchObject({
      code: "protocol_error",
      exitCode: 4,
      rpc: { code: -32000, data: { why: "because" } },
    });
  });

  it("is a resource that the server does not know", async () => {
    expect(await failure(["read", "fixture://nowhere"], fixture())).toMatchObject({
      code: 4,
      json: { error: { rpc: { code: -32602 } } },
    });
  });

  it.each([
    ["a result of the wrong shape", ["call", "garbage"], fixture(), "invalid_response"],
    ["a list that is none", ["tools"], fixture("--broken-list"), "invalid_response"],
    ["an answer without a version", ["tools"], fixture("--half-protocol"), "invalid_response"],
    ["contents that are not base64", ["read", "fixture://broken"], fixture(), "invalid_response"],
    ["a question that nobody can answer", ["call", "ask"], fixture(), "input_unavailable"],
  ])("is %s", async (_, words, command, expected) => {
    const { code, stdout, stderr, json } = await failure(words, command);
    expect({ code, stdout, error: json.error.code }).toStrictEqual({ code: 4, stdout: "", error: expected });
    expect(stderr).toMatch(/^mica: /);
  });

  it("is a web page", async () => {
    const { code, stderr } = await failure(["tools", `${http.origin}/prose`]);
    expect(code).toBe(4);
    expect(stderr).toContain("text/html");
  });

  it("is a method that the server does not have: what it declares is told", async () => {
    const { code, stderr } = await failure(["tools"], fixture("--bare"));
    expect(code).toBe(4);
    expect(stderr).toBe("mica: tools/list: Method not found (-32601); the server declares no capabilities\n");
  });

  it("is a probe that finds a broken list, and still tells the rest", async () => {
    const { code, stdout, stderr, json } = await failure(["probe"], fixture("--broken-list"));
    expect(code).toBe(4);
    expect(stdout).toContain(
      "offers        tools that cannot be listed, 4 resources, 1 resource template, 1 prompt\n",
    );
    expect(stderr).toMatch(/^mica: tools\/list: /);
    expect(json.result.problems).toMatchObject([{ list: "tools", code: "invalid_response" }]);
  });
});

describe("5", () => {
  it.each([
    ["a server that never answers", ["tools"], fixture("--mute")],
    ["a tool that never answers", ["call", "slow"], fixture()],
  ])("is %s", async (_, words, command) => {
    const { code, stderr, json } = await failure([...words, "--timeout", "0.5"], command);
    expect({ code, error: json.error.code }).toStrictEqual({ code: 5, error: "timeout" });
    expect(stderr).toMatch(/^mica: \S+ got no answer within 500 ms/);
  });

  it("is a URL that never answers", async () => {
    expect(await failure(["tools", `${http.origin}/silent`, "--timeout", "0.5"])).toMatchObject({ code: 5 });
  });
});

describe("70", () => {
  it.skipIf(!existsSync("/dev/full"))("is output that cannot be written", () => {
    const stdout = openSync("/dev/full", "w");
    const args = [built.path, "tools", ...fixture()];
    const { status, stderr } = spawnSync(process.execPath, args, {
      stdio: ["ignore", stdout, "pipe"],
      encoding: "utf8",
    });
    expect(status).toBe(70);
    expect(stderr).toMatch(/^mica: cannot write the output: ENOSPC/);
  });
});

describe("130 and its kin", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("is an interruption by %s, which takes the server along", async (signal, code) => {
    const pidFile = join(built.directory, `${signal}.pid`);
    const outcome = await mica(["call", "slow", "--json", ...fixture(`--pid-file=${pidFile}`)], {
      onStart: (child) => {
        void eventually(() => (existsSync(pidFile) ? true : undefined))
          // The signal is to arrive while the call is under way, or at the least while it connects.
          .then(() => child.kill(signal));
      },
    });
    expect(outcome).toMatchObject({ code, stderr: "mica: interrupted\n" });
    expect(JSON.parse(outcome.stdout).error).toMatchObject({ code: "interrupted", exitCode: code });
    expect(isAlive(Number(readFileSync(pidFile, "utf8")))).toBe(false);
  });

  it("interrupts also while standard input is awaited", async () => {
    const child = spawn(process.execPath, [built.path, "call", "open_incident", "--args", "-", ...fixture()]);
    const ended = new Promise((resolve) => child.on("close", resolve));
    child.stdin.on("error", () => {});
    // More than a pipe holds: when all of it is gone, somebody reads.
    await new Promise((resolve) => child.stdin.write(" ".repeat(1_000_000), resolve));
    child.kill("SIGINT");
    expect(await ended).toBe(130);
  });
});

describe("whatever the code", () => {
  it("the server is gone when the command is", async () => {
    for (const words of [
      ["tools"],
      ["call", "fail"],
      ["call", "open_incident"],
      ["call", "slow", "--timeout", "0.3"],
    ]) {
      const pidFile = join(built.directory, `${words.join("-")}.pid`);
      await mica([...words, ...fixture(`--pid-file=${pidFile}`)]);
      expect(isAlive(Number(readFileSync(pidFile, "utf8"))), words.join(" ")).toBe(false);
    }
  });
});
