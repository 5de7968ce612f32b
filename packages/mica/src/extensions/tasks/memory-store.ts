/** Tasks in the memory of one process: they end with it. */
import type { StoredTask, TaskStore } from "./store.js";

/** @example tasks({ store: memoryTaskStore() }) */
export function memoryTaskStore(): TaskStore {
  const all = new Map<string, StoredTask>();
  const owned = new Map<string, number>();

  const count = (principal: string | undefined, by: number) => {
    if (principal === undefined) return;
    const left = (owned.get(principal) ?? 0) + by;
    if (left > 0) owned.set(principal, left);
    else owned.delete(principal);
  };

  return {
    isLocal: true,
    insert(task, { maxTasks, maxTasksPerPrincipal }) {
      const { principal } = task;
      if (all.size >= maxTasks) return false;
      if (principal !== undefined && (owned.get(principal) ?? 0) >= maxTasksPerPrincipal) return false;
      all.set(task.taskId, task);
      count(principal, 1);
      return true;
    },
    read: (taskId) => all.get(taskId),
    replace(task) {
      if (all.get(task.taskId)?.revision !== task.revision - 1) return false;
      all.set(task.taskId, task);
      return true;
    },
    due: (now, limit) =>
      [...all.values()]
        .filter(({ dueAt }) => dueAt !== undefined && dueAt <= now)
        .sort((one, other) => one.dueAt! - other.dueAt!)
        .slice(0, limit)
        .map(({ taskId }) => taskId),
    deleteExpired(now) {
      for (const { taskId, principal, expiresAt } of all.values()) {
        if (expiresAt > now) continue;
        all.delete(taskId);
        count(principal, -1);
      }
    },
  };
}
