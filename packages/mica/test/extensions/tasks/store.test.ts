/** What every store of tasks must do, by store. */
import Sqlite from "better-sqlite3";
import { describe, expect, it } from "vitest";
import {
  memoryTaskStore,
  type SqliteDatabase,
  type StoredTask,
  sqliteTaskStore,
  type TaskStore,
} from "../../../src/entry/tasks.js";

const stores: Record<string, () => TaskStore> = {
  memory: memoryTaskStore,
  "better-sqlite3": () => sqliteTaskStore(new Sqlite(":memory:")),
};
// From Node 22.5 on.
const builtIn = (process as { getBuiltinModule?: (name: string) => unknown }).getBuiltinModule?.(
  "node:sqlite",
);
if (builtIn !== undefined) {
  const { DatabaseSync } = builtIn as { DatabaseSync: new (file: string) => SqliteDatabase };
  stores["node:sqlite"] = () => sqliteTaskStore(new DatabaseSync(":memory:"));
}

const BOUNDS = { maxTasks: 100, maxTasksPerPrincipal: 100 };

function task(taskId: string, more: Partial<StoredTask> = {}): StoredTask {
  return {
    taskId,
    revision: 1,
    principal: undefined,
    dueAt: undefined,
    expiresAt: 1_800_000_000_000,
    data: JSON.stringify({ text: "ünïcode \u0000 '\" end" }),
    ...more,
  };
}

describe.each(Object.entries(stores))("%s", (_name, create) => {
  it("gives back what was put in, and nothing for what was not", async () => {
    const store = create();
    const first = task("a", { principal: "alice", dueAt: 5 });
    expect(await store.insert(first, BOUNDS)).toBe(true);
    expect(await store.read("a")).toEqual(first);
    expect(await store.read("b")).toBeUndefined();
    expect(await store.read("__proto__")).toBeUndefined();
  });

  it("lets one of two changes of the same revision through", async () => {
    const store = create();
    await store.insert(task("a"), BOUNDS);
    const one = task("a", { revision: 2, data: "1" });
    expect(await store.replace(one)).toBe(true);
    expect(await store.replace(task("a", { revision: 2, data: "2" }))).toBe(false);
    expect(await store.replace(task("a", { revision: 4 }))).toBe(false);
    expect(await store.replace(task("nope", { revision: 2 }))).toBe(false);
    expect(await store.read("a")).toEqual(one);
  });

  it("finds what is due, the earliest first", async () => {
    const store = create();
    for (const [taskId, dueAt] of [
      ["late", 30],
      ["soon", 10],
      ["never", undefined],
      ["now", 20],
    ] as const)
      await store.insert(task(taskId, { dueAt }), BOUNDS);
    expect(await store.due(20, 10)).toEqual(["soon", "now"]);
    expect(await store.due(20, 1)).toEqual(["soon"]);
    expect(await store.due(9, 10)).toEqual([]);
  });

  it("keeps within the bounds, and takes more once some have expired", async () => {
    const store = create();
    const bounds = { maxTasks: 3, maxTasksPerPrincipal: 1 };
    expect(await store.insert(task("a", { principal: "alice", expiresAt: 10 }), bounds)).toBe(true);
    expect(await store.insert(task("b", { principal: "alice" }), bounds)).toBe(false);
    expect(await store.insert(task("c"), bounds)).toBe(true);
    expect(await store.insert(task("d"), bounds)).toBe(true);
    expect(await store.insert(task("e"), bounds)).toBe(false);
    await store.deleteExpired(9);
    expect(await store.read("a")).toBeDefined();
    await store.deleteExpired(10);
    expect(await store.read("a")).toBeUndefined();
    expect(await store.insert(task("b", { principal: "alice" }), bounds)).toBe(true);
  });
});
