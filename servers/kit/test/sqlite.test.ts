/** The file: what is made, how it is brought up to date, what is refused, and how several share it. */
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import SqliteDatabase, { type Database } from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Migration, openSqlite, type SqliteFormat } from "../sqlite.js";
import { StoreError } from "../store-error.js";
import { NOTES_FORMAT } from "./fixtures/notes.js";
import { builtFiles, run } from "./process.js";

const built = builtFiles(import.meta.url, "./fixtures/open-together.ts", "./fixtures/hold-lock.ts");
let folder: string;
let file: string;
const opened: Database[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "kit-"));
  file = join(folder, "notes.sqlite");
});
afterEach(() => {
  for (const db of opened.splice(0)) db.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(path = file, format: Partial<SqliteFormat> = {}): Database {
  return openSqlite(path, { ...NOTES_FORMAT, ...format }, (db) => {
    opened.push(db);
    return db;
  });
}

function refusal(path = file, format: Partial<SqliteFormat> = {}): string {
  try {
    open(path, format);
  } catch (error) {
    expect(error).toBeInstanceOf(StoreError);
    expect((error as Error).message).not.toContain("\n");
    return (error as Error).message;
  }
  throw new Error(`${path} was opened`);
}

const add = (db: Database, text: string) => db.prepare("INSERT INTO notes VALUES (?)").run(text);
const notesIn = (db: Database) => db.prepare("SELECT text FROM notes ORDER BY rowid").pluck().all();
const setting = (db: Database, name: string) => db.pragma(name, { simple: true });

describe("a file that is not there", () => {
  it("is made with its folders, marked, and one whole file after closing", () => {
    const path = join(folder, "a", "b", "notes.sqlite");
    const db = open(path);
    add(db, "Kept");
    expect(existsSync(`${path}-wal`)).toBe(true);
    expect(setting(db, "journal_mode")).toBe("wal");
    expect(setting(db, "application_id")).toBe(NOTES_FORMAT.applicationId);
    expect(setting(db, "user_version")).toBe(1);
    db.close();
    expect(existsSync(`${path}-wal`)).toBe(false);
    expect(notesIn(open(path))).toEqual(["Kept"]);
  });

  it.skipIf(process.platform === "win32")("is for its owner alone, and so are its folders", () => {
    const path = join(folder, "a", "b", "notes.sqlite");
    const link = join(folder, "link");
    mkdirSync(join(folder, "c"));
    symlinkSync(join(folder, "c", "linked.sqlite"), link);
    for (const each of [path, link]) {
      add(open(each), "Private");
      for (const suffix of ["", "-wal", "-shm"]) {
        const made = each === link ? join(folder, "c", `linked.sqlite${suffix}`) : each + suffix;
        expect([made, statSync(made).mode & 0o777]).toEqual([made, 0o600]);
      }
    }
    for (const made of [dirname(path), dirname(dirname(path))])
      expect(statSync(made).mode & 0o777).toBe(0o700);
  });

  it.skipIf(process.platform === "win32")("leaves the permissions of one that is there", () => {
    writeFileSync(file, "", { mode: 0o640 });
    open();
    expect(statSync(file).mode & 0o777).toBe(0o640);
  });

  it("may be named relatively, and is named whole in messages", () => {
    writeFileSync(file, "no database ".repeat(100));
    expect(refusal(relative(process.cwd(), file))).toBe(`Database ${file} is not a SQLite database`);
  });

  it("may be none at all", () => {
    add(open(":memory:"), "Gone soon");
    expect(notesIn(open(":memory:"))).toEqual([]);
    expect(existsSync(":memory:")).toBe(false);
  });
});

describe("the settings", () => {
  it.each([
    ["FULL", 2],
    ["NORMAL", 1],
  ] as const)("say how durable a commit is: %s", (synchronous, value) => {
    expect(setting(open(file, { synchronous }), "synchronous")).toBe(value);
    expect(setting(open(file, { synchronous }), "journal_mode")).toBe("wal");
  });
});

describe("the schema", () => {
  const addDay: Migration = (db) => db.exec("ALTER TABLE notes ADD COLUMN day TEXT NOT NULL DEFAULT 'today'");
  const next = [...NOTES_FORMAT.migrations, addDay];

  it("is brought up to date from an older version, and keeps what the file holds", () => {
    const old = open();
    add(old, "From the past");
    old.close();
    for (let time = 0; time < 2; time += 1) {
      const db = open(file, { migrations: next });
      expect(setting(db, "user_version")).toBe(2);
      expect(db.prepare("SELECT * FROM notes").all()).toEqual([{ text: "From the past", day: "today" }]);
      db.close();
    }
  });

  it("stays what it was where a step fails half way", () => {
    const old = open();
    add(old, "From the past");
    old.close();
    const fail: Migration = (db) => {
      db.exec("DROP TABLE notes");
      throw new Error("half way");
    };
    expect(() => open(file, { migrations: [...next, fail] })).toThrow(new Error("half way"));
    const db = open();
    expect(setting(db, "user_version")).toBe(1);
    expect(notesIn(db)).toEqual(["From the past"]);
  });

  it("of a newer program is refused", () => {
    open(file, { migrations: next }).close();
    expect(refusal()).toBe(
      `Database ${file} was written by a newer notes-mcp: its schema has version 2, this one knows 1. Update notes-mcp`,
    );
  });

  it("may call functions that every connection has, from its first step on", () => {
    const shout: Migration = (db) => db.exec("INSERT INTO notes VALUES (shout('made'))");
    const format: Partial<SqliteFormat> = {
      migrations: [...NOTES_FORMAT.migrations, shout],
      define: (db) => void db.function("shout", (text) => String(text).toUpperCase()),
    };
    open(file, format).close();
    const again = open(file, format);
    expect(notesIn(again)).toEqual(["MADE"]);
    expect(again.prepare("SELECT shout('again')").pluck().get()).toBe("AGAIN");
  });
});

describe("a file that cannot be used", () => {
  it("is refused, and left as it is, where it is something else", () => {
    writeFileSync(file, "This is a letter, not a database. ".repeat(100));
    expect(refusal()).toBe(`Database ${file} is not a SQLite database`);
    expect(readFileSync(file, "utf8")).toBe("This is a letter, not a database. ".repeat(100));
  });

  it.each([
    ["tables", "CREATE TABLE accounts (id INTEGER)"],
    ["a mark", "PRAGMA application_id = 7"],
    ["a version", "PRAGMA user_version = 1"],
  ])("is refused, and left as it is, where it has %s of another program", (_what, sql) => {
    new SqliteDatabase(file).exec(sql).close();
    const before = readFileSync(file);
    expect(refusal()).toBe(`Database ${file} is not a notebook: it belongs to another application`);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it("is refused where it is a folder, or lies below a file, or has a name that is too long", () => {
    expect(refusal(folder)).toBe(`Database ${folder} is a folder: a file was expected`);
    const plain = join(folder, "plain");
    writeFileSync(plain, "");
    const below = join(plain, "notes.sqlite");
    expect(refusal(below)).toBe(`Database ${below}: its folder cannot be created: a file has its name`);
    const deeper = join(plain, "x", "notes.sqlite");
    expect(refusal(deeper)).toMatch(
      /: its folder cannot be created: (?:something on the way to it is|a file)/,
    );
    const long = join(folder, "x".repeat(300));
    expect(refusal(long)).toBe(`Database ${long} cannot be created: its path is too long`);
  });

  it("is reported as damaged where its pages are", () => {
    open().close();
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0xff, 100));
    expect(refusal()).toBe(
      `Database ${file} is damaged: restore it from a backup, or recover it with sqlite3's .recover`,
    );
  });

  it("becomes one where it is empty", () => {
    writeFileSync(file, "");
    add(open(), "First");
    expect(notesIn(open())).toEqual(["First"]);
  });

  it("is closed again, whatever fails", () => {
    let left: Database | undefined;
    const failing = (error: unknown) => () =>
      openSqlite(file, NOTES_FORMAT, (db) => {
        left = db;
        throw error;
      });
    expect(failing(new Error("of the caller"))).toThrow(new Error("of the caller"));
    expect(left?.open).toBe(false);
    expect(() => openSqlite(file, NOTES_FORMAT, (db) => db.prepare("SELECT * FROM missing"))).toThrow(
      new StoreError(`Database ${file} cannot be used: no such table: missing (SQLITE_ERROR)`),
    );
  });
});

describe("several on one file", () => {
  it("make it together, once", async () => {
    for (let round = 0; round < 3; round += 1) {
      const path = join(folder, String(round), "notes.sqlite");
      const startAt = String(Date.now() + 700);
      const all = await Promise.all(
        Array.from({ length: 4 }, () => run(built("open-together.ts"), [path, startAt]).finished),
      );
      for (const { code, stderr } of all) expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(all.map(({ stdout }) => stdout).sort()).toEqual(["found", "found", "found", "made"]);
      const db = new SqliteDatabase(path);
      expect(notesIn(db)).toHaveLength(4);
      db.close();
    }
  }, 60_000);

  it("wait for one that is just making it", async () => {
    const holding = run(built("hold-lock.ts"), [file, "300"]);
    await holding.printed(/locked/);
    add(open(), "Waited for");
    expect(await holding.finished).toMatchObject({ code: 0, stderr: "" });
  });

  it("say so where that takes too long, and never end a lock that this process holds", () => {
    open().close();
    const holder = new SqliteDatabase(file);
    opened.push(holder);
    holder.pragma("journal_mode = DELETE");
    holder.exec("BEGIN EXCLUSIVE");
    expect(refusal(file, { busyMs: 20 })).toBe(`Database ${file} is busy: another process keeps it locked`);
    // The locks of POSIX belong to a process, and closing any descriptor of the file would end them all.
    const other = `new (require("better-sqlite3"))(${JSON.stringify(file)}, { timeout: 0 }).exec("BEGIN IMMEDIATE")`;
    const { stderr } = spawnSync(process.execPath, ["-e", other], { encoding: "utf8" });
    expect(stderr).toContain("SQLITE_BUSY");
    holder.exec("COMMIT");
    holder.close();
    add(open(), "Free");
  });
});
