/** The client side of stdio: a server process that is started, spoken to, started again when it dies, and ended. */
import { McpError } from "../protocol/errors.js";
import type { JSONRPCRequest } from "../protocol/types.js";
import type { ClientTransport } from "../transport.js";
import { askOverLines } from "./asking.js";
import { type Child, type ChildEnd, type ServerExit, startChild } from "./child.js";
import { serverEnvironment } from "./environment.js";
import { describeRequest } from "./in-flight.js";
import { type StdioLimits, stdioLimits } from "./limits.js";
import { stderr } from "./own-stdout.js";
import { printable } from "./printable.js";

export type { ServerExit } from "./child.js";

export interface LaunchOptions
  extends Partial<Omit<StdioLimits, "maxInFlight" | "maxQueuedChars" | "drainMs">> {
  /** The program: a path, or a name that is looked up on the PATH. No shell is involved. */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /**
   * Variables for the server, over what it inherits: HOME, LANG, LC_*, LOGNAME, PATH, SHELL, TERM, TMPDIR, TZ and
   * USER; on Windows APPDATA, COMSPEC, HOMEDRIVE, HOMEPATH, LOCALAPPDATA, PATH, PATHEXT, PROCESSOR_ARCHITECTURE,
   * PROGRAMDATA, PROGRAMFILES, SYSTEMDRIVE, SYSTEMROOT, TEMP, TMP, TZ, USERNAME, USERPROFILE and WINDIR.
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Whether the server inherits the whole environment. Default: false, because it may hold secrets. */
  readonly inheritEnv?: boolean | undefined;
  /** Default: the working directory of this process. */
  readonly cwd?: string | undefined;
  /**
   * What happens to the server's stderr, besides that its last lines are kept for error messages: printed on this
   * process's (`inherit`), not even kept (`ignore`), or handed over line by line. Default: only kept.
   */
  readonly stderr?: "inherit" | "ignore" | ((line: string) => void) | undefined;
  /** Told of each line of stdout that is no message, or belongs to nothing. Default: a line on stderr, 20 at most. */
  readonly onStray?: ((text: string) => void) | undefined;
  /** Whether the next exchange after the end of the process starts it again. Default: true. */
  readonly restart?: boolean | undefined;
}

const MAX_STRAY_REPORTS = 20;
const MAX_STRAY_CHARS = 200;

/**
 * Starts a server process and speaks to it over its standard streams. It starts at once; that it could not is
 * reported by the first exchange. Its exchanges reject with a McpError:
 *
 * - `connect_failed`: the process could not be started, or ended more than `maxRestarts` times in `restartWindowMs`;
 * - `connection_lost`: the process ended, or closed a pipe, before it answered; `cause` is a {@link ServerExit};
 * - `limit_exceeded`: request or answer is longer than `maxMessageBytes`; the connection goes on;
 * - `invalid_response`: the answer is none; the connection goes on;
 * - `closed`: {@link ClientTransport.close} was called.
 *
 * @throws TypeError where an option is unusable.
 * @example const transport = launchStdio({ command: "node", args: ["server.js"] });
 */
export function launchStdio(options: LaunchOptions): ClientTransport {
  const { command, args = [], cwd } = options;
  if (typeof command !== "string" || command === "") {
    throw new TypeError(
      `options.command must be the name or path of a program; got ${JSON.stringify(command)}`,
    );
  }
  if (!Array.isArray(args) || args.some((arg) => typeof arg !== "string")) {
    throw new TypeError(`options.args must be an array of strings; got ${JSON.stringify(args)}`);
  }
  const limits = stdioLimits(options);
  const env = serverEnvironment(options.env, options.inheritEnv ?? false);
  const onStray = options.onStray ?? strayReporter(command);

  let child: Child | undefined;
  let lastEnd: ChildEnd | undefined;
  let closed: Promise<void> | undefined;
  const restarts: number[] = [];
  /** Processes that have been replaced and are still ending. */
  const leaving = new Set<Promise<void>>();

  const asking = askOverLines({
    maxMessageBytes: limits.maxMessageBytes,
    send: (line) => child?.send(line),
    onStray,
  });

  function start(): void {
    const started = startChild({
      command,
      args,
      cwd,
      env,
      limits,
      stderr: stderrOf(options.stderr),
      onLine: asking.receive,
      onProblem: asking.receiveProblem,
      onEnd(end) {
        lastEnd = end;
        child = undefined;
        const gone = started.close().finally(() => leaving.delete(gone));
        leaving.add(gone);
        asking.lose((request) => failure(end, request));
      },
    });
    child = started;
  }

  /** Starts the process again where it has ended. "The client SHOULD restart it" (transports/stdio). */
  function revive(request: JSONRPCRequest): void {
    if (child || !lastEnd) return;
    if (options.restart === false) throw failure(lastEnd, request);
    const now = Date.now();
    while (restarts.length > 0 && now - (restarts[0] as number) >= limits.restartWindowMs) restarts.shift();
    if (restarts.length >= limits.maxRestarts) {
      const often = `${restarts.length} times within ${limits.restartWindowMs} ms (maxRestarts)`;
      const last = failure(lastEnd, request);
      const why = `${last.message}\nIt has been started again ${often}, and is not for now`;
      throw new McpError("connect_failed", why, { cause: last.cause });
    }
    restarts.push(now);
    start();
  }

  function failure(end: ChildEnd, request: JSONRPCRequest): McpError {
    const { startError, exitCode, signal, closed: pipe } = end;
    if (startError) {
      const why = `The server ${JSON.stringify(command)} could not be started: ${explain(startError, cwd)}`;
      return new McpError("connect_failed", why, { cause: startError });
    }
    const how = signal
      ? `was ended by ${signal}`
      : exitCode === null
        ? `closed its ${pipe}`
        : `exited with code ${exitCode}`;
    const said = end.stderr.map((line) => `\n  ${printable(line, limits.stderrLineChars)}`).join("");
    const why = `The server ${JSON.stringify(command)} ${how} before it answered ${describeRequest(request)}`;
    const cause: ServerExit = { exitCode, signal, stderr: end.stderr };
    return new McpError("connection_lost", said ? `${why}. Its last words on stderr:${said}` : why, {
      cause,
    });
  }

  start();
  return {
    mirrorsArguments: false,
    async exchange(request, exchangeOptions = {}) {
      if (closed) throw new McpError("closed", `The connection to ${JSON.stringify(command)} is closed`);
      if (exchangeOptions.signal?.aborted) throw exchangeOptions.signal.reason;
      revive(request);
      return asking.exchange(request, exchangeOptions);
    },
    close() {
      closed ??= (async () => {
        asking.lose((request) => {
          const why = `The connection to ${JSON.stringify(command)} was closed before ${describeRequest(request)} was answered`;
          return new McpError("closed", why);
        });
        await Promise.all([child?.close(), ...leaving]);
      })();
      return closed;
    },
  };
}

function stderrOf(option: LaunchOptions["stderr"]): "ignore" | ((line: string) => void) {
  if (option === "inherit") return (line) => stderr().write(`${line}\n`);
  return option ?? (() => {});
}

function strayReporter(command: string): (text: string) => void {
  let reports = 0;
  return (text) => {
    if (++reports > MAX_STRAY_REPORTS) return;
    const more = reports === MAX_STRAY_REPORTS ? " (further ones are not shown)" : "";
    stderr().write(`[mica] ${command}: stray output on stdout: ${printable(text, MAX_STRAY_CHARS)}${more}\n`);
  };
}

function explain(error: NodeJS.ErrnoException, cwd: string | undefined): string {
  if (error.code === "ENOENT") {
    const missing = cwd !== undefined && !process.getBuiltinModule("node:fs").existsSync(cwd);
    return missing
      ? `its working directory ${JSON.stringify(cwd)} does not exist`
      : "there is no such program";
  }
  return error.code === "EACCES" ? "this user may not execute it" : error.message;
}
