/** Shapes of the tasks extension (SEP-2663): a handle in place of a result, and what can be asked about it. */
import type { InputRequests } from "./input-requests.js";
import type { ClientCapabilities, ErrorObject, Result } from "./types.js";

/** The identifier of the extension, in the capabilities of both sides. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** What a request must declare where it may be answered with a task, or is about one. */
export const TASKS_CAPABILITY: ClientCapabilities = { extensions: { [TASKS_EXTENSION]: {} } };

/** The last three are final: nothing changes any more. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** Operational metadata of ongoing work (SEP-2663, Tasks). */
export interface Task {
  taskId: string;
  status: TaskStatus;
  /** Describes the current state, for a person or a model. */
  statusMessage?: string;
  /** ISO 8601. */
  createdAt: string;
  /** ISO 8601. */
  lastUpdatedAt: string;
  /** Milliseconds from creation after which the server may discard the task; null for no limit. May change. */
  ttlMs: number | null;
  /** Milliseconds to leave between two `tasks/get`. May change. */
  pollIntervalMs?: number;
}

export interface WorkingTask extends Task {
  status: "working";
}

export interface InputRequiredTask extends Task {
  status: "input_required";
  /** Everything that is still to be answered with `tasks/update`. A key never stands for two questions of one task. */
  inputRequests: InputRequests;
}

export interface CompletedTask extends Task {
  status: "completed";
  /** What the request would have been answered with, failures of a tool (`isError`) included. */
  result: Result;
}

export interface FailedTask extends Task {
  status: "failed";
  /** The JSON-RPC error that the request would have been answered with. */
  error: ErrorObject;
}

export interface CancelledTask extends Task {
  status: "cancelled";
}

/** A task in full, as `tasks/get` and `notifications/tasks` carry it. */
export type DetailedTask = WorkingTask | InputRequiredTask | CompletedTask | FailedTask | CancelledTask;

/** The answer in place of a result (SEP-2663, Task Creation). */
export interface CreateTaskResult extends Result, Omit<Task, "status"> {
  resultType: "task";
  status: TaskStatus;
}

export function isFinal(status: TaskStatus): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}
