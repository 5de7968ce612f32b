/** `notifications/tasks`: a subscriber hears of every state of the tasks it asks for (SEP-2663, Task Status Notifications). */
import { ErrorCode, ProtocolError } from "../../protocol/errors.js";
import { isFinal } from "../../protocol/tasks.js";
import type { ExtensionHost, ListenPart } from "../../server/extension.js";
import type { TaskLimits } from "./limits.js";
import { detailedTaskOf } from "./record.js";
import type { Records } from "./records.js";
import { checkDeclared, findTask } from "./requests.js";

type Send = (method: string, params: Record<string, unknown>) => void;

export function taskNotifications(records: Records, host: ExtensionHost, limits: TaskLimits): ListenPart {
  const follow = (taskIds: readonly string[], send: Send): (() => void) => {
    const reading = new Map<string, { again: boolean }>();
    const last = new Map<string, string>();
    const open = new Set(taskIds);

    /** One reading at a time for each task, so that its states come in order. */
    const report = async (taskId: string) => {
      const current = reading.get(taskId);
      if (current !== undefined) {
        current.again = true;
        return;
      }
      const state = { again: true };
      reading.set(taskId, state);
      try {
        while (state.again && open.has(taskId)) {
          state.again = false;
          const record = await records.read(taskId);
          if (record === undefined || !open.has(taskId)) continue;
          const task = detailedTaskOf(record);
          const text = JSON.stringify(task);
          if (text === last.get(taskId)) continue;
          last.set(taskId, text);
          send("notifications/tasks", { ...task });
          if (isFinal(task.status)) open.delete(taskId);
        }
      } catch (error) {
        host.onError(error, { what: "Reading a task for its subscriber", reference: taskId.slice(0, 8) });
      } finally {
        reading.delete(taskId);
      }
    };

    const leave = host.bus.subscribe((event) => {
      if (event.kind === "task" && open.has(event.taskId)) void report(event.taskId);
    });
    // A task may have changed between the client's last look and now.
    for (const taskId of taskIds) void report(taskId);
    return () => {
      open.clear();
      leave();
    };
  };

  return (wanted, meta, exchange) => {
    const { taskIds } = wanted;
    if (taskIds === undefined) return undefined;
    checkDeclared(meta, "A subscription to tasks");
    if (!Array.isArray(taskIds) || taskIds.some((taskId) => typeof taskId !== "string")) {
      throw invalid("params.notifications.taskIds must be an array of strings");
    }
    const ids = [...new Set(taskIds as string[])];
    if (ids.length > limits.maxTaskIds) {
      throw invalid(`params.notifications.taskIds has ${ids.length} ids; the limit is ${limits.maxTaskIds}`);
    }
    const find = (taskId: string) => findTask(taskId, "subscriptions/listen", exchange, records, host);
    return Promise.all(ids.map(find)).then((found) => {
      const agreed = found.flatMap((record) => (record === undefined ? [] : [record.taskId]));
      return { agreed: { taskIds: agreed }, start: (send) => follow(agreed, send) };
    });
  };
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, message);
}
