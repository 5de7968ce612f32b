/** Opens the SQLite file: its folder, its settings, its schema. */
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import SqliteDatabase, { type Database } from "better-sqlite3";
import { checkSchema, migrate } from "./migrations.js";
import { explain } from "./sqlite-errors.js";
import type { IncidentState, Severity } from "./store.js";
import { indexTerms } from "./terms.js";

/**
 * Opens the file and hands it to `use`. Makes it and its folder where they are missing; the folder is then for its
 * owner alone.
 *
 * @param busyTimeoutMs milliseconds for which a write waits its turn behind other processes
 * @throws StoreError saying in one line what is wrong with the file; nothing is left open then.
 */
export function openDatabase<T>(file: string, busyTimeoutMs: number, use: (db: Database) => T): T {
  const what = `Database ${file}`;
  let db: Database | undefined;
  try {
    makeFolder(dirname(file));
    db = new SqliteDatabase(file, { timeout: busyTimeoutMs });
    db.pragma("foreign_keys = ON");
    // With a write-ahead log, a crash of the machine can lose the last commits at this level, never the file.
    db.pragma("synchronous = NORMAL");
    db.function("incident_terms", { deterministic: true, varargs: true }, termsOfRow);
    // Before anything is written, in case the file is somebody else's.
    checkSchema(db, what);
    useWriteAheadLog(db, busyTimeoutMs);
    migrate(db, what);
    return use(db);
  } catch (error) {
    db?.close();
    throw explain(error, what, file);
  }
}

/** Step by step: Node's recursive form never returns where a folder refuses new entries by `ENOENT`, as /proc does. */
function makeFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have been quicker.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

function termsOfRow(...row: unknown[]): string {
  const [number, severity, state, title, description, cause] = row as [
    number,
    Severity,
    IncidentState,
    string,
    string | null,
    string | null,
  ];
  return indexTerms([title, description, cause], { number, severity, state });
}

/** Readers and writers of other processes then do not wait for each other. The file remembers it. */
function useWriteAheadLog(db: Database, busyTimeoutMs: number): void {
  const deadline = Date.now() + busyTimeoutMs;
  while (db.pragma("journal_mode", { simple: true }) !== "wal") {
    try {
      // Some file systems cannot; then SQLite goes on with the journal it has.
      db.pragma("journal_mode = WAL");
      return;
    } catch (error) {
      // Two processes that switch a new file at the same time: SQLite does not wait here, so we do.
      if (!String((error as { code?: unknown }).code).startsWith("SQLITE_BUSY") || Date.now() > deadline)
        throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}
