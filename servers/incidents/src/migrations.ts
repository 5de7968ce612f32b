/** The SQLite file: how it is marked, its settings, and its schema as the steps that lead to it. */
import type { Migration, SqliteFormat } from "../../kit/sqlite.js";
import type { IncidentState, Severity } from "./store.js";
import { indexTerms } from "./terms.js";

/**
 * The first version. `state` is derived, so that it cannot contradict `resolved_at`. `revision` grows with every write, so that other
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

    CREATE VIRTUAL TABLE incident_search USING fts5 (terms, content = '', contentless_delete = 1, prefix = '2 3', tokenize = 'ascii');
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

/**
 * Every incident belongs to a tenant; those from before, to the one without a name. What makes terms has another name
 * from here on: a process of the first version that still has the file open can no longer write what nobody would find.
 */
const tenants: Migration = (db) => {
  const terms =
    "incident_terms_of_tenant(new.id, new.tenant, new.severity, new.state, new.title, new.description, new.cause)";
  db.exec(`
    ALTER TABLE incidents ADD COLUMN tenant TEXT NOT NULL DEFAULT '';
    DROP INDEX incidents_by_state;
    DROP INDEX incidents_by_severity;
    DROP INDEX incidents_by_severity_and_state;
    CREATE INDEX incidents_by_tenant ON incidents (tenant);
    CREATE INDEX incidents_by_state ON incidents (tenant, state);
    CREATE INDEX incidents_by_severity ON incidents (tenant, severity);
    CREATE INDEX incidents_by_severity_and_state ON incidents (tenant, severity, state);

    DROP TRIGGER incident_indexed;
    DROP TRIGGER incident_reindexed;
    CREATE TRIGGER incident_indexed AFTER INSERT ON incidents BEGIN
      INSERT INTO incident_search (rowid, terms) VALUES (new.id, ${terms});
    END;
    CREATE TRIGGER incident_reindexed AFTER UPDATE ON incidents BEGIN
      UPDATE incident_search SET terms = ${terms} WHERE rowid = new.id;
    END;
    UPDATE incidents SET tenant = '';
  `);
};

export const INCIDENTS_FORMAT: SqliteFormat = {
  /** "INCI" */
  applicationId: 0x494e4349,
  kind: "an incident log",
  program: "incidents-mcp",
  migrations: [incidents, tenants],
  define: (db) =>
    void db.function("incident_terms_of_tenant", { deterministic: true, varargs: true }, termsOfRow),
  // With a write-ahead log, a crash of the machine can lose the last commits at this level, never the file.
  synchronous: "NORMAL",
};

function termsOfRow(...row: unknown[]): string {
  const [number, tenant, severity, state, title, description, cause] = row as [
    number,
    string,
    Severity,
    IncidentState,
    string,
    string | null,
    string | null,
  ];
  return indexTerms(number, [title, description, cause], { tenant, severity, state });
}
