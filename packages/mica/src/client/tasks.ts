/**
 * Tasks as a client sees them (SEP-2663): asking about one, and driving one to its end. Loaded when a server first
 * answers with a task, or when somebody asks about one.
 */
import { McpError } from "../protocol/errors.js";
import type { CallToolResult } from "../protocol/features.js";
import type { InputResponses } from "../protocol/input-requests.js";
import { isObject } from "../protocol/jsonrpc.js";
import { type DetailedTask, isFinal, type Task, type TaskStatus } from "../protocol/tasks.js";
import type { Result } from "../protocol/types.js";
import { type Link, LONGEST_TIMER, linkSignals, pause } from "./deadline.js";
import { refusal, type Send, shown } from "./exchange.js";
import type { Fulfiller } from "./input.js";
import type { CallOptions, ClientLimits } from "./options.js";
import { isLoss } from "./subscriptions.js";
import { callBack, type Warn } from "./warnings.js";

/** Asking about tasks by their ids, which may come from an earlier process of this client. */
export interface ClientTasks {
  get(taskId: string, options?: CallOptions): Promise<DetailedTask>;
  /** Answers open questions of a task, by their keys. Answers to anything else are ignored. */
  update(taskId: string, inputResponses: InputResponses, options?: CallOptions): Promise<void>;
  /** Says that the result is not wanted any more. The task may still come to another end. */
  cancel(taskId: string, options?: CallOptions): Promise<void>;
  /**
   * Waits for the end of a task, answering what it asks on the way. Its `signal` ends the waiting, not the task.
   *
   * @throws McpError `protocol_error` where the task failed or is unknown, `task_cancelled` where it was cancelled.
   * @example const result = await client.tasks.wait(taskId);
   */
  wait(taskId: string, options?: CallOptions): Promise<CallToolResult>;
}

export interface TaskDriver extends ClientTasks {
  /** Goes on from the answer of a call; where that ends before the task does, the task is cancelled. */
  drive(
    created: Result,
    method: string,
    params: Record<string, unknown>,
    options: CallOptions,
  ): Promise<Result>;
  /** Resolves once the server knows which tasks were given up; where it does not answer, a second later. */
  told(): Promise<void>;
}

export interface TaskDriverOptions {
  readonly send: Send;
  readonly fulfiller: Fulfiller;
  readonly limits: ClientLimits;
  /** Whether a request may get through after one was lost. */
  readonly reconnects: boolean;
  readonly closing: AbortSignal;
  readonly warn: Warn;
}

/** What is asked in the name of whom, and when to stop. */
interface Drive {
  readonly taskId: string;
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly options: CallOptions;
  readonly link: Link;
  /** Keys of questions that were taken up (SEP-2663: answer none twice). */
  readonly taken: Set<string>;
}

const STATUSES: readonly TaskStatus[] = ["working", "input_required", "completed", "failed", "cancelled"];
/** Milliseconds for the word that a task is not wanted any more; no call waits for it. */
const CANCEL_MS = 10_000;
/** Milliseconds for the same where the client is being closed, which does wait. */
const CLOSING_CANCEL_MS = 1_000;

export function createTaskDriver({
  send,
  fulfiller,
  limits,
  reconnects,
  closing,
  warn,
}: TaskDriverOptions): TaskDriver {
  const get = async (taskId: string, options: CallOptions): Promise<DetailedTask> => {
    const task = readTask("tasks/get", await send("tasks/get", { taskId }, options));
    if (task.taskId === taskId) return task as DetailedTask;
    throw new McpError(
      "invalid_response",
      `tasks/get: expected task ${shown(taskId)}, got ${shown(task.taskId)}`,
    );
  };

  const update = async (taskId: string, inputResponses: InputResponses, options: CallOptions) => {
    await send("tasks/update", { taskId, inputResponses }, options);
  };

  const cancel = async (taskId: string, options: CallOptions) => {
    await send("tasks/cancel", { taskId }, options);
  };

  const cancelling = new Set<Promise<void>>();
  const giveUp = (taskId: string) => {
    const word = cancel(taskId, { timeoutMs: CANCEL_MS })
      .catch(() => {})
      .finally(() => cancelling.delete(word));
    cancelling.add(word);
  };

  /** What a poll may be told: its time counts from the poll on, and its caller listens for the end of the whole. */
  const pollOptions = ({ options, link }: Drive): CallOptions => {
    const { timeoutMs, _meta } = options;
    return { timeoutMs, _meta, signal: link.signal };
  };

  /** Where the connection is lost, the task is not. */
  const poll = async (drive: Drive, interval: number): Promise<DetailedTask> => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await get(drive.taskId, pollOptions(drive));
      } catch (error) {
        if (drive.link.signal.aborted) throw drive.link.signal.reason;
        if (!reconnects || !isLoss(error) || attempt >= limits.reopenAttempts) throw error;
        await pause(interval, drive.link.signal);
      }
    }
  };

  /** Answers questions while polling goes on: a task may come to its end without the answers. */
  const answer = (drive: Drive, { inputRequests }: Result, unwanted: AbortSignal) => {
    if (!isObject(inputRequests)) {
      throw new McpError(
        "invalid_response",
        `tasks/get: expected "inputRequests" to be an object, got ${shown(inputRequests)}`,
      );
    }
    const fresh = Object.entries(inputRequests).filter(([key]) => !drive.taken.has(key));
    if (fresh.length === 0) return;
    for (const [key] of fresh) drive.taken.add(key);
    const { taskId, method, params } = drive;
    fulfiller
      .answerAll(Object.fromEntries(fresh), { method, params }, unwanted)
      .then((responses) => update(taskId, responses, pollOptions(drive)))
      .catch((error: unknown) => drive.link.abort(error));
  };

  const run = async (drive: Drive, first: Task | undefined): Promise<Result> => {
    const { link, options, taken } = drive;
    const unwanted = new AbortController();
    const forward = () => unwanted.abort(link.signal.reason);
    link.signal.addEventListener("abort", forward, { once: true });
    const tell = (task: Task) => {
      if (options.onTask) callBack(warn, "onTask", options.onTask, task);
    };
    let seen = "";
    let interval = intervalOf(first, limits);
    try {
      if (first !== undefined) {
        tell(first);
        await pause(interval, link.signal);
      }
      for (;;) {
        const task = await poll(drive, interval);
        const text = JSON.stringify([task.status, task.statusMessage, task.lastUpdatedAt]);
        if (text !== seen) tell(task);
        seen = text;
        if (isFinal(task.status)) return outcomeOf(drive.method, task);
        if (task.status === "input_required") {
          if (taken.size > limits.maxInputRounds * limits.maxInputRequests) {
            throw new McpError(
              "input_unavailable",
              `${drive.method}: the task asked ${taken.size} questions`,
            );
          }
          answer(drive, task as unknown as Result, unwanted.signal);
        }
        interval = intervalOf(task, limits);
        await pause(interval, link.signal);
      }
    } finally {
      link.signal.removeEventListener("abort", forward);
      unwanted.abort(new McpError("aborted", "The task has come to its end without this answer"));
    }
  };

  const follow = async (
    taskId: string,
    first: Task | undefined,
    about: { method: string; params: Record<string, unknown> },
    options: CallOptions,
  ): Promise<Result> => {
    const link = linkSignals(about.method, options.signal, closing);
    const { maxTimeoutMs = Number.POSITIVE_INFINITY } = options;
    const expire = () =>
      link.abort(
        new McpError("timeout", `${about.method} did not finish within ${maxTimeoutMs} ms (maxTimeoutMs)`),
      );
    const timer = maxTimeoutMs <= LONGEST_TIMER ? setTimeout(expire, maxTimeoutMs) : undefined;
    try {
      return await run({ taskId, ...about, options, link, taken: new Set() }, first);
    } finally {
      clearTimeout(timer);
      link.release();
    }
  };

  return {
    get: (taskId, options = {}) => get(taskId, options),
    update: (taskId, inputResponses, options = {}) => update(taskId, inputResponses, options),
    cancel: (taskId, options = {}) => cancel(taskId, options),
    async wait(taskId, options = {}) {
      const about = { method: "tasks/get", params: { taskId } };
      return (await follow(taskId, undefined, about, options)) as CallToolResult;
    },
    async drive(created, method, params, options) {
      const task = readTask(method, created);
      try {
        return await follow(task.taskId, task, { method, params }, options);
      } catch (error) {
        if (isOwnEnd(error) && !closing.aborted) giveUp(task.taskId);
        throw error;
      }
    },
    async told() {
      if (cancelling.size === 0) return;
      const heard = new AbortController();
      const longest = pause(CLOSING_CANCEL_MS, heard.signal).catch(() => {});
      await Promise.race([Promise.all(cancelling), longest]);
      heard.abort();
    },
  };
}

/** Whether it is this client that gives up: then nobody will ask for the result. */
function isOwnEnd(error: unknown): boolean {
  if (!(error instanceof McpError)) return true;
  return !["protocol_error", "task_cancelled", "connection_lost", "connect_failed"].includes(error.code);
}

/** "Clients SHOULD respect the `pollIntervalMs`"; where there is none, or one of no sense, ours. */
function intervalOf(task: Task | undefined, { taskPollMs, minTaskPollMs }: ClientLimits): number {
  const given: unknown = task?.pollIntervalMs;
  const wanted = typeof given === "number" && Number.isFinite(given) ? given : taskPollMs;
  return Math.min(Math.max(wanted, minTaskPollMs), LONGEST_TIMER);
}

/** @throws McpError `invalid_response` naming what was expected. */
function readTask(method: string, result: Result): Task {
  const { taskId, status } = result;
  if (typeof taskId !== "string") {
    throw new McpError(
      "invalid_response",
      `${method}: expected "taskId" to be a string, got ${shown(taskId)}`,
    );
  }
  if (!STATUSES.includes(status as TaskStatus)) {
    throw new McpError(
      "invalid_response",
      `${method}: expected "status" to be one of ${STATUSES.join(", ")}, got ${shown(status)}`,
    );
  }
  const { resultType: _, _meta: __, ...task } = result;
  return task as unknown as Task;
}

/** What the call would have been answered with. */
function outcomeOf(method: string, task: DetailedTask): Result {
  if (task.status === "cancelled") {
    throw new McpError("task_cancelled", `${method}: task ${shown(task.taskId)} was cancelled`);
  }
  if (task.status === "failed") {
    const { error }: { error: unknown } = task;
    if (!isObject(error) || typeof error["code"] !== "number" || typeof error["message"] !== "string") {
      throw new McpError(
        "invalid_response",
        `${method}: expected "error" with code and message, got ${shown(error)}`,
      );
    }
    throw refusal(method, task.error);
  }
  const { result } = task as { result: unknown };
  if (isObject(result)) return result as Result;
  throw new McpError(
    "invalid_response",
    `${method}: expected "result" to be an object, got ${shown(result)}`,
  );
}
