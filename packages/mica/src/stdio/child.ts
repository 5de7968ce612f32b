/** A server process as a channel of lines: started, drained on every pipe, and ended with all it started. */
import type { ChildProcess } from "node:child_process";
import { within } from "./deadline.js";
import { fairly } from "./fair.js";
import type { StdioLimits } from "./limits.js";
import { createLineReader, type LineProblem } from "./lines.js";
import { createOutbox } from "./outbox.js";
import { endTree, endWithThisProcess, signalTree } from "./process-tree.js";

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string | undefined;
  readonly stderr: "ignore" | ((line: string) => void);
  readonly limits: StdioLimits;
  /** One line of its stdout. */
  readonly onLine: (line: string) => void;
  readonly onProblem: (problem: LineProblem) => void;
  /** Called exactly once, when nothing more can be sent or will arrive. */
  readonly onEnd: (end: ChildEnd) => void;
}

/** How a server process ended. */
export interface ServerExit {
  /** Null where it was ended by a signal, or still runs without its stdout. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last lines that it wrote to stderr, oldest first. */
  readonly stderr: readonly string[];
}

export interface ChildEnd extends ServerExit {
  /** Why it could not be started at all. */
  readonly startError: NodeJS.ErrnoException | undefined;
  /** What it closed first, where it still runs. */
  readonly closed: "stdin" | "stdout";
}

export interface Child {
  send(line: string): void;
  /** Ends the process in the order of transports/stdio, Shutdown. Resolves when it and its descendants are gone. */
  close(): Promise<void>;
}

/** Longest line of stderr that is passed on whole, in bytes. */
const STDERR_LINE_BYTES = 64 * 1024;
/** Milliseconds in which the rest of an end (exit code, last lines) may follow its first sign. */
const LAST_WORDS_MS = 500;

export function startChild(options: ChildOptions): Child {
  let child: ChildProcess;
  try {
    child = spawnChild(options);
  } catch (error) {
    const startError = error as Error;
    queueMicrotask(() =>
      options.onEnd({ startError, closed: "stdout", exitCode: null, signal: null, stderr: [] }),
    );
    return { send() {}, close: async () => {} };
  }
  const { pid, stdin, stdout, stderr } = child;
  const { limits } = options;
  const stderrTail: string[] = [];
  const release = pid === undefined ? () => {} : endWithThisProcess(pid);

  let startError: Error | undefined;
  let closed: ChildEnd["closed"] = "stdout";
  let ended = false;
  let lastWords: NodeJS.Timeout | undefined;
  /** Resolves when the process itself has ended. */
  const exited = new Promise<void>((resolve) => {
    child.once("exit", resolve);
    if (pid === undefined) resolve();
  });
  /** Resolves when its descendants have, too. */
  const gone = exited.then(() => (pid === undefined ? undefined : endTree(pid))).then(release);

  /** Resolves when its last words have been read. */
  let settleHeard = () => {};
  const heard = new Promise<void>((resolve) => {
    settleHeard = resolve;
  });

  const lines = createLineReader({
    maxBytes: limits.maxMessageBytes,
    onLine: options.onLine,
    onProblem: options.onProblem,
  });
  const onStderr = (line: string) => {
    stderrTail.push(line.slice(0, limits.stderrLineChars));
    if (stderrTail.length > limits.stderrLines) stderrTail.shift();
    if (options.stderr !== "ignore") options.stderr(line);
  };
  const stderrLines = createLineReader({
    maxBytes: STDERR_LINE_BYTES,
    onLine: onStderr,
    onProblem: (problem) => onStderr(problem.kind === "too_long" ? `${problem.head}...` : problem.text),
  });

  function end(): void {
    if (ended) return;
    ended = true;
    clearTimeout(lastWords);
    outbox?.discard();
    lines.end();
    stderrLines.end();
    // A descendant that left the group may hold the pipes open for ever.
    stdout?.destroy();
    stderr?.destroy();
    const { exitCode, signalCode } = child;
    options.onEnd({ startError, closed, exitCode, signal: signalCode, stderr: stderrTail });
    settleHeard();
    // Without its stdin or stdout the process is of no use.
    void close();
  }

  /** The first sign of an end: the other signs follow, or there is nothing more to wait for. */
  function ending(): void {
    if (!ended) lastWords ??= setTimeout(end, LAST_WORDS_MS);
  }

  const outbox = stdin && createOutbox(stdin);
  stdin?.on("error", () => {
    if (!lastWords) closed = "stdin";
    ending();
  });
  stdout
    ?.on(
      "data",
      fairly(stdout, (chunk) => lines.feed(chunk)),
    )
    .on("error", ending)
    .on("close", ending);
  stderr?.on("data", (chunk: Buffer) => stderrLines.feed(chunk)).on("error", () => {});
  child.on("exit", ending).on("close", end);
  child.on("error", (error) => {
    if (pid !== undefined) return;
    startError = error;
    end();
  });

  let closing: Promise<void> | undefined;
  function close(): Promise<void> {
    closing ??= (async () => {
      outbox?.discard();
      stdin?.end();
      if (pid !== undefined && !(await within(limits.closeMs, exited))) {
        signalTree(pid, "SIGTERM");
        if (!(await within(limits.killMs, exited))) signalTree(pid, "SIGKILL");
        // A process that hangs in the kernel cannot be ended, and is not worth hanging for.
        if (!(await within(limits.killMs, exited))) return;
      }
      await Promise.all([gone, heard]);
    })();
    return closing;
  }

  return { send: (line) => outbox?.send(line), close };
}

function spawnChild({ command, args, env, cwd, stderr }: ChildOptions): ChildProcess {
  // Loaded here, because the server side of this entry never needs it.
  const { spawn } = process.getBuiltinModule("node:child_process");
  return spawn(command, args, {
    env,
    cwd,
    stdio: ["pipe", "pipe", stderr === "ignore" ? "ignore" : "pipe"],
    // A group of its own, so that what it starts can be ended with it. On Windows this would open a console.
    detached: process.platform !== "win32",
    windowsHide: true,
  });
}
