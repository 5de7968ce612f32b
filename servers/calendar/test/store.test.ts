/** The calendar's file: what it keeps, whom it refuses, and how several processes share it. */
import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import SqliteDatabase from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { StoreError } from "../../kit/store-error.js";
import { type EventStore, openStore } from "../src/store.js";

let folder: string;
let file: string;
const opened: EventStore[] = [];

function open(path = file): EventStore {
  const store = openStore(path);
  opened.push(store);
  return store;
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "calendar-"));
  file = join(folder, "deep", "calendar.sqlite");
});
afterEach(() => {
  for (const store of opened.splice(0)) store.close();
  rmSync(folder, { recursive: true, force: true });
});

const DENTIST = { title: "Dentist", startsAt: "2026-09-10T08:30:00Z" };
const ALWAYS = ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"] as const;

describe("events", () => {
  it("are numbered from e1 and kept, whoever opens the file next", () => {
    const first = open();
    expect(first.insert(DENTIST)).toEqual({ id: "e1", ...DENTIST });
    expect(first.insert({ title: "Standup", startsAt: "2026-09-07T09:00:00Z" }).id).toBe("e2");
    first.close();
    first.close();
    expect(open().between(...ALWAYS)).toEqual([
      { id: "e2", title: "Standup", startsAt: "2026-09-07T09:00:00Z" },
      { id: "e1", ...DENTIST },
    ]);
  });

  it("are found by their start, both ends included, and in the order they came where it is the same", () => {
    const store = open(":memory:");
    const at = (startsAt: string) => store.insert({ title: startsAt, startsAt }).id;
    at("2026-09-06T23:59:59Z");
    const inside = [at("2026-09-07T00:00:00Z"), at("2026-09-13T23:59:59Z"), at("2026-09-13T23:59:59Z")];
    at("2026-09-14T00:00:00Z");
    expect(store.between("2026-09-07T00:00:00Z", "2026-09-13T23:59:59Z").map(({ id }) => id)).toEqual(inside);
  });

  it("are added once per idempotency key, without a gap in the numbers", () => {
    const store = open();
    const first = store.insert(DENTIST, "call-1:insert");
    expect(store.insert(DENTIST, "call-1:insert")).toEqual(first);
    expect(open().insert({ ...DENTIST, startsAt: "2027-01-01T00:00:00Z" }, "call-1:insert")).toEqual(first);
    expect(store.insert(DENTIST, "call-2:insert").id).toBe("e2");
    expect(store.insert(DENTIST).id).toBe("e3");
    expect(store.insert(DENTIST).id).toBe("e4");
  });

  it.each([
    "'; DROP TABLE events; --",
    'a "quoted" one',
    "%_\\",
    "日本語 🗓️ é e\u0301",
    "__proto__",
    "NULL",
    "x\u0000y",
  ])("keep the title %j as it is", (title) => {
    open().insert({ ...DENTIST, title });
    expect(open().between(...ALWAYS)).toEqual([{ id: "e1", ...DENTIST, title }]);
  });
});

describe("changes", () => {
  it("are seen by number, per day, and by version where another connection made them", () => {
    const [mine, theirs] = [open(), open()];
    const version = mine.dataVersion();
    mine.insert(DENTIST);
    expect(mine.dataVersion()).toBe(version);
    theirs.insert({ ...DENTIST, startsAt: "2026-09-10T23:00:00Z" });
    theirs.insert({ ...DENTIST, startsAt: "2026-12-24T18:00:00Z" });
    expect(mine.dataVersion()).not.toBe(version);
    expect(mine.newest()).toBe(3);
    expect(mine.changedSince(0)).toEqual([
      { date: "2026-09-10", newest: 2 },
      { date: "2026-12-24", newest: 3 },
    ]);
    expect(mine.changedSince(2)).toEqual([{ date: "2026-12-24", newest: 3 }]);
    expect(mine.changedSince(3)).toEqual([]);
  });
});

describe("the key", () => {
  it("belongs to the file, and no two files have the same", () => {
    const key = open().stateKey;
    expect(key).toMatch(/^[\w-]{43}$/);
    expect(open().stateKey).toBe(key);
    expect(open(join(folder, "other.sqlite")).stateKey).not.toBe(key);
  });

  it.skipIf(process.platform === "win32")("is readable by the owner of the file alone", () => {
    open().insert(DENTIST);
    for (const suffix of ["", "-wal", "-shm"]) expect(statSync(file + suffix).mode & 0o777).toBe(0o600);
  });
});

describe("a file that cannot be used", () => {
  it("belongs to another program, or to a newer version of this one", () => {
    mkdirSync(dirname(file));
    new SqliteDatabase(file).exec("CREATE TABLE notes (text TEXT)").close();
    expect(() => open()).toThrow(
      new StoreError(`Database ${file} is not a calendar: it belongs to another application`),
    );
    rmSync(file);
    open().close();
    const newer = new SqliteDatabase(file);
    // "CALE"
    expect(newer.pragma("application_id", { simple: true })).toBe(0x43414c45);
    newer.pragma("user_version = 7");
    newer.close();
    expect(() => open()).toThrow(/was written by a newer calendar-mcp: .* version 7, this one knows 1/);
  });
});
