/** The command as a process: what it says of mistakes, and how it serves and stops. */
import { spawnSync } from "node:child_process";
import { chmodSync, closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import SqliteDatabase from "better-sqlite3";
import { connect } from "mica-mcp/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { helpOf } from "../options.js";
import { NOTES } from "./fixtures/notes.js";
import { builtFiles, type Running, run } from "./process.js";

const built = builtFiles(import.meta.url, "./fixtures/notes-mcp.ts");
const CLIENT = { name: "test", version: "1.0.0" };
let folder: string;
let file: string;
const started: Running[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "kit-"));
  file = join(folder, "notes.sqlite");
});
afterEach(async () => {
  for (const { child } of started) child.kill("SIGKILL");
  await Promise.all(started.splice(0).map(({ finished }) => finished));
  rmSync(folder, { recursive: true, force: true });
});

function command(args: readonly string[], options?: Parameters<typeof run>[2]): Running {
  const running = run(built("notes-mcp.ts"), args, options);
  started.push(running);
  return running;
}

async function served(...args: string[]): Promise<Running & { url: string }> {
  const running = command(["--http", "127.0.0.1:0", "--database", file, ...args]);
  const [, url] = await running.printed(/^Notebook at (http:\S+)$/m);
  return { ...running, url: url! };
}

describe("the command line", () => {
  it("shows help and version, and exits", async () => {
    const end = { code: 0, signal: null, stderr: "" };
    expect(await command(["--help"]).finished).toEqual({ ...end, stdout: helpOf(NOTES) });
    expect(await command(["--version"]).finished).toEqual({ ...end, stdout: "1.2.3\n" });
  });

  it("that is wrong ends it with 2 and one line", async () => {
    expect(await command(["--bogus"]).finished).toEqual({
      code: 2,
      signal: null,
      stdout: "",
      stderr: "notes-mcp: Unknown option '--bogus'. See notes-mcp --help\n",
    });
  });
});

describe.skipIf(!existsSync("/dev/full"))("a stdout that cannot be written", () => {
  const REQUEST = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "server/discover",
    params: {
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    },
  });

  it.each([
    [[], "[mica] stdout cannot be written: "],
    [["--http", "127.0.0.1:0"], "notes-mcp: Cannot write to stdout: "],
    [["--help"], "notes-mcp: Cannot write to stdout: "],
  ])("ends %j with 1 and one line", (args, line) => {
    const stdout = openSync("/dev/full", "w");
    try {
      const { status, stderr } = spawnSync(
        process.execPath,
        [built("notes-mcp.ts"), ...args, "--database", file],
        { input: `${REQUEST}\n`, stdio: ["pipe", stdout, "pipe"], encoding: "utf8", timeout: 10_000 },
      );
      expect({ status, stderr }).toEqual({
        status: 1,
        stderr: expect.stringMatching(/^[^\n]+ENOSPC[^\n]+\n$/),
      });
      expect(stderr.startsWith(line)).toBe(true);
    } finally {
      closeSync(stdout);
    }
  });

  it("because its reader has gone is the end of a session, and no failure", async () => {
    const running = command(["--database", file]);
    running.child.stdout.destroy();
    running.child.stdin.write(`${REQUEST}\n`);
    expect(await running.finished).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("the database", () => {
  it("that is none ends it with 1 and one line", async () => {
    writeFileSync(file, "no database ".repeat(100));
    for (const args of [[], ["--http", "127.0.0.1:0"]]) {
      expect(await command(["--database", file, ...args]).finished).toEqual({
        code: 1,
        signal: null,
        stdout: "",
        stderr: `notes-mcp: Database ${file} is not a SQLite database\n`,
      });
    }
  });

  it.skipIf(process.platform === "win32")("without permission is refused in one line", async () => {
    new SqliteDatabase(file).exec("CREATE TABLE t (x)").close();
    chmodSync(file, 0o444);
    chmodSync(folder, 0o555);
    // Root may write anywhere: then the command runs as somebody else.
    const as = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
    const refusal = async (path: string) => {
      const { code, stdout, stderr } = await command(["--database", path], as).finished;
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      return stderr;
    };
    const reason = "cannot be opened: check the permissions of the file and its folder";
    expect(await refusal(file)).toBe(`notes-mcp: Database ${file} ${reason}\n`);
    const missing = join(folder, "missing.sqlite");
    expect(await refusal(missing)).toBe(`notes-mcp: Database ${missing} ${reason}\n`);
    const below = join(folder, "more", "notes.sqlite");
    expect(await refusal(below)).toBe(
      `notes-mcp: Database ${below}: its folder cannot be created: permission denied\n`,
    );
    chmodSync(folder, 0o755);
  });

  it.skipIf(!existsSync("/proc/self"))(
    "in a folder that takes no entries is refused, and nothing hangs",
    async () => {
      for (const path of ["/proc/notes/notes.sqlite", "/proc/notes.sqlite"]) {
        const { code, stdout, stderr } = await command(["--database", path]).finished;
        expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
        expect(stderr).toMatch(/^notes-mcp: Database \/proc\/[^\n]* cannot be created: [^\n]*\n$/);
      }
    },
  );

  it("is the one that the environment names, else the one in the data folder", async () => {
    const data = { XDG_DATA_HOME: join(folder, "data"), LOCALAPPDATA: join(folder, "data") };
    for (const env of [
      { ...data, NOTES_DATABASE: file },
      { ...data, NOTES_DATABASE: "" },
    ]) {
      const running = command([], { env });
      running.child.stdin.end();
      expect(await running.finished).toMatchObject({ code: 0, stdout: "", stderr: "" });
    }
    expect(existsSync(file)).toBe(true);
    if (process.platform !== "darwin")
      expect(existsSync(join(folder, "data", "notes-mcp", "notes.sqlite"))).toBe(true);
  });
});

describe("on stdio", () => {
  it("serves a client that launches it, ends with its input, and leaves one whole file", async () => {
    const args = [built("notes-mcp.ts"), "--database", file];
    await using client = await connect({ command: process.execPath, args }, CLIENT);
    const subscription = client.listen({ resourceSubscriptions: ["notes://all"] }, { reopen: false });
    await subscription.acknowledged;
    await client.callTool("add");
    expect(await subscription.next()).toMatchObject({ value: { uri: "notes://all" } });
    expect(existsSync(`${file}-wal`)).toBe(true);
    await client.close();
    await expect.poll(() => existsSync(`${file}-wal`)).toBe(false);
  });
});

describe("over HTTP", () => {
  it("says where it is and what to do next", async () => {
    const { url, child, finished } = await served();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    child.kill("SIGTERM");
    expect(await finished).toEqual({
      code: 0,
      signal: null,
      stdout: `Notebook at ${url}\nKept in ${file}\nAdd that URL to an MCP host, or look around with: npx -p mica-workbench mica tools ${url}\nCtrl+C stops it.\n`,
      stderr: "",
    });
  });

  it.each(["SIGTERM", "SIGINT"] as const)("ends gracefully on %s while somebody listens", async (signal) => {
    const { url, child, finished } = await served();
    await using client = await connect(url, CLIENT);
    const subscription = client.listen({ resourceSubscriptions: ["notes://all"] }, { reopen: false });
    await subscription.acknowledged;
    await client.callTool("add");
    expect(await subscription.next()).toMatchObject({ value: { uri: "notes://all" } });
    child.kill(signal);
    expect(await subscription.next()).toMatchObject({ done: true });
    expect(await finished).toMatchObject({ code: 0, signal: null, stderr: "" });
    expect(existsSync(`${file}-wal`)).toBe(false);
  });

  it.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)("ends at once on a second %s, and closes the file all the same", async (signal, code) => {
    const { url, child, finished } = await served();
    await using client = await connect(url, CLIENT);
    const waiting = client.callTool("wait").catch((error: unknown) => error);
    await new Promise((resolve) => child.stderr.once("data", resolve));
    child.kill(signal);
    // The endpoint is closed once the first one has arrived.
    await expect.poll(() => reachable(url)).toBe(false);
    child.kill(signal);
    expect(await finished).toMatchObject({ code, signal: null, stderr: "waiting\n" });
    expect(await waiting).toBeInstanceOf(Error);
    expect(existsSync(`${file}-wal`)).toBe(false);
  });

  it("says that the port is in use", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => taken.once("listening", resolve));
    const { port } = taken.address() as { port: number };
    expect(await command(["--http", `127.0.0.1:${port}`, "--database", file]).finished).toEqual({
      code: 1,
      signal: null,
      stdout: "",
      stderr: `notes-mcp: Cannot listen on 127.0.0.1:${port}: the port is in use. Stop what listens there, or choose another port with --http\n`,
    });
    await new Promise((resolve) => taken.close(resolve));
  });

  it("says that an address is not there", async () => {
    const open = ["--allow-host", "a.example.com", "--database", file];
    const elsewhere = await command(["--http", "192.0.2.1:0", ...open]).finished;
    expect(elsewhere).toMatchObject({ code: 1, stdout: "" });
    expect(elsewhere.stderr).toMatch(
      /^notes-mcp: Cannot listen on 192\.0\.2\.1:0: this machine does not have/,
    );
  });

  it("accepts the hosts that are named and those of the loopback, warns, and refuses others", async () => {
    const allowed = ["--allow-host", "notes.example.com", "--database", file];
    const running = command(["--http", "0.0.0.0:0", ...allowed]);
    const [, port] = await running.printed(/^Notebook at http:\/\/localhost:(\d+)\/mcp$/m);
    const status = (host: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        get({ host: "127.0.0.1", port, path: "/mcp", headers: { host } }, (res) =>
          resolve(res.resume().statusCode),
        ).on("error", reject);
      });
    // The endpoint takes POST alone: 405 is the answer of a server that lets the host in.
    expect(await status("notes.example.com")).toBe(405);
    expect(await status(`localhost:${port}`)).toBe(405);
    expect(await status("other.example.com")).toBe(403);
    running.child.kill("SIGTERM");
    const { code, stderr } = await running.finished;
    expect(code).toBe(0);
    expect(stderr).toBe(
      "Whoever can reach this address can read and write the notebook: put a proxy that signs people in before it.\n",
    );
  });
});

function reachable(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    get(url, { agent: false }, (res) => resolve(res.resume() && true)).on("error", () => resolve(false));
  });
}
