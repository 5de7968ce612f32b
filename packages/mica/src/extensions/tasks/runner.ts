/**
 * Runs tasks: takes the lease of one that is due, has its tool run with what is recorded, and records what comes of it.
 * A process that ends lets its leases run out, and another goes on from the last step.
 */
import { ErrorCode } from "../../protocol/errors.js";
import type { ExtensionHost } from "../../server/extension.js";
import type { ToolRunEnd } from "../../server/run-tool.js";
import type { TaskLimits } from "./limits.js";
import {
  claimed,
  completed,
  failed,
  parked,
  released,
  renewed,
  type TaskRecord,
  withMessage,
  withStep,
} from "./record.js";
import { type Records, TaskTooLarge } from "./records.js";

export interface Runner {
  /** Runs a task that is due, unless somebody else does or there are too many: then its turn comes later. */
  run(taskId: string): void;
  /** Stops a run of this process. What it returns is of no account any more. */
  abort(taskId: string, why: string): void;
  /** Looks for tasks that are due, from now on. */
  watch(): void;
  /** Leaves everything that runs here to other processes. */
  end(): void;
}

interface Run {
  readonly taskId: string;
  readonly runId: string;
  readonly controller: AbortController;
  /** When the lease ends. */
  until: number;
  /** Whether the task became due again before this run was put away. */
  again: boolean;
}

/** Milliseconds between two status messages that are kept. */
const MESSAGE_MS = 250;

export function createRunner(
  records: Records,
  host: ExtensionHost,
  limits: TaskLimits,
  now: () => number,
): Runner {
  const running = new Map<string, Run>();
  let scanner: NodeJS.Timeout | undefined;
  let scanning = false;
  let leaveBus: (() => void) | undefined;
  let isFull = false;

  const report = (error: unknown, what: string, taskId = "") =>
    host.onError(error, { what, reference: taskId.slice(0, 8) });

  /** A change that only the run that holds the lease may make. */
  const changeOwn = (
    { taskId, runId }: Run,
    next: (record: TaskRecord) => TaskRecord | undefined,
    quiet: boolean,
  ) => records.change(taskId, (record) => (record.runId === runId ? next(record) : undefined), { quiet });

  const stop = (run: Run, why: string) => run.controller.abort(new DOMException(why, "AbortError"));

  /** Whether the run is still wanted; asked when another process may have cancelled it. */
  const check = async (run: Run) => {
    const record = await records.read(run.taskId);
    if (record?.runId !== run.runId) stop(run, "The task is not this process's any more");
  };

  const renew = async (run: Run) => {
    try {
      const until = now() + limits.leaseMs;
      const kept = await changeOwn(run, (record) => renewed(record, now(), limits.leaseMs), true);
      if (kept === undefined) stop(run, "The task is not this process's any more");
      else run.until = until;
    } catch (error) {
      report(error, "Renewing the lease of a task", run.taskId);
      if (now() >= run.until) stop(run, "The lease of the task could not be renewed");
    }
  };

  const hear = () => {
    leaveBus ??= host.bus.subscribe((event) => {
      const run = event.kind === "task" ? running.get(event.taskId) : undefined;
      if (run) check(run).catch((error) => report(error, "Reading a task", run.taskId));
    });
  };

  async function claim(taskId: string): Promise<void> {
    const current = running.get(taskId);
    if (current !== undefined) {
      current.again = true;
      return;
    }
    if (running.size >= limits.maxRunning) {
      isFull = true;
      return;
    }
    const run: Run = {
      taskId,
      runId: crypto.randomUUID(),
      controller: new AbortController(),
      until: now() + limits.leaseMs,
      again: false,
    };
    // Before anything is awaited, so that it counts.
    running.set(taskId, run);
    try {
      const record = await records.change(taskId, (task) => next(task, run.runId), { quiet: true });
      if (record?.runId === run.runId) await perform(run, record);
      else if (record !== undefined) host.bus.publish({ kind: "task", taskId });
    } finally {
      running.delete(taskId);
      if (running.size === 0) {
        leaveBus?.();
        leaveBus = undefined;
      }
    }
    if (run.again) runner.run(taskId);
    if (isFull && scanner !== undefined) scan();
  }

  function next(task: TaskRecord, runId: string): TaskRecord | undefined {
    const taken = claimed(task, now(), runId, limits.leaseMs);
    if (taken === undefined) return undefined;
    // Another process may have the tool.
    if (host.toolTerms(task.tool) === undefined) return { ...task, dueAt: now() + limits.scanMs };
    if (taken.attempts <= limits.maxAttempts) return taken;
    const message = `Gave up: the process that ran the task ended ${limits.maxAttempts} times`;
    return failed(task, now(), { code: ErrorCode.InternalError, message });
  }

  async function perform(run: Run, record: TaskRecord): Promise<void> {
    hear();
    const { call, state, responses, tool } = record;
    const beat = setInterval(() => void renew(run), limits.leaseMs / 3);
    unref(beat);
    const messages = keepMessages(run);
    try {
      const end = await host.runTool({
        name: tool,
        arguments: call?.arguments,
        meta: call?.meta ?? {},
        auth: call?.auth,
        state,
        responses,
        signal: run.controller.signal,
        onProgress: messages.keep,
        async onStep(name, kept) {
          const still = await changeOwn(run, (task) => withStep(task, name, kept), true);
          if (still !== undefined) return;
          stop(run, "The task is not this process's any more");
          throw run.controller.signal.reason;
        },
      });
      await messages.end();
      await settle(run, end);
    } finally {
      clearInterval(beat);
    }
  }

  async function settle(run: Run, end: ToolRunEnd): Promise<void> {
    try {
      await changeOwn(run, (task) => settled(task, end), false);
    } catch (error) {
      if (!(error instanceof TaskTooLarge)) throw error;
      const { message } = error;
      await changeOwn(run, (task) => failed(task, now(), { code: ErrorCode.InternalError, message }), false);
    }
  }

  function settled(task: TaskRecord, end: ToolRunEnd): TaskRecord {
    if ("result" in end) return completed(task, now(), end.result);
    if ("error" in end) return failed(task, now(), end.error);
    if (end.state.round <= limits.maxRounds) return parked(task, now(), end.questions, end.state);
    const message = `Gave up after ${limits.maxRounds} rounds of questions without a usable answer`;
    return failed(task, now(), { code: ErrorCode.InternalError, message });
  }

  /** Progress becomes the status message, the last one where many come at once. */
  function keepMessages(run: Run) {
    let latest: string | undefined;
    let timer: NodeJS.Timeout | undefined;
    let writing = Promise.resolve<unknown>(undefined);
    const write = () => {
      const message = latest;
      timer = undefined;
      latest = undefined;
      if (message === undefined) return;
      writing = changeOwn(run, (task) => withMessage(task, now(), message), false).catch((error: unknown) =>
        report(error, "Keeping the status of a task", run.taskId),
      );
    };
    return {
      keep(progress: number, total: number | undefined, message: string | undefined) {
        latest = message ?? (total === undefined ? String(progress) : `${progress} of ${total}`);
        timer ??= setTimeout(write, MESSAGE_MS);
      },
      /** What is left is superseded by the end of the run, unless that is a question. */
      end() {
        clearTimeout(timer);
        write();
        return writing;
      },
    };
  }

  function scan(): void {
    if (scanning) return;
    scanning = true;
    const work = async () => {
      await records.deleteExpired();
      const free = limits.maxRunning - running.size;
      const due = free > 0 ? await records.due(free) : [];
      // Then there may be more, for whose turn nobody would look before the next scan.
      isFull = due.length >= free;
      for (const taskId of due) runner.run(taskId);
    };
    work()
      .catch((error: unknown) => report(error, "Looking for tasks that are due"))
      .finally(() => {
        scanning = false;
      });
  }

  const runner: Runner = {
    run(taskId) {
      runner.watch();
      claim(taskId).catch((error: unknown) => report(error, "Running a task", taskId));
    },
    abort(taskId, why) {
      const run = running.get(taskId);
      if (run !== undefined) stop(run, why);
    },
    watch() {
      if (scanner !== undefined) return;
      scanner = setInterval(scan, limits.scanMs);
      unref(scanner);
      unref(setTimeout(scan, 0));
    },
    end() {
      clearInterval(scanner);
      scanner = undefined;
      for (const run of running.values()) {
        changeOwn(run, (task) => released(task, now()), true).catch((error: unknown) =>
          report(error, "Leaving a task to other processes", run.taskId),
        );
        stop(run, "The server is shutting down");
      }
    },
  };
  return runner;
}

/** Looking for work is no reason to keep a process; where timers are numbers, nothing has to be done. */
function unref(timer: NodeJS.Timeout): void {
  (timer as Partial<NodeJS.Timeout>).unref?.();
}
