/**
 * The calendar's file: an SQLite database that any number of processes may open at once. It holds the events, and
 * the key that seals half-finished calls, so that every process that can see the events can finish the calls.
 */
import { randomBytes } from "node:crypto";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";
import SqliteDatabase, { type Database } from "better-sqlite3";
import { DatabaseError, explained, isBusy } from "./database-errors.js";

/** Marks a file as a calendar ("CALE"), so that no other program's database is written to by mistake. */
const APPLICATION_ID = 0x43414c45;
const SCHEMA_VERSION = 1;

const SCHEMA = `
  CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL,
    starts_at TEXT NOT NULL,
    idempotency_key TEXT UNIQUE
  ) STRICT;
  CREATE INDEX events_by_start ON events (starts_at, id);
  CREATE TABLE secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

/**
 * Opens the calendar's file. Where there is none it is made, and its folder too, for their owner alone.
 *
 * @param file a path, or `:memory:` for a calendar that ends with the process
 * @param busyMs milliseconds for which a write waits for one of another process
 * @throws DatabaseError naming the file and what is wrong with it.
 */
export function openDatabase(file: string, busyMs: number): Database {
  const path = file === ":memory:" ? file : resolve(file);
  let database: Database | undefined;
  try {
    if (path !== ":memory:") makeFile(path);
    database = new SqliteDatabase(path, { timeout: busyMs, fileMustExist: path !== ":memory:" });
    const { version, owner } = headerOf(database);
    if (owner !== APPLICATION_ID || version !== SCHEMA_VERSION) makeTables(database, path);
    useWriteAheadLog(database, busyMs);
    // What was answered "Created" survives a power failure.
    database.pragma("synchronous = FULL");
    return database;
  } catch (error) {
    database?.close();
    throw explained(error, path);
  }
}

/** The secret with which calls are sealed: the same for every process on the file. */
export function readStateKey(database: Database): string {
  return database
    .prepare<[], string>("SELECT value FROM secrets WHERE name = 'state'")
    .pluck()
    .get() as string;
}

function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // SQLite would make it readable by all. Opened for appending, so that an existing file stays as it is.
  closeSync(openSync(path, "a", 0o600));
}

/** Processes that start together take turns, and the later ones find it done. */
function makeTables(database: Database, path: string): void {
  database
    .transaction(() => {
      const { version, owner } = headerOf(database);
      if (owner === APPLICATION_ID && version === SCHEMA_VERSION) return;
      if (owner === APPLICATION_ID) {
        const formats = `it has format ${version}, and this calendar-mcp knows format ${SCHEMA_VERSION}`;
        throw new DatabaseError(
          `database ${path} was written by another version of calendar-mcp: ${formats}`,
        );
      }
      if (owner !== 0 || database.prepare("SELECT 1 FROM sqlite_schema").get() !== undefined) {
        throw new DatabaseError(`database ${path} is not a calendar: it belongs to another program`);
      }
      database.exec(SCHEMA);
      database
        .prepare("INSERT INTO secrets (name, value) VALUES ('state', ?)")
        .run(randomBytes(32).toString("base64url"));
    })
    .immediate();
}

function headerOf(database: Database): { version: number; owner: number } {
  return {
    version: database.pragma("user_version", { simple: true }) as number,
    owner: database.pragma("application_id", { simple: true }) as number,
  };
}

/** Readers then never wait for a writer. The file remembers it. */
function useWriteAheadLog(database: Database, busyMs: number): void {
  const deadline = Date.now() + busyMs;
  for (;;) {
    try {
      // A file system that cannot keeps the journal it has.
      if (database.pragma("journal_mode", { simple: true }) !== "wal") database.pragma("journal_mode = WAL");
      return;
    } catch (error) {
      // SQLite itself does not wait for other processes here.
      if (!isBusy(error) || Date.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}
