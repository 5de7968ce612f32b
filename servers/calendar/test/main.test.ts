/** The command: its options, what it says of mistakes, and how it serves and stops. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "mica-mcp/client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { dataFolder } from "../src/data-folder.js";
import { HELP, readOptions, UsageError } from "../src/options.js";
import { openStore } from "../src/store.js";
import { type BuiltCommand, buildCommand } from "./command.js";

let command: BuiltCommand;
let folder: string;
let database: string;
const running: ChildProcess[] = [];

// Every message costs the start of a process.
vi.setConfig({ testTimeout: 60_000 });

beforeAll(async () => {
  command = await buildCommand();
});
afterAll(() => command.remove());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "calendar-"));
  database = join(folder, "calendar.sqlite");
});
afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

interface Run {
  readonly child: ChildProcess;
  /** What it has printed so far. */
  readonly said: { out: string; err: string };
  readonly ended: Promise<number | null>;
}

function start(...args: string[]): Run {
  const env = { ...process.env, XDG_DATA_HOME: join(folder, "data"), CALENDAR_DATABASE: "" };
  const child = spawn(process.execPath, [command.file, ...args], { env, stdio: ["pipe", "pipe", "pipe"] });
  running.push(child);
  const said = { out: "", err: "" };
  child.stdout.on("data", (chunk) => {
    said.out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    said.err += chunk;
  });
  return { child, said, ended: once(child, "close").then(([code]) => code as number | null) };
}

async function run(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const { child, said, ended } = start(...args);
  child.stdin?.end();
  return { code: await ended, ...said };
}

async function startHttp(...args: string[]): Promise<Run & { url: string }> {
  const started = start("--http", "127.0.0.1:0", "--database", database, ...args);
  while (!started.said.out.includes("\n")) await once(started.child.stdout!, "data");
  return { ...started, url: /http:\S+/.exec(started.said.out)![0] };
}

const CLIENT = { name: "test", version: "1.0.0" };

describe("the command line", () => {
  it("has defaults for everything", () => {
    const file = (env: NodeJS.ProcessEnv) => readOptions([], env);
    expect(file({ CALENDAR_DATABASE: "/d/x.sqlite" })).toEqual({ database: "/d/x.sqlite", http: undefined });
    expect(file({})).toEqual({
      database: join(dataFolder("calendar-mcp", { env: {} }), "calendar.sqlite"),
      http: undefined,
    });
    const args = ["--http", "--database", "x.sqlite"];
    expect(readOptions(args, { CALENDAR_DATABASE: "/d/y.sqlite" })).toEqual({
      database: join(process.cwd(), "x.sqlite"),
      http: { host: "127.0.0.1", port: 8932, allowHosts: [] },
    });
  });

  it.each([
    ["0", "127.0.0.1", 0],
    ["localhost:80", "localhost", 80],
    ["[::1]:9000", "[::1]", 9000],
    ["[::1]", "[::1]", 8932],
    [":9000", "127.0.0.1", 9000],
  ])("takes --http %s", (text, host, port) => {
    expect(readOptions(["--http", text], {})).toMatchObject({ http: { host, port } });
  });

  it.each([
    [["--http", "127.0.0.1:70000"], "--http expects HOST:PORT"],
    [["--http", "http://127.0.0.1"], "--http expects HOST:PORT"],
    [["--http", "0.0.0.0:8932"], "name the host by which they call, with --allow-host"],
    [["--allow-host", "calendar.example.com"], "no meaning without --http"],
    [["--http", "--allow-host", "a b"], "--allow-host expects a host name"],
    [["--database", ""], "--database expects the path of a file"],
    [["--database", ":memory:"], "--database expects the path of a file"],
    [["--datbase", "x"], "Unknown option '--datbase'"],
    [["x.sqlite"], "Unexpected argument 'x.sqlite'"],
  ])("refuses %j in one line", (argv, expected) => {
    expect(() => readOptions(argv, {})).toThrow(UsageError);
    expect(() => readOptions(argv, {})).toThrow(expected);
    expect(() => readOptions(argv, {})).toThrow(/^[^\n]*$/);
  });
});

describe("the process", () => {
  it("shows help and version", async () => {
    expect(await run("--help")).toEqual({ code: 0, out: HELP, err: "" });
    expect(await run("--version")).toEqual({ code: 0, out: `${manifest.version}\n`, err: "" });
  });

  it("ends with 2 for a wrong command line and 1 for a file that cannot be used, in one line each", async () => {
    const usage = await run("--nonsense");
    expect(usage).toEqual({
      code: 2,
      out: "",
      err: "calendar-mcp: Unknown option '--nonsense'. See calendar-mcp --help\n",
    });
    writeFileSync(database, "no database at all".repeat(100));
    expect(await run("--database", database)).toEqual({
      code: 1,
      out: "",
      err: `calendar-mcp: database ${database} cannot be used: it is not an SQLite database\n`,
    });
  });

  it("keeps the calendar in the data folder where nobody says otherwise, and ends with its input", async () => {
    expect(await run()).toEqual({ code: 0, out: "", err: "" });
    if (process.platform === "linux") {
      expect(existsSync(join(folder, "data", "calendar-mcp", "calendar.sqlite"))).toBe(true);
    }
  });

  it("serves HTTP, hears of what other processes write, and stops when told to", async () => {
    const { child, said, ended, url } = await startHttp();
    expect(said.out).toContain(`Calendar at ${url}\nKept in ${database}\n`);
    const client = await connect(url, {
      ...CLIENT,
      onElicit: () => ({ action: "accept", content: { startsAt: "2026-09-10T08:30:00Z" } }),
    });
    const subscription = client.listen({ resourceSubscriptions: ["calendar://week/2026-10-08"] });
    await subscription.acknowledged;
    const created = await client.callTool("create_event", { title: "Dentist" });
    expect(created.structuredContent).toMatchObject({ id: "e1" });
    const store = openStore(database);
    store.insert({ title: "Concert", startsAt: "2026-10-09T19:00:00Z" });
    store.close();
    expect(await subscription.next()).toMatchObject({
      value: { type: "resourceUpdated", uri: "calendar://week/2026-10-08" },
    });
    child.kill("SIGTERM");
    expect(await subscription.next()).toEqual({ done: true, value: undefined });
    expect(await ended).toBe(0);
    await client.close();
    expect(said.err).toBe("");
    // Closed in order: the log of writes has been taken into the file.
    expect(existsSync(`${database}-wal`)).toBe(false);
  });

  it("says that the port is taken", async () => {
    const { url } = await startHttp();
    const { port } = new URL(url);
    expect(await run("--http", `127.0.0.1:${port}`, "--database", join(folder, "b.sqlite"))).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^calendar-mcp: Cannot listen on 127\.0\.0\.1:\d+: the port is in use\.[^\n]*\n$/,
      ),
    });
  });
});
