/** The seam by which a call of a tool goes on after its request was answered, as a task (SEP-2663). */
import type { RequestMeta } from "../protocol/meta.js";
import type { Result } from "../protocol/types.js";
import type { AuthInfo } from "../transport.js";
import type { ToolTask } from "./run-tool.js";
import type { CallState } from "./sealed-state.js";

/** A call that may become a task. */
export interface BackgroundCall {
  readonly name: string;
  readonly arguments: unknown;
  readonly meta: RequestMeta;
  readonly auth: AuthInfo | undefined;
}

/**
 * Answers a call with a task that goes on from `state`, with answers that were given and not looked at yet. Resolves
 * once the task is durable.
 */
export type Begin = (state: CallState, responses: Record<string, unknown>) => Promise<Result>;

export interface Background {
  /** Called for every tool that says `task`. @throws TypeError naming what is wrong with it */
  check(task: ToolTask, what: string): void;
  /**
   * Whether a call may become a task, and how. Undefined where the client did not declare the extension.
   *
   * @throws ProtocolError -32021 where the tool cannot do without.
   */
  offer(task: ToolTask, call: BackgroundCall): Begin | undefined;
}
