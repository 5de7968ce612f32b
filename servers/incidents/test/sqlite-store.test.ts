import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import SqliteDatabase from "better-sqlite3";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { type Incident, SEVERITIES, StoreError } from "../src/store.js";
import { temporaryFiles } from "./folder.js";
import { type OneTenant, openOneTenant } from "./one-tenant.js";

const file = temporaryFiles();
const opened: OneTenant[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

function storeAt(path = file(), watchEveryMs = 10): OneTenant {
  const store = openOneTenant(path, { watchEveryMs });
  opened.push(store);
  return store;
}

async function pages(store: OneTenant, limit: number, between?: () => Promise<unknown>): Promise<Incident[]> {
  const found: Incident[] = [];
  for (let before: number | undefined; ; ) {
    const { incidents, more } = await store.search({ before, limit });
    expect(incidents.length).toBeLessThanOrEqual(limit);
    found.push(...incidents);
    if (!more) return found;
    before = incidents.at(-1)!.number;
    await between?.();
  }
}

describe("incidents", () => {
  it("are numbered from 1 and say what they are", async () => {
    const store = storeAt();
    const first = await store.open({ title: "Queue backed up", severity: "sev2", description: "since noon" });
    expect(first).toEqual({
      number: 1,
      title: "Queue backed up",
      severity: "sev2",
      state: "open",
      openedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      description: "since noon",
    });
    expect((await store.open({ title: "Again", severity: "sev4" })).number).toBe(2);
    expect(await store.find(1)).toEqual(first);
    expect(await store.find(3)).toBeUndefined();
    expect(await store.find(Number.MAX_SAFE_INTEGER)).toBeUndefined();
  });

  it("are resolved once: the first cause stands", async () => {
    const store = storeAt();
    const { number } = await store.open({ title: "Down", severity: "sev1" });
    const resolved = await store.resolve(number, "A switch failed");
    expect(resolved).toMatchObject({
      state: "resolved",
      cause: "A switch failed",
      resolvedAt: expect.any(String),
    });
    expect(await store.resolve(number, "Something else")).toEqual(resolved);
    expect(await store.find(number)).toEqual(resolved);
    expect(await store.resolve(99, "Nothing")).toBeUndefined();
  });

  it("never get the number of one that was deleted", async () => {
    const path = file();
    const store = storeAt(path);
    await store.open({ title: "One", severity: "sev1" });
    const { number } = await store.open({ title: "Two", severity: "sev1" });
    const db = new SqliteDatabase(path);
    db.exec("DELETE FROM incidents WHERE id = 2");
    db.close();
    expect((await store.open({ title: "Three", severity: "sev1" })).number).toBe(number + 1);
    expect((await store.search({ text: "two", limit: 5 })).incidents).toEqual([]);
  });

  it("are filtered by severity and state, newest first", async () => {
    const store = storeAt();
    for (let at = 0; at < 24; at += 1) {
      const { number } = await store.open({ title: `Number ${at}`, severity: SEVERITIES[at % 4]! });
      if (at % 3 === 0) await store.resolve(number, "Known");
    }
    const everything = await pages(store, 100);
    expect(everything.map(({ number }) => number)).toEqual(Array.from({ length: 24 }, (_, at) => 24 - at));
    for (const severity of [undefined, ...SEVERITIES]) {
      for (const state of [undefined, "open", "resolved"] as const) {
        for (const text of [undefined, "number"]) {
          const { incidents } = await store.search({ text, severity, state, limit: 100 });
          expect(incidents).toEqual(
            everything.filter(
              (one) => (severity ?? one.severity) === one.severity && (state ?? one.state) === one.state,
            ),
          );
        }
      }
    }
    expect(await store.countOpen()).toBe(16);
    expect(await store.openNumbers("2", 10)).toEqual(
      [24, 23, 21, 20, 2].filter((number) => (number - 1) % 3 !== 0),
    );
    expect(await store.openNumbers("", 3)).toEqual([24, 23, 21]);
  });

  it("are paged without doubles or gaps, whatever is opened and resolved between the pages", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 40 }),
        fc.integer({ min: 1, max: 12 }),
        async (count, limit) => {
          const path = file();
          const store = openOneTenant(path);
          const other = openOneTenant(path);
          try {
            for (let at = 0; at < count; at += 1) await store.open({ title: "Before", severity: "sev1" });
            const found = await pages(store, limit, async () => {
              const { number } = await other.open({ title: "Between", severity: "sev1" });
              await other.resolve(number - 1, "Between");
            });
            expect(found.map(({ number }) => number)).toEqual(
              Array.from({ length: count }, (_, at) => count - at),
            );
          } finally {
            await store.close();
            await other.close();
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  it("are all found by an index, in order, however they are filtered", () => {
    const path = file();
    storeAt(path);
    const db = new SqliteDatabase(path, { readonly: true });
    const plan = (conditions: string) =>
      db
        .prepare<[], { detail: string }>(
          `EXPLAIN QUERY PLAN SELECT title FROM incidents WHERE tenant = 'a' AND id < 5 AND ${conditions} ORDER BY id DESC LIMIT 3`,
        )
        .all()
        .map(({ detail }) => detail);
    expect(plan("title > ''")).toEqual([
      expect.stringMatching(/INDEX incidents_by_tenant \(tenant=\? AND rowid<\?\)/),
    ]);
    expect(plan("severity = 'sev1'")).toEqual([
      expect.stringMatching(/INDEX incidents_by_severity \(tenant=\? AND severity=\? AND rowid<\?\)/),
    ]);
    expect(plan("state = 'open'")).toEqual([
      expect.stringMatching(/INDEX incidents_by_state \(tenant=\? AND state=\? AND rowid<\?\)/),
    ]);
    expect(plan("severity = 'sev1' AND state = 'open'")).toEqual([
      expect.stringMatching(
        /INDEX incidents_by_severity_and_state \(tenant=\? AND severity=\? AND state=\? AND rowid<\?\)/,
      ),
    ]);
    db.close();
  });
});

describe("two stores on one file", () => {
  it("see each other's writes", async () => {
    const path = file();
    const one = storeAt(path);
    const two = storeAt(path);
    const { number } = await one.open({ title: "Shared", severity: "sev2" });
    expect(await two.find(number)).toMatchObject({ title: "Shared" });
    await two.resolve(number, "Elsewhere");
    expect(await one.find(number)).toMatchObject({ state: "resolved", cause: "Elsewhere" });
    expect((await two.open({ title: "Next", severity: "sev2" })).number).toBe(number + 1);
  });

  it("are told of changes once each: at once of their own, soon of the other's", async () => {
    const path = file();
    const one = storeAt(path);
    const two = storeAt(path);
    const before = await one.open({ title: "Before", severity: "sev1" });
    const told: number[] = [];
    const stop = one.watch((numbers) => told.push(...numbers));

    const own = await one.open({ title: "Own", severity: "sev1" });
    expect(told).toEqual([own.number]);
    const others: number[] = [];
    for (let at = 0; at < 5; at += 1)
      others.push((await two.open({ title: "Theirs", severity: "sev1" })).number);
    // An own write in the midst of those that have not been noticed yet.
    const late = await one.open({ title: "Own again", severity: "sev1" });
    await two.resolve(before.number, "Done");
    await expect.poll(() => told.length).toBe(8);
    expect(told).toEqual([own.number, late.number, ...others, before.number]);
    await one.resolve(before.number, "Done already");
    await two.resolve(before.number, "Done already");

    await two.resolve(own.number, "Last");
    await expect.poll(() => told.at(-1)).toBe(own.number);
    expect(told).toHaveLength(9);
    stop();
    await one.open({ title: "Unheard", severity: "sev1" });
    expect(told).toHaveLength(9);
  });

  it("take in many changes between two looks", async () => {
    const path = file();
    const one = storeAt(path, 50);
    const two = storeAt(path);
    const told = new Set<number>();
    one.watch((numbers) => {
      for (const number of numbers) told.add(number);
    });
    for (let at = 0; at < 2500; at += 1) await two.open({ title: "Burst", severity: "sev4" });
    await expect.poll(() => told.size, { timeout: 10_000 }).toBe(2500);
  });

  it("do not tell who begins to watch of what was before", async () => {
    const path = file();
    const one = storeAt(path);
    const two = storeAt(path);
    await two.open({ title: "Before", severity: "sev1" });
    const told: number[] = [];
    const stop = one.watch((numbers) => told.push(...numbers));
    const { number } = await two.open({ title: "After", severity: "sev1" });
    await expect.poll(() => told).toEqual([number]);
    stop();
    const whileAway = await two.open({ title: "While nobody watched", severity: "sev1" });
    one.watch((numbers) => told.push(...numbers));
    const last = await two.open({ title: "After that", severity: "sev1" });
    await expect.poll(() => told.at(-1)).toBe(last.number);
    expect(told).toEqual([number, last.number]);
    expect(told).not.toContain(whileAway.number);
  });

  it("wait for each other's writes, and say so where that takes too long", async () => {
    const path = file();
    const store = openOneTenant(path, { busyTimeoutMs: 20 });
    opened.push(store);
    const db = new SqliteDatabase(path);
    db.exec("BEGIN IMMEDIATE");
    await expect(store.open({ title: "Blocked", severity: "sev1" })).rejects.toThrow(
      new StoreError("The incident log's database is busy: another process keeps it locked"),
    );
    expect((await store.search({ limit: 5 })).incidents).toEqual([]);
    db.exec("COMMIT");
    db.close();
    expect((await store.open({ title: "Free", severity: "sev1" })).number).toBe(1);
  });
});

describe("the file", () => {
  it("is an incident log, and keeps what it holds", async () => {
    const path = file();
    const store = openOneTenant(path);
    await store.open({ title: "Kept", severity: "sev1" });
    await store.close();
    await store.close();
    expect(await storeAt(path).find(1)).toMatchObject({ title: "Kept" });
    const db = new SqliteDatabase(path, { readonly: true });
    // "INCI"
    expect(db.pragma("application_id", { simple: true })).toBe(0x494e4349);
    expect(db.pragma("user_version", { simple: true })).toBe(2);
    db.close();
  });

  it("is refused where it is something else, or newer", async () => {
    const foreign = file();
    mkdirSync(dirname(foreign), { recursive: true });
    new SqliteDatabase(foreign).exec("CREATE TABLE accounts (id INTEGER)").close();
    expect(() => openOneTenant(foreign)).toThrow(
      new StoreError(`Database ${foreign} is not an incident log: it belongs to another application`),
    );
    const newer = file();
    await openOneTenant(newer).close();
    const db = new SqliteDatabase(newer);
    db.pragma("user_version = 99");
    db.close();
    expect(() => openOneTenant(newer)).toThrow(
      /was written by a newer incidents-mcp: .* 99, this one knows 2/,
    );
  });

  it("is reported as damaged where its pages are", async () => {
    const path = file();
    const store = openOneTenant(path);
    for (let at = 0; at < 200; at += 1) {
      await store.open({ title: `Incident ${at} ${"x".repeat(100)}`, severity: "sev1" });
    }
    await store.close();
    const bytes = readFileSync(path);
    bytes.fill(0x5a, 4096);
    writeFileSync(path, bytes);
    const refuse = async () => {
      const damaged = storeAt(path);
      await damaged.search({ limit: 100 });
    };
    await expect(refuse()).rejects.toThrow(StoreError);
    await expect(refuse()).rejects.toThrow(/is damaged: restore it from a backup/);
  });

  it("cannot be written by a program that would leave the index behind", async () => {
    const path = file();
    const store = storeAt(path);
    await store.open({ title: "Original", severity: "sev1" });
    const db = new SqliteDatabase(path);
    expect(() => db.exec("UPDATE incidents SET title = 'Changed'")).toThrow(/incident_terms/);
    db.close();
    expect(await store.find(1)).toMatchObject({ title: "Original" });
  });

  it("can be copied while nobody has it open, and goes on from there", async () => {
    const path = file();
    const store = openOneTenant(path);
    await store.open({ title: "Before the copy", severity: "sev1" });
    await store.close();
    copyFileSync(path, `${path}.copy`);
    const copy = storeAt(`${path}.copy`);
    expect((await copy.search({ text: "copy", limit: 5 })).incidents).toHaveLength(1);
    expect((await copy.open({ title: "After", severity: "sev1" })).number).toBe(2);
  });
});
