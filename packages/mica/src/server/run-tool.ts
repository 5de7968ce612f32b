/** Running a tool outside of a request, for tasks (SEP-2663): from recorded answers and steps, up to its next question. */

import type { InputRequest } from "../protocol/input-requests.js";
import { isObject } from "../protocol/jsonrpc.js";
import { readRequestMeta } from "../protocol/meta.js";
import type { ErrorObject, MetaObject, Result } from "../protocol/types.js";
import type { AuthInfo, ServerExchange } from "../transport.js";
import { AskingContext } from "./asking-context.js";
import { asProtocolError, type OnError } from "./failure.js";
import type { CallState } from "./sealed-state.js";
import type { Tools } from "./tools.js";

/** What a tool says of tasks. */
export interface TaskOptions {
  /**
   * `optional`: clients that do not declare the extension have the call answered as any other. `required`: they are
   * refused with -32021, as are clients of earlier revisions.
   */
  support: "optional" | "required";
  /**
   * Where the task begins: with the call (default), or where the handler awaits `ctx.beginTask()`. Questions before
   * that are asked in answer to the call.
   */
  begins?: "call" | "handler";
  /** Milliseconds from creation after which the task is discarded. Default: that of the extension. */
  ttlMs?: number;
  /** Milliseconds that clients leave between two polls. Default: that of the extension. */
  pollIntervalMs?: number;
}

export type ToolTask = Readonly<TaskOptions> & { readonly begins: "call" | "handler" };

/** One run of a tool. */
export interface ToolRun {
  readonly name: string;
  readonly arguments: unknown;
  /** `_meta` of the request. */
  readonly meta: MetaObject;
  readonly auth: AuthInfo | undefined;
  readonly state: CallState;
  /** Answers that were not looked at yet, by the names of their questions. */
  readonly responses: Record<string, unknown>;
  readonly signal: AbortSignal;
  onProgress(progress: number, total: number | undefined, message: string | undefined): void;
  /** Keeps the result of a step; the handler goes on once that resolves. */
  onStep(name: string, kept: unknown[]): void | Promise<void>;
}

/** How a run ended: with a result, with the error of the protocol, or with questions. */
export type ToolRunEnd =
  | { readonly result: Result }
  | { readonly error: ErrorObject }
  | { readonly questions: ReadonlyMap<string, InputRequest>; readonly state: CallState };

/** Never rejects. */
export type RunTool = (run: ToolRun) => Promise<ToolRunEnd>;

/** No notification of a request may be sent for a task; progress becomes its status (SEP-2663, Task Status Notifications). */
const PROGRESS_TOKEN = "task";

export async function runTool(run: ToolRun, tools: Tools, onError: OnError): Promise<ToolRunEnd> {
  const exchange: ServerExchange = {
    signal: run.signal,
    auth: run.auth,
    notify({ method, params }) {
      if (method !== "notifications/progress" || params === undefined) return;
      const { progress, total, message } = params;
      run.onProgress(progress as number, total as number | undefined, message as string | undefined);
    },
  };
  const params = { name: run.name, arguments: isObject(run.arguments) ? run.arguments : {} };
  let ctx: AskingContext | undefined;
  let result: Result | undefined;
  let failure: unknown;
  try {
    const found = tools.find(params);
    const meta = readRequestMeta({ _meta: run.meta });
    const asking = new AskingContext(
      exchange,
      { ...meta, progressToken: PROGRESS_TOKEN, logLevel: undefined },
      run.responses,
      run.state,
      { keepStep: run.onStep },
    );
    ctx = asking;
    result = await tools.call(found, params, asking);
  } catch (error) {
    failure = error;
  }
  await ctx?.settled();
  if (ctx?.isWaiting) return ctx.ended();
  if (result !== undefined) return { result };
  return {
    error: asProtocolError(failure, `Tool ${JSON.stringify(run.name)}`, onError, run).toErrorObject(),
  };
}
