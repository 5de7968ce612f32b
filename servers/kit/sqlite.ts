/**
 * Opens an SQLite file that any number of processes may share: the file and its folder, whose they are, and the
 * schema, step by step.
 */
import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import SqliteDatabase, { type Database } from "better-sqlite3";
import { explain, isBusy } from "./sqlite-errors.js";
import { StoreError } from "./store-error.js";

/** Brings the schema from version n to n + 1, n being the position. Runs inside a transaction. */
export type Migration = (db: Database) => void;

export interface SqliteFormat {
  /** Marks the files of this program, so that no other one's database is written to by mistake. 32 bits, not 0. */
  readonly applicationId: number;
  /** What such a file is, e.g. `an incident log`. */
  readonly kind: string;
  /** The program that writes it, e.g. `incidents-mcp`. */
  readonly program: string;
  /** The steps that lead to the schema. One that was published is never edited. */
  readonly migrations: readonly Migration[];
  /** Defines, on every connection, the functions that schema and migrations call. */
  readonly define?: ((db: Database) => void) | undefined;
  /** Whether the last commits survive a crash of the machine (`FULL`), or only the file does (`NORMAL`). */
  readonly synchronous: "FULL" | "NORMAL";
  /** Milliseconds for which a write waits its turn behind other processes. Default 5000. */
  readonly busyMs?: number | undefined;
}

/**
 * Opens the file and hands it to `use`. Makes it and its folder where they are missing, for their owner alone.
 *
 * @param file a path, or `:memory:` for a database that ends with the process
 * @throws StoreError saying in one line what is wrong with the file; nothing is left open then.
 * @example const store = openSqlite("/data/notes.sqlite", NOTES, (db) => storeOver(db));
 */
export function openSqlite<T>(file: string, format: SqliteFormat, use: (db: Database) => T): T {
  const inMemory = file === ":memory:";
  const path = inMemory ? file : resolve(file);
  const what = `Database ${path}`;
  const busyMs = format.busyMs ?? 5_000;
  let db: Database | undefined;
  try {
    if (!inMemory) makeFile(path);
    db = new SqliteDatabase(path, { timeout: busyMs, fileMustExist: !inMemory });
    db.pragma(`synchronous = ${format.synchronous}`);
    format.define?.(db);
    // Before anything is written, in case the file is somebody else's.
    checkHeader(db, format, what);
    useWriteAheadLog(db, busyMs);
    migrate(db, format, what);
    return use(db);
  } catch (error) {
    db?.close();
    throw explain(error, what, path);
  }
}

function makeFile(path: string): void {
  makeFolder(dirname(path));
  if (existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK);
  // SQLite would let everybody read it. Never done to a file that is there: closing it would end all locks that this
  // process holds on it through other connections.
  else closeSync(openSync(path, "a", 0o600));
}

/** Step by step: Node's recursive form never returns where a folder refuses new entries by `ENOENT`, as /proc does. */
function makeFolder(folder: string): void {
  if (isFolder(folder)) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have been quicker.
    if (!isFolder(folder)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Refuses a file that belongs to another program, or has a version that is not known here. */
function checkHeader(
  db: Database,
  { applicationId, kind, program, migrations }: SqliteFormat,
  what: string,
): void {
  // In one transaction: another process may be making the file, and half of what it says before that and half after
  // would be nobody's file.
  const { version, owner, empty } = db.transaction(() => {
    const version = versionOf(db);
    const owner = db.pragma("application_id", { simple: true });
    const empty =
      version === 0 && owner === 0 && db.prepare("SELECT 1 FROM sqlite_schema").get() === undefined;
    return { version, owner, empty };
  })();
  if (owner !== applicationId && !empty)
    throw new StoreError(`${what} is not ${kind}: it belongs to another application`);
  const known = migrations.length;
  if (version > known) {
    throw new StoreError(
      `${what} was written by a newer ${program}: its schema has version ${version}, this one knows ${known}. Update ${program}`,
    );
  }
}

/** Brings the schema up to date. Processes that start together take turns, and the later ones find it done. */
function migrate(db: Database, format: SqliteFormat, what: string): void {
  const { applicationId, migrations } = format;
  if (versionOf(db) === migrations.length) return;
  db.transaction(() => {
    checkHeader(db, format, what);
    for (const migration of migrations.slice(versionOf(db))) migration(db);
    db.pragma(`application_id = ${applicationId}`);
    db.pragma(`user_version = ${migrations.length}`);
  }).immediate();
}

function versionOf(db: Database): number {
  return db.pragma("user_version", { simple: true }) as number;
}

/** Readers and writers of other processes then do not wait for each other. The file remembers it. */
function useWriteAheadLog(db: Database, busyMs: number): void {
  const deadline = Date.now() + busyMs;
  for (;;) {
    try {
      // Some file systems cannot; then SQLite goes on with the journal it has.
      if (db.pragma("journal_mode", { simple: true }) !== "wal") db.pragma("journal_mode = WAL");
      return;
    } catch (error) {
      // Two processes that switch a new file at the same time: SQLite does not wait here, so we do.
      if (!isBusy(error) || Date.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}
