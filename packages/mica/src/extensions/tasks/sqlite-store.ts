/** Tasks in a SQLite database that the author has opened: they outlive the process, and several processes may share them. */
import type { StoredTask, TaskStore } from "./store.js";

/** What is needed of a database: `better-sqlite3` has it, and so has `DatabaseSync` of `node:sqlite`. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
}

export interface SqliteStatement {
  run(...values: (string | number | null)[]): { changes: number | bigint };
  get(...values: (string | number | null)[]): unknown;
  all(...values: (string | number | null)[]): unknown[];
}

interface Row {
  readonly task_id: string;
  readonly revision: number;
  readonly principal: string | null;
  readonly due_at: number | null;
  readonly expires_at: number;
  readonly data: string;
}

const TABLE = `
  CREATE TABLE IF NOT EXISTS mica_tasks (
    task_id TEXT PRIMARY KEY,
    revision INTEGER NOT NULL,
    principal TEXT,
    due_at INTEGER,
    expires_at INTEGER NOT NULL,
    data TEXT NOT NULL
  );
  CREATE INDEX IF NOT EXISTS mica_tasks_due ON mica_tasks (due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX IF NOT EXISTS mica_tasks_expiry ON mica_tasks (expires_at);
  CREATE INDEX IF NOT EXISTS mica_tasks_principal ON mica_tasks (principal);
`;

/**
 * Keeps tasks in the table `mica_tasks`, which is made where it is missing. Every change is one statement, so that
 * processes that share the file need no other agreement. Arguments, answers and results are stored as they are.
 *
 * @example
 * const db = new Database("tasks.sqlite");
 * db.pragma("journal_mode = WAL");
 * const store = sqliteTaskStore(db);
 */
export function sqliteTaskStore(db: SqliteDatabase): TaskStore {
  db.exec(TABLE);
  const insert = db.prepare(
    `INSERT INTO mica_tasks (task_id, revision, principal, due_at, expires_at, data)
     SELECT ?, ?, ?, ?, ?, ?
     WHERE (SELECT count(*) FROM mica_tasks) < ? AND (SELECT count(*) FROM mica_tasks WHERE principal = ?) < ?`,
  );
  const read = db.prepare("SELECT * FROM mica_tasks WHERE task_id = ?");
  const replace = db.prepare(
    "UPDATE mica_tasks SET revision = ?, due_at = ?, expires_at = ?, data = ? WHERE task_id = ? AND revision = ?",
  );
  const due = db.prepare("SELECT task_id FROM mica_tasks WHERE due_at <= ? ORDER BY due_at LIMIT ?");
  const deleteExpired = db.prepare("DELETE FROM mica_tasks WHERE expires_at <= ?");

  return {
    insert({ taskId, revision, principal, dueAt, expiresAt, data }, { maxTasks, maxTasksPerPrincipal }) {
      const owner = principal ?? null;
      const values = [taskId, revision, owner, dueAt ?? null, expiresAt, data];
      // Nothing equals NULL, so that callers who are not authenticated have no count of their own.
      return Number(insert.run(...values, maxTasks, owner, maxTasksPerPrincipal).changes) === 1;
    },
    read(taskId) {
      const row = read.get(taskId) as Row | undefined;
      return row && taskOf(row);
    },
    replace({ taskId, revision, dueAt, expiresAt, data }) {
      return (
        Number(replace.run(revision, dueAt ?? null, expiresAt, data, taskId, revision - 1).changes) === 1
      );
    },
    due: (now, limit) => (due.all(now, limit) as Pick<Row, "task_id">[]).map(({ task_id }) => task_id),
    deleteExpired(now) {
      deleteExpired.run(now);
    },
  };
}

function taskOf({ task_id, revision, principal, due_at, expires_at, data }: Row): StoredTask {
  return {
    taskId: task_id,
    revision,
    principal: principal ?? undefined,
    dueAt: due_at ?? undefined,
    expiresAt: expires_at,
    data,
  };
}
