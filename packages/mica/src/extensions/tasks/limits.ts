/** Every limit and default of tasks on a server, in one place. */

export interface TaskLimits {
  /** Milliseconds from its creation after which a task is discarded, finished or not. */
  ttlMs: number;
  /** The longest that a tool may ask for. */
  maxTtlMs: number;
  /** Milliseconds that clients are asked to leave between two polls. */
  pollIntervalMs: number;
  /** Tasks in the store, finished ones included until they expire. */
  maxTasks: number;
  /** The same, of one authenticated caller. */
  maxTasksPerPrincipal: number;
  /** Characters of JSON of one task: arguments, answers, steps and result. */
  maxTaskChars: number;
  /** Tasks that one process runs at once; others wait their turn. */
  maxRunning: number;
  /** Rounds of questions that one task may take. */
  maxRounds: number;
  /** Times in a row that a task is begun again because the process that ran it ended, without a step in between. */
  maxAttempts: number;
  /** Task ids in one subscription. */
  maxTaskIds: number;
  /** Milliseconds after which another process takes over what a process has stopped running. */
  leaseMs: number;
  /** Milliseconds between two looks for such tasks, and for those that have expired. */
  scanMs: number;
}

const HOUR = 3_600_000;

export const DEFAULT_TASK_LIMITS: Readonly<TaskLimits> = {
  /** A day: people answer the next morning, and results wait for whoever was offline. */
  ttlMs: 24 * HOUR,
  maxTtlMs: 30 * 24 * HOUR,
  pollIntervalMs: 1_000,
  maxTasks: 10_000,
  maxTasksPerPrincipal: 1_000,
  /** With `maxTasks` of this size the store would hold 10 GB; honest ones take a few kilobytes. */
  maxTaskChars: 1_048_576,
  maxRunning: 100,
  maxRounds: 16,
  maxAttempts: 5,
  maxTaskIds: 100,
  /** Longer than a pause for garbage collection or a slow disk, short enough that nobody notices. */
  leaseMs: 30_000,
  scanMs: 5_000,
};

/** @throws TypeError naming the limit, where it is unknown or not a whole number from 1. */
export function readTaskLimits(given: Partial<TaskLimits> = {}): TaskLimits {
  const limits: TaskLimits = { ...DEFAULT_TASK_LIMITS };
  for (const [name, limit] of Object.entries(given)) {
    if (limit === undefined) continue;
    if (!Object.hasOwn(DEFAULT_TASK_LIMITS, name)) {
      const known = Object.keys(DEFAULT_TASK_LIMITS).join(", ");
      throw new TypeError(`tasks: limits.${name} is unknown; expected ${known}`);
    }
    limits[name as keyof TaskLimits] = wholeNumber(limit, `tasks: limits.${name}`);
  }
  if (limits.ttlMs > limits.maxTtlMs) {
    throw new TypeError(
      `tasks: limits.ttlMs is ${limits.ttlMs}, more than limits.maxTtlMs ${limits.maxTtlMs}`,
    );
  }
  return limits;
}

export function wholeNumber(value: unknown, what: string): number {
  if (Number.isSafeInteger(value) && (value as number) >= 1) return value as number;
  throw new TypeError(`${what} must be a whole number from 1, got ${String(value)}`);
}
