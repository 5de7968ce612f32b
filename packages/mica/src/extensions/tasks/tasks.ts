/** The tasks extension of a server (SEP-2663): calls of tools that are answered with a handle, and go on by themselves. */
import { ErrorCode, missingCapability, ProtocolError } from "../../protocol/errors.js";
import { type CreateTaskResult, TASKS_CAPABILITY, TASKS_EXTENSION } from "../../protocol/tasks.js";
import type { BackgroundCall } from "../../server/background.js";
import { toBase64Url } from "../../server/base64url.js";
import type { ServerExtension } from "../../server/extension.js";
import type { ToolTask } from "../../server/run-tool.js";
import { readTaskLimits, type TaskLimits, wholeNumber } from "./limits.js";
import { memoryTaskStore } from "./memory-store.js";
import { taskNotifications } from "./notifications.js";
import { type TaskRecord, taskOf } from "./record.js";
import { createRecords, TaskTooLarge } from "./records.js";
import { declaresTasks, taskMethods } from "./requests.js";
import { createRunner } from "./runner.js";
import type { TaskStore } from "./store.js";

export interface TasksOptions {
  /** Where tasks are kept. Default: `memoryTaskStore()`, in which they end with the process. */
  store?: TaskStore;
  /** Overrides of {@link DEFAULT_TASK_LIMITS}. */
  limits?: Partial<TaskLimits>;
  /** Milliseconds since the epoch. Default `Date.now`. */
  now?: () => number;
}

/** Half as many again as 128 bits: nobody finds one by trying. */
const ID_BYTES = 24;

/**
 * Lets tools say `task`: their calls are then answered with a task, where the client can be given one.
 *
 * @throws TypeError naming the option that is wrong.
 * @example
 * const server = createServer({ name: "reports", version: "1.0.0", extensions: [tasks()] });
 * server.tool("report", { task: "optional" }, async (_args, ctx) => ctx.step("rows", () => countRows()));
 */
export function tasks(options: TasksOptions = {}): ServerExtension {
  const limits = readTaskLimits(options.limits);
  const now = options.now ?? Date.now;
  const store = options.store ?? memoryTaskStore();
  return {
    id: TASKS_EXTENSION,
    settings: {},
    install(host) {
      const records = createRecords(store, limits, host.bus, now);
      const runner = createRunner(records, host, limits, now);
      if (store.isLocal !== true) runner.watch();

      const create = async (record: TaskRecord): Promise<CreateTaskResult> => {
        const isCreated = await records.create(record).catch((error: unknown) => {
          if (!(error instanceof TaskTooLarge)) throw error;
          throw new ProtocolError(ErrorCode.InvalidParams, error.message);
        });
        if (!isCreated) {
          throw new ProtocolError(
            ErrorCode.InternalError,
            `Too many tasks: the limit is ${limits.maxTasks}, for one caller ${limits.maxTasksPerPrincipal}`,
          );
        }
        runner.run(record.taskId);
        return { resultType: "task", ...taskOf(record) };
      };

      return {
        methods: taskMethods(records, runner, host, now),
        listen: taskNotifications(records, host, limits),
        background: {
          check: (task, what) => checkTimes(task, what, limits),
          offer(task, call) {
            if (declaresTasks(call.meta)) {
              return (state, responses) =>
                create({ ...newRecord(task, call, limits, now()), state: { ...state, round: 0 }, responses });
            }
            if (task.support === "optional") return undefined;
            throw missingCapability(TASKS_CAPABILITY, `Tool ${JSON.stringify(call.name)}`);
          },
        },
        end: runner.end,
      };
    },
  };
}

function newRecord(task: ToolTask, call: BackgroundCall, limits: TaskLimits, now: number) {
  const { ttlMs = limits.ttlMs, pollIntervalMs = limits.pollIntervalMs } = task;
  const { progressToken: _, ...meta } = call.meta.all;
  return {
    taskId: toBase64Url(crypto.getRandomValues(new Uint8Array(ID_BYTES))),
    revision: 1,
    principal: call.auth?.principal,
    dueAt: now,
    expiresAt: now + ttlMs,
    createdAt: now,
    updatedAt: now,
    ttlMs,
    pollIntervalMs,
    status: "working" as const,
    attempts: 0,
    tool: call.name,
    call: { arguments: call.arguments, meta, auth: call.auth },
    questions: [],
    usedKeys: [],
  };
}

function checkTimes({ ttlMs, pollIntervalMs }: ToolTask, what: string, { maxTtlMs }: TaskLimits): void {
  if (ttlMs !== undefined && wholeNumber(ttlMs, `${what}: ttlMs`) > maxTtlMs) {
    throw new TypeError(`${what}: ttlMs is ${ttlMs}; limits.maxTtlMs is ${maxTtlMs}`);
  }
  if (pollIntervalMs !== undefined) wholeNumber(pollIntervalMs, `${what}: pollIntervalMs`);
}
