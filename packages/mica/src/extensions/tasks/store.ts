/** Where tasks are kept: the interface between tasks and a database. */

/** A task as a store sees it. */
export interface StoredTask {
  readonly taskId: string;
  /** One more at every change. */
  readonly revision: number;
  /** Whose task it is; undefined where callers are not authenticated. */
  readonly principal: string | undefined;
  /** From when on a process has to run it, in milliseconds since the epoch; undefined where none has to. */
  readonly dueAt: number | undefined;
  /** When it is discarded, in milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Everything else, as JSON: arguments, answers, results of steps, the result. */
  readonly data: string;
}

export interface TaskBounds {
  /** Most tasks in the store. */
  readonly maxTasks: number;
  /** Most tasks of one principal; of no account where it is undefined. */
  readonly maxTasksPerPrincipal: number;
}

type Awaitable<T> = T | Promise<T>;

/**
 * Keeps tasks. Several processes may use one store: `replace` decides which of two changes came first. What a method
 * throws fails the request, or is reported and tried again.
 */
export interface TaskStore {
  /** Whether all of it ends with this process, so that there is nothing to resume when one starts. Default false. */
  readonly isLocal?: boolean;
  /** Adds a task; false where that would go beyond the bounds. Once it resolves, `read` finds the task, come what may. */
  insert(task: StoredTask, bounds: TaskBounds): Awaitable<boolean>;
  read(taskId: string): Awaitable<StoredTask | undefined>;
  /** Puts `task` in the place of the one whose revision is one less; false where that is not the one that is there. */
  replace(task: StoredTask): Awaitable<boolean>;
  /** Ids of tasks whose `dueAt` is `now` or earlier, the earliest first, at most `limit`. */
  due(now: number, limit: number): Awaitable<readonly string[]>;
  /** Deletes the tasks whose `expiresAt` is `now` or earlier. */
  deleteExpired(now: number): Awaitable<void>;
}
