/**
 * The calendar's file: an SQLite database that any number of processes may open at once. It holds the events, and
 * the key that seals half-finished calls, so that every process that can see the events can finish the calls.
 */
import type { Database } from "better-sqlite3";
import type { Migration, SqliteFormat } from "../../kit/sqlite.js";

const calendar: Migration = (db) => {
  db.exec(`
    CREATE TABLE events (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      title TEXT NOT NULL,
      starts_at TEXT NOT NULL,
      idempotency_key TEXT UNIQUE
    ) STRICT;
    CREATE INDEX events_by_start ON events (starts_at, id);
    CREATE TABLE secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  `);
  // Loaded when a calendar is made, not at every start.
  const { randomBytes } = process.getBuiltinModule("node:crypto");
  const key = randomBytes(32).toString("base64url");
  db.prepare("INSERT INTO secrets (name, value) VALUES ('state', ?)").run(key);
};

export const CALENDAR_FORMAT: SqliteFormat = {
  /** "CALE" */
  applicationId: 0x43414c45,
  kind: "a calendar",
  program: "calendar-mcp",
  migrations: [calendar],
  // What was answered "Created" survives a power failure.
  synchronous: "FULL",
};

/** The secret with which calls are sealed: the same for every process on the file. */
export function readStateKey(database: Database): string {
  return database
    .prepare<[], string>("SELECT value FROM secrets WHERE name = 'state'")
    .pluck()
    .get() as string;
}
