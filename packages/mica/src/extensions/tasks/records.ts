/** Reading and changing tasks in a store that others may be changing, too. */
import type { ChangeBus } from "../../bus/bus.js";
import type { TaskLimits } from "./limits.js";
import type { TaskRecord } from "./record.js";
import type { StoredTask, TaskStore } from "./store.js";

export interface Records {
  /** Undefined where there is no such task (any more). */
  read(taskId: string): Promise<TaskRecord | undefined>;
  /** False where the store is full. */
  create(record: TaskRecord): Promise<boolean>;
  /**
   * Puts what `next` makes of a task in its place, again and again until nobody comes between. Resolves to that;
   * to undefined where there is no such task, or `next` does not want it to change.
   *
   * @throws TaskTooLarge
   */
  change(
    taskId: string,
    next: (record: TaskRecord) => TaskRecord | undefined,
    options?: { quiet?: boolean },
  ): Promise<TaskRecord | undefined>;
  due(limit: number): Promise<readonly string[]>;
  deleteExpired(): Promise<void>;
}

/** A task has outgrown `maxTaskChars`. */
export class TaskTooLarge extends Error {}

/** Others that change the same task come between a few times at most; a store that never agrees is broken. */
const MAX_TRIES = 100;

export function createRecords(
  store: TaskStore,
  limits: TaskLimits,
  bus: ChangeBus,
  now: () => number,
): Records {
  const encode = (record: TaskRecord): StoredTask => {
    const { taskId, revision, principal, dueAt, expiresAt, ...rest } = record;
    const data = JSON.stringify(rest);
    if (data.length > limits.maxTaskChars) {
      throw new TaskTooLarge(
        `The task takes ${data.length} characters; the limit is ${limits.maxTaskChars}. Keep less in steps and results.`,
      );
    }
    return { taskId, revision, principal, dueAt, expiresAt, data };
  };

  const read = async (taskId: string): Promise<TaskRecord | undefined> => {
    const stored = await store.read(taskId);
    if (stored === undefined || stored.expiresAt <= now()) return undefined;
    const { data, ...index } = stored;
    return { ...(JSON.parse(data) as Omit<TaskRecord, keyof StoredTask>), ...index };
  };

  return {
    read,
    async create(record) {
      const task = encode(record);
      if (await store.insert(task, limits)) return true;
      await store.deleteExpired(now());
      return store.insert(task, limits);
    },
    async change(taskId, next, { quiet = false } = {}) {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const current = await read(taskId);
        const changed = current && next(current);
        if (changed === undefined) return undefined;
        const record = { ...changed, revision: changed.revision + 1 };
        if (!(await store.replace(encode(record)))) continue;
        if (!quiet) bus.publish({ kind: "task", taskId });
        return record;
      }
      throw new Error(`A task could not be changed in ${MAX_TRIES} tries: something else keeps changing it`);
    },
    due: async (limit) => store.due(now(), limit),
    deleteExpired: async () => store.deleteExpired(now()),
  };
}
