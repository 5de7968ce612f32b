/** The schema of the SQLite file, as the steps that lead to it. A step that was published is never edited. */
import type { Database } from "better-sqlite3";
import { StoreError } from "./store.js";

/** Marks a file as an incident log ("INCI"), so that no other application's database is written to by mistake. */
export const APPLICATION_ID = 0x494e4349;

/** Brings the schema from version n to n + 1, n being the position. Runs inside a transaction. */
export type Migration = (db: Database) => void;

/**
 * `state` is derived, so that it cannot contradict `resolved_at`. `revision` grows with every write, so that other
 * processes find what has changed. The triggers call `incident_terms`, which every connection of this program
 * defines: another program cannot write an incident and leave the index behind.
 */
const incidents: Migration = (db) =>
  db.exec(`
    CREATE TABLE incidents (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      title TEXT NOT NULL,
      severity TEXT NOT NULL CHECK (severity IN ('sev1', 'sev2', 'sev3', 'sev4')),
      description TEXT,
      opened_at TEXT NOT NULL,
      resolved_at TEXT,
      cause TEXT,
      revision INTEGER NOT NULL UNIQUE,
      state TEXT GENERATED ALWAYS AS (iif(resolved_at IS NULL, 'open', 'resolved')) VIRTUAL,
      CHECK ((resolved_at IS NULL) = (cause IS NULL))
    ) STRICT;
    CREATE INDEX incidents_by_state ON incidents (state);
    CREATE INDEX incidents_by_severity ON incidents (severity);
    CREATE INDEX incidents_by_severity_and_state ON incidents (severity, state);

    CREATE VIRTUAL TABLE incident_search USING fts5 (terms, content = '', contentless_delete = 1, tokenize = 'ascii');
    CREATE TRIGGER incident_indexed AFTER INSERT ON incidents BEGIN
      INSERT INTO incident_search (rowid, terms)
      VALUES (new.id, incident_terms(new.id, new.severity, new.state, new.title, new.description, new.cause));
    END;
    CREATE TRIGGER incident_reindexed AFTER UPDATE ON incidents BEGIN
      UPDATE incident_search
      SET terms = incident_terms(new.id, new.severity, new.state, new.title, new.description, new.cause)
      WHERE rowid = new.id;
    END;
    CREATE TRIGGER incident_unindexed AFTER DELETE ON incidents BEGIN
      DELETE FROM incident_search WHERE rowid = old.id;
    END;
  `);

export const MIGRATIONS: readonly Migration[] = [incidents];

/**
 * Refuses a file that is not an incident log, or one of a version that is not known here.
 *
 * @throws StoreError
 */
export function checkSchema(db: Database, what: string, known = MIGRATIONS.length): void {
  const version = numberFrom(db, "user_version");
  const application = numberFrom(db, "application_id");
  const empty =
    version === 0 && application === 0 && db.prepare("SELECT 1 FROM sqlite_schema").get() === undefined;
  if (application !== APPLICATION_ID && !empty) {
    throw new StoreError(`${what} is not an incident log: it belongs to another application`);
  }
  if (version > known) {
    throw new StoreError(
      `${what} was written by a newer incidents-mcp: its schema has version ${version}, this one knows ${known}. Update incidents-mcp`,
    );
  }
}

/** Brings the schema up to date. Processes that start together take turns, and the later ones find it done. */
export function migrate(db: Database, what: string, migrations: readonly Migration[] = MIGRATIONS): void {
  if (numberFrom(db, "user_version") === migrations.length) return;
  db.transaction(() => {
    checkSchema(db, what, migrations.length);
    for (const migration of migrations.slice(numberFrom(db, "user_version"))) migration(db);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${migrations.length}`);
  }).immediate();
}

function numberFrom(db: Database, pragma: "user_version" | "application_id"): number {
  return db.pragma(pragma, { simple: true }) as number;
}
