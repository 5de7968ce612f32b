/** A log of the first version, with incidents in it, is opened by this one. */
import SqliteDatabase, { type Database } from "better-sqlite3";
import { expect, it } from "vitest";
import { openSqlite } from "../../kit/sqlite.js";
import { INCIDENTS_FORMAT } from "../src/migrations.js";
import { openSqliteStore } from "../src/sqlite-store.js";
import { NOBODY } from "../src/tenant.js";
import { temporaryFiles } from "./folder.js";

const file = temporaryFiles();

/** What the first version defined; which terms it wrote is of no matter, as they are written anew. */
const defineFirst = (db: Database) =>
  void db.function("incident_terms", { varargs: true, deterministic: true }, () => "old");

function firstVersion(path: string): Database {
  const format = {
    ...INCIDENTS_FORMAT,
    migrations: INCIDENTS_FORMAT.migrations.slice(0, 1),
    define: defineFirst,
  };
  const db = openSqlite(path, format, (opened) => opened);
  db.exec(`
    INSERT INTO incidents (title, severity, description, opened_at, revision)
    VALUES ('Queue backed up', 'sev2', 'since noon', '2026-01-01T00:00:00Z', 1);
    INSERT INTO incidents (title, severity, opened_at, resolved_at, cause, revision)
    VALUES ('Disk full', 'sev1', '2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z', 'A log without end', 2);
    DELETE FROM incidents WHERE id = 1;
    INSERT INTO incidents (title, severity, description, opened_at, revision)
    VALUES ('Queue backed up', 'sev2', 'since noon', '2026-01-04T00:00:00Z', 3);
  `);
  return db;
}

it("its incidents belong to the tenant without a name, are found as before, and keep their numbers", async () => {
  const path = file();
  firstVersion(path).close();
  const store = openSqliteStore(path);
  const log = store.of(NOBODY);
  expect(await log.find(3)).toEqual({
    number: 3,
    title: "Queue backed up",
    severity: "sev2",
    state: "open",
    openedAt: "2026-01-04T00:00:00Z",
    description: "since noon",
  });
  const numbers = async (query: Parameters<typeof log.search>[0], tenant = NOBODY) =>
    (await store.of(tenant).search(query)).incidents.map(({ number }) => number);
  expect(await numbers({ limit: 9 })).toEqual([3, 2]);
  expect(await numbers({ text: "queues", limit: 9 })).toEqual([3]);
  expect(await numbers({ text: "noon", state: "open", severity: "sev2", limit: 9 })).toEqual([3]);
  expect(await numbers({ text: "log", state: "resolved", limit: 9 })).toEqual([2]);
  expect(await numbers({ text: "inc-2", limit: 9 })).toEqual([2]);
  expect(await numbers({ text: "old", limit: 9 })).toEqual([]);
  expect(await numbers({ limit: 9 }, "acme")).toEqual([]);
  expect(await numbers({ text: "queue", limit: 9 }, "acme")).toEqual([]);
  expect(await log.resolve(3, "A stuck consumer")).toMatchObject({ state: "resolved" });
  expect(await store.of("acme").open({ title: "Queue", severity: "sev3" })).toMatchObject({ number: 4 });
  expect(await numbers({ text: "queue", limit: 9 })).toEqual([3]);
  await store.close();
  const db = new SqliteDatabase(path, { readonly: true });
  expect(db.pragma("user_version", { simple: true })).toBe(2);
  expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
  db.close();
});

it("a process of the first version that still has it open can read, and no longer write", async () => {
  const path = file();
  const old = firstVersion(path);
  const store = openSqliteStore(path);
  expect(old.prepare("SELECT count(*) FROM incidents").pluck().get()).toBe(2);
  expect(() => old.exec("UPDATE incidents SET title = 'Changed' WHERE id = 3")).toThrow(
    /incident_terms_of_tenant/,
  );
  expect(await store.of(NOBODY).find(3)).toMatchObject({ title: "Queue backed up" });
  old.close();
  await store.close();
});
