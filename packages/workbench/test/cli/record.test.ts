/** `mica record` stands between a host and a server; `mica replay` tells what has become different. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server as HttpListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { connect } from "mica-mcp/client";
import { type HttpServer, serveHttp } from "mica-mcp/http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Built, buildCommand, bundle } from "../build-command.js";
import { makeServer } from "../fixtures/changing-server.js";
import { eventually, FIXTURE, isAlive, type RunOptions, runProgram } from "../run-command.js";

let built: Built;
let script: string;
let http: HttpServer;
let withSessions: HttpServer;
beforeAll(async () => {
  built = await buildCommand();
  withSessions = await serveHttp(makeServer(), { port: 0, legacy: { sessions: {} } });
  script = await bundle("./fixtures/changing-stdio.ts", join(built.directory, "server"));
  http = await serveHttp(makeServer(), { port: 0 });
});
afterAll(async () => {
  await Promise.all([built?.remove(), http?.close(), withSessions?.close()]);
});

const mica = (args: readonly string[], options?: RunOptions) =>
  runProgram(process.execPath, [built.path, ...args], options);
let files = 0;
const fresh = () => join(built.directory, `session-${++files}.jsonl`);
const linesOf = (file: string) =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

/** A host with this server in its configuration. */
const host = (args: readonly string[], era?: "legacy") =>
  connect(
    { command: process.execPath, args: [built.path, "record", ...args], restart: false },
    {
      name: "host",
      version: "1.0.0",
      onElicit: async () => ({ action: "accept", content: { yes: true } }),
      onWarning: () => {},
      ...(era && { era }),
    },
  );

describe.each([
  ["a command", "2026-07-28", (file: string) => [file, "--", process.execPath, script], undefined],
  ["a URL", "2026-07-28", (file: string) => [http.url, file], undefined],
  [
    "a command, an earlier revision",
    "2025-11-25",
    (file: string) => [file, "--", process.execPath, script],
    "legacy",
  ],
  ["a URL, an earlier revision", "2025-11-25", (file: string) => [http.url, file], "legacy"],
  ["a URL with sessions", "2025-11-25", (file: string) => [withSessions.url, file], "legacy"],
] as const)("between a host and %s", (_, revision, target, era) => {
  it("everything works as without, and everything is written down", async () => {
    const file = fresh();
    const client = await host(target(file), era);
    try {
      expect(client.protocolVersion).toBe(revision);
      const { tools } = await client.listTools();
      expect(tools).toHaveLength(6);
      const result = await client.callTool("echo", { text: "häll\u2028o", region: "Süd" });
      expect(result.content).toEqual([{ type: "text", text: '{"text":"häll\u2028o","region":"Süd"}' }]);
      const asked = await client.callTool("ask", {}).catch((error: Error) => error.message);
      // A client of an earlier revision cannot be asked over HTTP without a session.
      if (era === undefined || !target(file).includes(http.url))
        expect(asked).toMatchObject({ content: [{ text: "accept" }] });
      await expect(client.callTool("nothing")).rejects.toThrow("nothing");
    } finally {
      await client.close();
    }
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const [head, ...lines] = linesOf(file);
    expect(head).toMatchObject({ transcript: 1, target: expect.any(String), startedAt: expect.any(String) });
    expect(lines.at(-1)).toHaveProperty("end");
    const said = lines.slice(0, -1);
    expect(said.every(({ at, from }) => at >= 0 && (from === "client" || from === "server"))).toBe(true);
    const listed = said.find(({ message }) => message.result?.tools !== undefined);
    expect(listed.message.result.tools).toHaveLength(6);
    const echoed = said.find(({ message }) => message.params?.name === "echo");
    expect(echoed.message.params.arguments).toEqual({ text: "häll\u2028o", region: "Süd" });
  });
});

it("a session is ended, and tells what changes meanwhile", async () => {
  const file = fresh();
  const client = await host([withSessions.url, file], "legacy");
  const changes = client.listen({ resourceSubscriptions: ["changing://note"] });
  await changes.acknowledged;
  await client.callTool("touch");
  const { value } = await changes.next();
  expect(value).toEqual({ type: "resourceUpdated", uri: "changing://note" });
  await client.close();
  const methods = linesOf(file).map(({ message }) => message?.method);
  expect(methods).toContain("notifications/resources/updated");
});

describe("record", () => {
  it("passes every byte as it is, and ends as the server ends", async () => {
    const file = fresh();
    const echo = "process.stdin.on('data', (d) => process.stdout.write(d)).on('end', () => process.exit(9))";
    const stdin = 'no JSON\r\n{"a": 1.0e2}\n\n  [1,\n{"unfinished';
    const { code, stdout } = await mica(["record", file, "--", process.execPath, "-e", echo], { stdin });
    expect({ code, stdout }).toEqual({ code: 9, stdout: stdin });
    const said = linesOf(file).slice(1, -1);
    const from = (side: string) =>
      said.filter((line) => line.from === side).map(({ text, message }) => text ?? message);
    expect(from("client")).toEqual(["no JSON\r", { a: 100 }, "  [1,", '{"unfinished']);
    expect(from("server")).toEqual(from("client"));
    expect(linesOf(file).at(-1)).toMatchObject({ end: { exitCode: 9, signal: null } });
  });

  it("overwrites nothing, and says where it writes", async () => {
    const file = fresh();
    writeFileSync(file, "mine");
    const { code, stderr } = await mica(["record", file, "--", process.execPath, "-e", ""]);
    const second = file.replace(".jsonl", "-2.jsonl");
    expect({ code, stderr }).toEqual({ code: 0, stderr: `mica: recording to ${second}\n` });
    expect(readFileSync(file, "utf8")).toBe("mine");
    expect(existsSync(second)).toBe(true);
  });

  it("masks secrets of the command line, of members with such names, and what looks like one", async () => {
    const file = fresh();
    const stdin = [
      '{"password":"hunter22","progressToken":"p1","note":"Bearer abcdefghijkl, say topsecret1"}',
      '{"jwt":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln","url":"https://a.example/?access_token=abc&x=1"}',
      "text with topsecret1",
    ].join("\n");
    const echo = ["-e", "process.stdin.pipe(process.stdout)", "--", "--api-key", "topsecret2"];
    const { stdout } = await mica(
      ["record", file, "--env", "MY_TOKEN=topsecret1", "--", process.execPath, ...echo],
      { stdin },
    );
    expect(stdout).toBe(stdin);
    const written = readFileSync(file, "utf8");
    for (const secret of [
      "hunter22",
      "abcdefghijkl",
      "topsecret1",
      "topsecret2",
      "eyJhbGci",
      "access_token=abc",
    ]) {
      expect(written).not.toContain(secret);
    }
    expect(linesOf(file)[1].message).toEqual({
      password: "***",
      progressToken: "p1",
      note: "Bearer ***, say ***",
    });
    expect(written).toContain("x=1");
  });

  it("masks the token of a URL, and sends it", async () => {
    let seen: string | undefined;
    const listener: HttpListener = createServer((incoming, outgoing) => {
      seen = incoming.headers.authorization;
      outgoing.writeHead(200, { "content-type": "application/json" });
      outgoing.end('{"jsonrpc":"2.0","id":1,"result":{"echo":"very-secret"}}');
    });
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/?key=s3cret`;
    const file = fresh();
    try {
      const words = ["record", url, file, "--header", "Authorization: Bearer very-secret"];
      const { code, stdout } = await mica(words, { stdin: '{"jsonrpc":"2.0","id":1,"method":"x"}\n' });
      expect(code).toBe(0);
      expect(stdout).toContain("very-secret");
    } finally {
      listener.close();
    }
    expect(seen).toBe("Bearer very-secret");
    expect(readFileSync(file, "utf8")).not.toMatch(/very-secret|s3cret/);
  });

  it("answers in place of a server that gives no answer", async () => {
    const file = fresh();
    const { stdout } = await mica(["record", "http://127.0.0.1:9/mcp", file], {
      stdin:
        '{"jsonrpc":"2.0","id":"a","method":"tools/list"}\n{"jsonrpc":"2.0","method":"notifications/x"}\n',
    });
    const answer = JSON.parse(stdout);
    expect(answer).toMatchObject({ jsonrpc: "2.0", id: "a", error: { code: -32603 } });
    expect(answer.error.message).toContain("ECONNREFUSED");
    expect(linesOf(file).find(({ from }) => from === "mica").message).toEqual(answer);
  });

  it("ends with everything that it started when it is terminated, and keeps what was said", async () => {
    const file = fresh();
    const pidFile = join(built.directory, "pid");
    const child = spawn(process.execPath, [
      built.path,
      "record",
      file,
      "--",
      process.execPath,
      FIXTURE,
      `--pid-file=${pidFile}`,
    ]);
    const lines = createInterface({ input: child.stdout });
    child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n');
    await once(lines, "line");
    const pid = await eventually(() => Number(readFileSync(pidFile, "utf8")) || undefined);
    child.kill("SIGTERM");
    await once(child, "exit");
    expect(isAlive(pid)).toBe(false);
    expect(linesOf(file).filter(({ from }) => from !== undefined)).toHaveLength(2);
  });

  it.runIf(process.platform === "linux")(
    "goes on where nothing more can be written, and says so",
    async () => {
      const file = fresh();
      const stdin = '{"jsonrpc":"2.0","method":"notifications/x"}\n'.repeat(50);
      const words = [process.execPath, built.path, "record", file, "--", "cat"];
      // 512 bytes, and no more.
      const { code, stdout, stderr } = await runProgram(
        "/bin/sh",
        ["-c", 'ulimit -f 1; exec "$@"', "sh", ...words],
        { stdin },
      );
      expect({ code, stdout }).toEqual({ code: 70, stdout: stdin });
      expect(stderr).toContain("mica: recording ended early: EFBIG");
      expect(statSync(file).size).toBe(512);
      const nowhere = await mica(["record", "/proc/session.jsonl", "--", "cat"], { stdin });
      expect(nowhere).toMatchObject({ code: 2, stdout: "" });
      expect(nowhere.stderr).toContain('cannot write "/proc/session.jsonl"');
    },
  );

  it("says that a server cannot be started", async () => {
    const { code, stderr } = await mica(["record", fresh(), "--", "/nowhere/at/all"]);
    expect(code).toBe(3);
    expect(stderr).toContain("cannot start /nowhere/at/all");
  });
});

describe("replay", () => {
  const record = async (messages: readonly object[]) => {
    const file = fresh();
    const stdin = messages.map((message) => `${JSON.stringify(message)}\n`).join("");
    await mica(["record", file, "--", process.execPath, script], { stdin });
    return file;
  };
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
  };
  const request = (id: number, method: string, params: object = {}) => ({
    jsonrpc: "2.0",
    id,
    method,
    params: { ...params, _meta },
  });
  const targets = [
    ["a command", () => ["--", process.execPath, script]],
    ["a URL", () => [http.url]],
  ] as const;
  const replay = (file: string, target: readonly string[], ...words: string[]) =>
    mica(target[0] === "--" ? ["replay", file, ...words, ...target] : ["replay", ...target, file, ...words]);

  it.each(targets)("finds nothing where %s answers as before", async (_, target) => {
    const file = await record([
      request(1, "tools/list"),
      request(2, "tools/call", { name: "echo", arguments: { text: "a", region: "r" } }),
      request(3, "nonsense"),
    ]);
    const { code, stdout } = await replay(file, target());
    expect(stdout).toMatch(/: 3 sent, 3 compared, nothing differs\n$/);
    expect(code).toBe(0);
  });

  it.each(targets)("tells what differs of %s, and not what may", async (_, target) => {
    const file = await record([request(1, "tools/call", { name: "stamp" })]);
    const differs = await replay(file, target());
    expect(differs.code).toBe(9);
    expect(differs.stdout).toMatch(
      /^different answer to 1 \(tools\/call\)\n {2}result\.content\.0\.text\.id\n {4}recorded "[\w-]{36}"\n {4}replayed "[\w-]{36}"\n/,
    );
    for (const ignore of ["result.content.0.text.id", "result.content.*.text.*", "**.id"]) {
      expect(await replay(file, target(), "--ignore", ignore)).toMatchObject({ code: 0 });
    }
    const json = JSON.parse((await replay(file, target(), "--json")).stdout);
    expect(json).toMatchObject({
      verb: "replay",
      result: {
        sent: 1,
        compared: 1,
        complete: true,
        differences: [
          {
            what: "answer to 1",
            method: "tools/call",
            kind: "different",
            differences: [{ path: "result.content.0.text.id" }],
          },
        ],
      },
    });
  });

  it("carries over what may differ into what is sent later", async () => {
    const file = fresh();
    const client = await host([file, "--", process.execPath, script]);
    // The state that the server seals is another each time, and goes back to it.
    expect(await client.callTool("ask", {})).toMatchObject({ content: [{ text: "accept" }] });
    await client.close();
    const messages = linesOf(file).filter(({ message }) => message?.params?.requestState !== undefined);
    expect(messages).toHaveLength(1);
    expect(await replay(file, ["--", process.execPath, script])).toMatchObject({ code: 0 });
  });

  it("answers the server's own questions of an earlier revision", async () => {
    const file = fresh();
    const client = await host([file, "--", process.execPath, script], "legacy");
    expect(await client.callTool("ask", {})).toMatchObject({ content: [{ text: "accept" }] });
    await client.close();
    const { code, stdout } = await replay(file, ["--", process.execPath, script]);
    expect(stdout).toContain("nothing differs");
    expect(code).toBe(0);
  });

  it("tells what is missing, and what nobody expected", async () => {
    const file = await record([request(1, "tools/list")]);
    const lines = readFileSync(file, "utf8").split("\n");
    const extra = JSON.stringify({
      at: 1,
      from: "server",
      message: { jsonrpc: "2.0", method: "notifications/x" },
    });
    writeFileSync(file, [lines[0], lines[1], lines[2], extra].join("\n"));
    const missing = await replay(file, ["--", process.execPath, script], "--timeout", "1");
    expect(missing.code).toBe(9);
    expect(missing.stdout).toMatch(/^missing notifications\/x 1\n/);
    writeFileSync(file, [lines[0], lines[1]].join("\n"));
    const unexpected = await replay(file, ["--", process.execPath, script]);
    expect(unexpected.stdout).toMatch(/^unexpected answer to 1 \(tools\/list\)\n/);
  });

  it("says that the server is gone", async () => {
    const file = await record([request(1, "tools/list")]);
    const { code, stderr } = await replay(file, ["--", process.execPath, "-e", "process.exit(7)"]);
    expect(code).toBe(9);
    expect(stderr).toContain("exit code 7");
  });

  it("refuses what is no transcript", async () => {
    const file = fresh();
    writeFileSync(file, '{"a":1}\n');
    const { code, stderr } = await replay(file, ["--", process.execPath, script]);
    expect(code).toBe(2);
    expect(stderr).toContain("is no transcript");
    writeFileSync(file, '{"transcript":1,"target":"x"}\n{"at":1}\n{}\n');
    expect((await replay(file, [http.url])).stderr).toContain(
      'line 2: expected "at", "from" and "message" or "text"',
    );
    expect((await replay("/nowhere", [http.url])).stderr).toContain('cannot read "/nowhere"');
  });
});
