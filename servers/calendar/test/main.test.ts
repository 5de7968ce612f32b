/** The command: what it is called, where it keeps the calendar, and how it serves and stops. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "mica-mcp/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { builtFiles, type Running, run } from "../../kit/test/process.js";
import manifest from "../package.json" with { type: "json" };
import { openStore } from "../src/store.js";

const built = builtFiles(import.meta.url, "../src/calendar-mcp.ts");
let folder: string;
let database: string;
const running: Running[] = [];

// Every test costs the start of processes.
vi.setConfig({ testTimeout: 60_000 });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "calendar-"));
  database = join(folder, "calendar.sqlite");
});
afterEach(async () => {
  for (const { child } of running) child.kill("SIGKILL");
  await Promise.all(running.splice(0).map(({ finished }) => finished));
  rmSync(folder, { recursive: true, force: true });
});

function start(...args: string[]): Running {
  const data = join(folder, "data");
  const env = { XDG_DATA_HOME: data, LOCALAPPDATA: data, CALENDAR_DATABASE: "" };
  const started = run(built("calendar-mcp.ts"), args, { env });
  running.push(started);
  return started;
}

describe("the command", () => {
  it("shows help and version, and refuses the rest in one line", async () => {
    const help = await start("--help").finished;
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(help.stdout).toMatch(/^calendar-mcp: a calendar as an MCP server\n/);
    expect(help.stdout).toContain("127.0.0.1:8932");
    expect(help.stdout).toContain("CALENDAR_DATABASE");
    expect(await start("--version").finished).toMatchObject({ code: 0, stdout: `${manifest.version}\n` });
    const { code, stdout, stderr } = await start("--http", "0.0.0.0:0").finished;
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(
      /^calendar-mcp: [^\n]* --allow-host calendar\.example\.com\. See calendar-mcp --help\n$/,
    );
  });

  it("ends with 1 for a file that cannot be used, in one line", async () => {
    writeFileSync(database, "no database at all".repeat(100));
    expect(await start("--database", database).finished).toMatchObject({
      code: 1,
      stdout: "",
      stderr: `calendar-mcp: Database ${database} is not a SQLite database\n`,
    });
  });

  it("keeps the calendar in the data folder where nobody says otherwise, and ends with its input", async () => {
    const started = start();
    started.child.stdin.end();
    expect(await started.finished).toMatchObject({ code: 0, stdout: "", stderr: "" });
    if (process.platform !== "darwin")
      expect(existsSync(join(folder, "data", "calendar-mcp", "calendar.sqlite"))).toBe(true);
  });

  it("serves HTTP, hears of what other processes write, and stops when told to", async () => {
    const { child, printed, finished } = start("--http", "127.0.0.1:0", "--database", database);
    const [, url, kept] = await printed(/^Calendar at (http:\S+)\nKept in (.*)\n/);
    expect(kept).toBe(database);
    const client = await connect(url!, {
      name: "test",
      version: "1.0.0",
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
    expect(await finished).toMatchObject({ code: 0, stderr: "" });
    await client.close();
    // Closed in order: the log of writes has been taken into the file.
    expect(existsSync(`${database}-wal`)).toBe(false);
  });
});
