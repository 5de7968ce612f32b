/** A task as the server knows it, what the client sees of it, and every step from one state to the next. */
import type { InputRequest } from "../../protocol/input-requests.js";
import { type DetailedTask, isFinal, type Task, type TaskStatus } from "../../protocol/tasks.js";
import type { ErrorObject, MetaObject, Result } from "../../protocol/types.js";
import type { CallState } from "../../server/sealed-state.js";
import type { AuthInfo } from "../../transport.js";

/** A question that is open. */
export interface OpenQuestion {
  /** What the client knows it by: never used twice in one task. */
  readonly wireKey: string;
  /** What the handler calls it. */
  readonly key: string;
  readonly request: InputRequest;
}

export interface TaskRecord {
  readonly taskId: string;
  readonly revision: number;
  readonly principal: string | undefined;
  readonly dueAt: number | undefined;
  readonly expiresAt: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
  readonly status: TaskStatus;
  readonly statusMessage?: string | undefined;
  /** The run that holds the lease, which ends with `dueAt`. */
  readonly runId?: string | undefined;
  /** Runs since the last step that was kept. */
  readonly attempts: number;
  readonly tool: string;
  /** What runs need, until the task is final. */
  readonly call?: {
    readonly arguments: unknown;
    readonly meta: MetaObject;
    readonly auth: AuthInfo | undefined;
  };
  readonly state: CallState;
  /** Answers that no run has looked at yet, by the handler's names. */
  readonly responses: Record<string, unknown>;
  readonly questions: readonly OpenQuestion[];
  readonly usedKeys: readonly string[];
  readonly result?: Result;
  readonly error?: ErrorObject;
}

/** Longest status message, in characters. */
const MAX_MESSAGE = 1_000;

export function taskOf(record: TaskRecord): Task {
  const { taskId, status, statusMessage, createdAt, updatedAt, ttlMs, pollIntervalMs } = record;
  return {
    taskId,
    status,
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs,
    pollIntervalMs,
  };
}

export function detailedTaskOf(record: TaskRecord): DetailedTask {
  const task = taskOf(record);
  switch (record.status) {
    case "input_required": {
      const open = record.questions.map(({ wireKey, request }) => [wireKey, request] as const);
      return { ...task, status: "input_required", inputRequests: Object.fromEntries(open) };
    }
    case "completed":
      return { ...task, status: "completed", result: record.result! };
    case "failed":
      return { ...task, status: "failed", error: record.error! };
    default:
      return { ...task, status: record.status };
  }
}

/** A change that anybody can see. */
export function updated(record: TaskRecord, now: number, change: Partial<TaskRecord>): TaskRecord {
  return { ...record, ...change, updatedAt: Math.max(now, record.updatedAt) };
}

export function withMessage(record: TaskRecord, now: number, statusMessage: string): TaskRecord {
  return updated(record, now, { statusMessage: statusMessage.slice(0, MAX_MESSAGE) });
}

/** Final states keep what the client may ask for, and let go of everything else. */
function final(record: TaskRecord, now: number, change: Partial<TaskRecord>): TaskRecord {
  const { call: _, statusMessage: __, runId: ___, ...rest } = record;
  const state = { ...record.state, answers: {}, steps: {} };
  return updated(rest, now, {
    dueAt: undefined,
    state,
    responses: {},
    questions: [],
    usedKeys: [],
    ...change,
  });
}

export function completed(record: TaskRecord, now: number, result: Result): TaskRecord {
  return final(record, now, { status: "completed", result: { resultType: "complete", ...result } });
}

export function failed(record: TaskRecord, now: number, error: ErrorObject): TaskRecord {
  return final(record, now, { status: "failed", error, statusMessage: error.message.slice(0, MAX_MESSAGE) });
}

export function cancelled(record: TaskRecord, now: number): TaskRecord | undefined {
  return isFinal(record.status) ? undefined : final(record, now, { status: "cancelled" });
}

/** The lease of a task that is due goes to a run. */
export function claimed(
  record: TaskRecord,
  now: number,
  runId: string,
  leaseMs: number,
): TaskRecord | undefined {
  const { status, dueAt } = record;
  if (status !== "working" || dueAt === undefined || dueAt > now) return undefined;
  return { ...record, runId, dueAt: now + leaseMs, attempts: record.attempts + 1 };
}

export function renewed(record: TaskRecord, now: number, leaseMs: number): TaskRecord {
  return { ...record, dueAt: now + leaseMs };
}

/** A run that ends before its work does leaves it to another, at once. */
export function released(record: TaskRecord, now: number): TaskRecord {
  const { runId: _, ...rest } = record;
  return { ...rest, dueAt: now, attempts: Math.max(record.attempts - 1, 0) };
}

export function withStep(record: TaskRecord, name: string, kept: unknown[]): TaskRecord {
  const { state } = record;
  return { ...record, attempts: 0, state: { ...state, steps: { ...state.steps, [name]: kept } } };
}

/** The run has come to questions. One that is asked again, because its answer did not fit, gets a key of its own. */
export function parked(
  record: TaskRecord,
  now: number,
  asked: ReadonlyMap<string, InputRequest>,
  state: CallState,
): TaskRecord {
  const used = new Set(record.usedKeys);
  const questions = [...asked].map(([key, request]) => {
    let wireKey = key;
    for (let again = 2; used.has(wireKey); again++) wireKey = `${key}.${again}`;
    used.add(wireKey);
    return { wireKey, key, request };
  });
  const unread = Object.entries(record.responses).filter(([key]) => !asked.has(key));
  const { runId: _, ...rest } = record;
  return updated(rest, now, {
    status: "input_required",
    dueAt: undefined,
    attempts: 0,
    state,
    questions,
    responses: Object.fromEntries(unread),
    usedKeys: [...used],
  });
}

/** Answers to questions that are open; once none is left, the task is due. Undefined where there are none among them. */
export function answered(
  record: TaskRecord,
  now: number,
  given: Record<string, unknown>,
): TaskRecord | undefined {
  if (record.status !== "input_required") return undefined;
  const isGiven = ({ wireKey }: OpenQuestion) => Object.hasOwn(given, wireKey);
  const fits = record.questions.filter(isGiven);
  if (fits.length === 0) return undefined;
  const added = Object.fromEntries(fits.map(({ wireKey, key }) => [key, given[wireKey]]));
  const questions = record.questions.filter((question) => !isGiven(question));
  const change = { questions, responses: { ...record.responses, ...added } };
  return questions.length > 0
    ? updated(record, now, change)
    : updated(record, now, { ...change, status: "working", dueAt: now });
}
