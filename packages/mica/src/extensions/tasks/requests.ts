/** `tasks/get`, `tasks/update`, `tasks/cancel`: who may ask about which task, and what becomes of it (SEP-2663). */
import { ErrorCode, insufficientScope, missingCapability, ProtocolError } from "../../protocol/errors.js";
import { isObject } from "../../protocol/jsonrpc.js";
import type { RequestMeta } from "../../protocol/meta.js";
import { missingScopes } from "../../protocol/scopes.js";
import { TASKS_CAPABILITY, TASKS_EXTENSION } from "../../protocol/tasks.js";
import type { Result } from "../../protocol/types.js";
import type { MethodHandler } from "../../server/dispatch.js";
import type { ExtensionHost } from "../../server/extension.js";
import type { ServerExchange } from "../../transport.js";
import { answered, cancelled, detailedTaskOf, type TaskRecord } from "./record.js";
import { type Records, TaskTooLarge } from "./records.js";
import type { Runner } from "./runner.js";

/** Longer than any id that was handed out: nothing to look up. */
const MAX_ID_CHARS = 64;

export function declaresTasks({ clientCapabilities }: RequestMeta): boolean {
  const { extensions } = clientCapabilities;
  return isObject(extensions) && isObject(extensions[TASKS_EXTENSION]);
}

/** @throws ProtocolError -32021 */
export function checkDeclared(meta: RequestMeta, what: string): void {
  if (!declaresTasks(meta)) throw missingCapability(TASKS_CAPABILITY, what);
}

/**
 * The task, where there is one and it is the caller's: somebody else's looks as if there were none.
 *
 * @throws ProtocolError where the caller no longer holds what the tool needs.
 */
export async function findTask(
  taskId: string,
  method: string,
  { auth }: Pick<ServerExchange, "auth">,
  records: Records,
  host: ExtensionHost,
): Promise<TaskRecord | undefined> {
  const record = taskId.length <= MAX_ID_CHARS ? await records.read(taskId) : undefined;
  if (record === undefined || record.principal !== auth?.principal) return undefined;
  const missing = auth && missingScopes(auth.scopes, host.toolTerms(record.tool)?.scopes ?? []);
  if (missing !== undefined && missing.length > 0) throw insufficientScope(method, missing);
  return record;
}

export function taskMethods(
  records: Records,
  runner: Runner,
  host: ExtensionHost,
  now: () => number,
): Record<string, MethodHandler> {
  const find = async (
    params: Record<string, unknown>,
    meta: RequestMeta,
    exchange: ServerExchange,
    method: string,
  ): Promise<TaskRecord> => {
    checkDeclared(meta, method);
    runner.watch();
    const { taskId } = params;
    if (typeof taskId !== "string") throw invalid("params.taskId must be a string");
    const record = await findTask(taskId, method, exchange, records, host);
    if (record !== undefined) return record;
    throw invalid("There is no such task: it never existed, or it has expired");
  };

  return {
    async "tasks/get"(params, meta, exchange, { method }) {
      return { ...detailedTaskOf(await find(params, meta, exchange, method)) };
    },
    async "tasks/update"(params, meta, exchange, { method }): Promise<Result> {
      const { inputResponses } = params;
      checkDeclared(meta, method);
      if (!isObject(inputResponses)) throw invalid("params.inputResponses must be an object");
      const { taskId } = await find(params, meta, exchange, method);
      // What fits no open question is of no account (SEP-2663, Task Update Requests).
      const changed = await records
        .change(taskId, (record) => answered(record, now(), inputResponses))
        .catch((error: unknown) => {
          throw error instanceof TaskTooLarge ? invalid(error.message) : error;
        });
      if (changed?.status === "working") runner.run(taskId);
      return {};
    },
    async "tasks/cancel"(params, meta, exchange, { method }): Promise<Result> {
      const { taskId } = await find(params, meta, exchange, method);
      await records.change(taskId, (record) => cancelled(record, now()));
      runner.abort(taskId, "The task was cancelled");
      return {};
    },
  };
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, message);
}
