/** `mica-mcp/tasks`: tools whose calls go on after they were answered (SEP-2663), and where such tasks are kept. */
export { DEFAULT_TASK_LIMITS, type TaskLimits } from "../extensions/tasks/limits.js";
export { memoryTaskStore } from "../extensions/tasks/memory-store.js";
export {
  type SqliteDatabase,
  type SqliteStatement,
  sqliteTaskStore,
} from "../extensions/tasks/sqlite-store.js";
export type { StoredTask, TaskBounds, TaskStore } from "../extensions/tasks/store.js";
export { type TasksOptions, tasks } from "../extensions/tasks/tasks.js";
export type * from "../protocol/tasks.js";
export { TASKS_EXTENSION } from "../protocol/tasks.js";
