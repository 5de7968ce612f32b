/** What is said on stderr while a call is under way: waiting, progress, tasks, log messages, notifications, server stderr. */
import type { CallOptions, LoggingMessageParams, ProgressParams, Task } from "mica-mcp/client";
import type { Options } from "./options.js";
import type { Screen } from "./screen.js";
import { cut, visibleLine } from "./terminal.js";

export interface Live {
  /** To be given to every call. */
  readonly callbacks: Pick<CallOptions, "onProgress" | "onTask" | "onLog" | "logLevel" | "onNotification">;
  /** Where the server's stderr goes; undefined where nobody asked for it. */
  readonly onServerLine: ((line: string) => void) | undefined;
  say(line: string): void;
  /**
   * Says on a terminal what is waited for, once that takes longer than a second and until there is progress to show;
   * what it returns ends that.
   */
  wait(name: string): () => void;
  /** Keeps lines back while a person is asked; what it returns lets them out. */
  hold(): () => void;
  /** Takes the progress line away; nothing more is shown. */
  end(): void;
}

/** Milliseconds between two drawings of the progress line, whatever the server sends. */
const REDRAW_MS = 50;
/** Milliseconds before it is said that a command waits, and between one word of that and the next. */
const WAIT_MS = 1_000;
/** Most lines that are kept back; of more, the last. */
const MOST_HELD = 1_000;

export function createLive({ err, say }: Screen, { verbose, progress, logLevel }: Options): Live {
  const { paint } = err;
  let drawn = false;
  let drawnAt = Number.NEGATIVE_INFINITY;
  let ended = false;

  const erase = () => {
    if (drawn) void err.write("\r\x1b[2K").catch(() => {});
    drawn = false;
  };
  let held: string[] | undefined;
  const line = (text: string) => {
    if (ended) return;
    if (held !== undefined) {
      if (held.push(text) > MOST_HELD) held.shift();
      return;
    }
    erase();
    void say(text);
  };

  const draw = (text: string) => {
    if (ended || held !== undefined) return;
    erase();
    drawn = true;
    void err.write(paint.dim(cut(text, (err.columns ?? 80) - 1))).catch(() => {});
  };
  let waiting: NodeJS.Timeout | undefined;
  const show = (text: string) => {
    clearInterval(waiting);
    if (!err.isTerminal) return line(text);
    const now = performance.now();
    if (now - drawnAt < REDRAW_MS) return;
    drawnAt = now;
    draw(text);
  };
  const onProgress = (params: ProgressParams) => show(progressText(params));
  const onTask = (task: Task) => show(taskText(task, verbose));
  const onLog = ({ level, logger, data }: LoggingMessageParams) => {
    const from = typeof logger === "string" ? ` ${visibleLine(logger)}` : "";
    const what = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
    line(`${paint.cyan(`[${visibleLine(String(level))}${from}]`)} ${visibleLine(what)}`);
  };

  const showsProgress = progress ?? err.isTerminal;
  return {
    callbacks: {
      ...(showsProgress && { onProgress, onTask }),
      ...(logLevel && { onLog, logLevel }),
      ...(verbose && {
        onNotification: ({ method, params }) => {
          const shownElsewhere = {
            "notifications/progress": showsProgress,
            "notifications/message": logLevel !== undefined,
          };
          if (shownElsewhere[method as keyof typeof shownElsewhere]) return;
          line(paint.dim(visibleLine(`[notification] ${method} ${JSON.stringify(params ?? {})}`)));
        },
      }),
    },
    onServerLine: verbose ? (text) => line(paint.dim(visibleLine(`[server] ${text}`))) : undefined,
    say: line,
    wait(name) {
      if (!showsProgress || !err.isTerminal) return () => {};
      const since = performance.now();
      const stop = () => {
        clearInterval(waiting);
        erase();
      };
      waiting = setInterval(
        () => draw(`waiting for ${name}, ${Math.round((performance.now() - since) / 1_000)} s`),
        WAIT_MS,
      );
      return stop;
    },
    hold() {
      erase();
      held = [];
      return () => {
        const lines = held ?? [];
        held = undefined;
        for (const text of lines) line(text);
      };
    },
    end() {
      clearInterval(waiting);
      erase();
      ended = true;
    },
  };
}

/** `30% Copying` where the total is known, else `3 Copying`. */
export function progressText({ progress, total, message }: ProgressParams): string {
  const percent =
    typeof total === "number" && total > 0 ? `${Math.floor((100 * progress) / total)}%` : `${progress}`;
  return typeof message === "string" && message !== "" ? `${percent} ${visibleLine(message)}` : percent;
}

/** `task working: Copying`; with the id, which `tasks/get` and the like take, where all details are wanted. */
export function taskText({ taskId, status, statusMessage }: Task, verbose: boolean): string {
  const says = typeof statusMessage === "string" && statusMessage !== "" ? `: ${statusMessage}` : "";
  return visibleLine(`task ${verbose ? `${taskId} ` : ""}${status}${says}`);
}
