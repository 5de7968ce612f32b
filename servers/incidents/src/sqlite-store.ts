/** Incidents in one SQLite file, which any number of processes may share. */
import type { Database, Statement } from "better-sqlite3";
import { openSqlite } from "../../kit/sqlite.js";
import { explain } from "../../kit/sqlite-errors.js";
import { INCIDENTS_FORMAT } from "./migrations.js";
import type {
  Incident,
  IncidentChange,
  IncidentQuery,
  IncidentState,
  IncidentStore,
  IncidentsOfTenant,
  Severity,
} from "./store.js";
import { matchExpression } from "./terms.js";
import { createWatch } from "./watch.js";

export interface SqliteStoreOptions {
  /** Milliseconds between two looks for writes of other processes, while somebody listens. Default 500. */
  readonly watchEveryMs?: number | undefined;
  /** Milliseconds for which a write waits its turn behind other processes. Default 5000. */
  readonly busyTimeoutMs?: number | undefined;
}

interface Row {
  readonly id: number;
  readonly title: string;
  readonly severity: Severity;
  readonly state: IncidentState;
  readonly description: string | null;
  readonly opened_at: string;
  readonly resolved_at: string | null;
  readonly cause: string | null;
  readonly revision: number;
}

const COLUMNS = "id, title, severity, state, description, opened_at, resolved_at, cause, revision";
const NEXT_REVISION = "(SELECT coalesce(max(revision), 0) + 1 FROM incidents)";
/** A number from JavaScript is bound as a floating-point one, by which the full-text index would not seek. */
const OLDER = "< CAST(@before AS INTEGER)";

/**
 * Opens an incident log in a file, and makes the file and its folder where they are missing, for their
 * owner alone.
 *
 * @throws StoreError saying in one line what is wrong with the file.
 * @example const store = openSqliteStore("/var/lib/incidents/incidents.sqlite");
 */
export function openSqliteStore(file: string, options: SqliteStoreOptions = {}): IncidentStore {
  return openSqlite(file, { ...INCIDENTS_FORMAT, busyMs: options.busyTimeoutMs }, (db) =>
    createStore(db, options),
  );
}

function createStore(db: Database, { watchEveryMs = 500 }: SqliteStoreOptions): IncidentStore {
  const byId = db.prepare<[number, string], Row>(
    `SELECT ${COLUMNS} FROM incidents WHERE id = ? AND tenant = ?`,
  );
  const insert = db.prepare<[string, string, Severity, string | null, string], Row>(
    `INSERT INTO incidents (tenant, title, severity, description, opened_at, revision)
     VALUES (?, ?, ?, ?, ?, ${NEXT_REVISION}) RETURNING ${COLUMNS}`,
  );
  const settle = db.prepare<[string, string, number, string], Row>(
    `UPDATE incidents SET resolved_at = ?, cause = ?, revision = ${NEXT_REVISION}
     WHERE id = ? AND tenant = ? AND resolved_at IS NULL RETURNING ${COLUMNS}`,
  );
  const countOpen = db
    .prepare<[string], number>("SELECT count(*) FROM incidents WHERE tenant = ? AND state = 'open'")
    .pluck();
  const openNumbers = db
    .prepare<[string, string, number], number>(
      `SELECT id FROM incidents WHERE tenant = ? AND state = 'open' AND CAST(id AS TEXT) LIKE ? || '%'
       ORDER BY id DESC LIMIT ?`,
    )
    .pluck();
  const searches = new Map<string, Statement<[Record<string, unknown>], Row>>();

  // From the first statement on, a write transaction keeps other writers out: numbers and revisions stay in order.
  const write = db.transaction((statement: () => Row | undefined) => statement());

  const dataVersion = db.prepare<[], number>("PRAGMA data_version").pluck();
  const latest = db.prepare<[], number | null>("SELECT max(revision) FROM incidents").pluck();
  const changed = db.prepare<[number, number], IncidentChange & { revision: number }>(
    "SELECT id AS number, tenant, revision FROM incidents WHERE revision > ? ORDER BY revision LIMIT ?",
  );
  const watch = createWatch(
    {
      version: () => dataVersion.get()!,
      latest: () => latest.get() ?? 0,
      after: (revision, limit) => changed.all(revision, limit),
    },
    watchEveryMs,
    (error) => console.error("The incident log cannot be watched for changes:", error),
  );

  /** Runs a statement; what SQLite refuses becomes a sentence that names no file, since callers may be anywhere. */
  const run = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw explain(error, "The incident log's database");
    }
  };

  const writeOne = (tenant: string, statement: () => Row | undefined): Incident | undefined => {
    const row = run(() => write.immediate(statement));
    if (row === undefined) return undefined;
    watch.wrote({ number: row.id, tenant }, row.revision);
    return incidentOf(row);
  };

  const find = (number: number, tenant: string): Incident | undefined => {
    const row = run(() => byId.get(number, tenant));
    return row && incidentOf(row);
  };

  const search = (
    tenant: string,
    { text = "", severity, state, before = Number.MAX_SAFE_INTEGER, limit }: IncidentQuery,
  ): Row[] => {
    const match = matchExpression(text, { tenant, severity, state });
    const sql = searchSql(match !== undefined, severity, state);
    let statement = searches.get(sql);
    if (statement === undefined) {
      statement = db.prepare(sql);
      searches.set(sql, statement);
    }
    return statement.all({ tenant, match, severity, state, before, limit: limit + 1 });
  };

  const incidentsOf = (tenant: string): IncidentsOfTenant => ({
    async open({ title, severity, description }) {
      return writeOne(tenant, () => insert.get(tenant, title, severity, description ?? null, timestamp()))!;
    },
    async resolve(number, cause) {
      return writeOne(tenant, () => settle.get(timestamp(), cause, number, tenant)) ?? find(number, tenant);
    },
    find: async (number) => find(number, tenant),
    async search(query) {
      const rows = run(() => search(tenant, query));
      return { incidents: rows.slice(0, query.limit).map(incidentOf), more: rows.length > query.limit };
    },
    async countOpen() {
      return run(() => countOpen.get(tenant)!);
    },
    async openNumbers(digits, limit) {
      return run(() => openNumbers.all(tenant, digits, limit));
    },
  });

  return {
    of: incidentsOf,
    watch: (onChange) => run(() => watch.watch(onChange)),
    async close() {
      watch.stop();
      // The last one to close the file also moves the write-ahead log into it.
      db.close();
    },
  };
}

/** With text, the full-text index answers all of it; without, one of the other indexes does, in order of `id`. */
function searchSql(byText: boolean, severity: unknown, state: unknown): string {
  if (byText) {
    const columns = COLUMNS.split(", ").map((column) => `i.${column}`);
    return `SELECT ${columns.join(", ")} FROM incident_search s CROSS JOIN incidents i ON i.id = s.rowid
      WHERE incident_search MATCH @match AND s.rowid ${OLDER} AND i.tenant = @tenant ORDER BY s.rowid DESC LIMIT @limit`;
  }
  const conditions = ["tenant = @tenant", `id ${OLDER}`];
  if (severity !== undefined) conditions.push("severity = @severity");
  if (state !== undefined) conditions.push("state = @state");
  return `SELECT ${COLUMNS} FROM incidents WHERE ${conditions.join(" AND ")} ORDER BY id DESC LIMIT @limit`;
}

function incidentOf(row: Row): Incident {
  return {
    number: row.id,
    title: row.title,
    severity: row.severity,
    state: row.state,
    openedAt: row.opened_at,
    ...(row.description !== null && { description: row.description }),
    ...(row.resolved_at !== null && { resolvedAt: row.resolved_at }),
    ...(row.cause !== null && { cause: row.cause }),
  };
}

function timestamp(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}
