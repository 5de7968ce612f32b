/** A server process and whoever reads its lines: started, started again when it has died, and ended. */
import { McpError } from "../protocol/errors.js";
import type { JSONRPCRequest } from "../protocol/types.js";
import { type Child, type ChildEnd, type ServerExit, startChild } from "./child.js";
import { describeRequest } from "./in-flight.js";
import type { StdioLimits } from "./limits.js";
import type { LineProblem } from "./lines.js";
import { printable } from "./printable.js";

/** Takes what a process writes to its stdout. */
export interface LineTaker {
  receive(line: string): void;
  receiveProblem(problem: LineProblem): void;
  /** The process has ended, or is being ended: nothing that was asked is answered any more. */
  lose(why: (request: JSONRPCRequest) => McpError): void;
}

export interface ServerProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly limits: StdioLimits;
  readonly stderr: "ignore" | ((line: string) => void);
}

export interface ServerProcess {
  /** Who takes its lines; one at a time. */
  taker: LineTaker;
  /** Starts it, for the first time. */
  start(): void;
  send(line: string): void;
  readonly closed: boolean;
  /**
   * Starts it again where it has ended. "The client SHOULD restart it" (transports/stdio).
   *
   * @param request For whose sake: it stands in the message of the error.
   * @throws McpError `connect_failed` where it has been started again too often.
   */
  revive(request: JSONRPCRequest): void;
  /** Why nothing can be asked of it; undefined while it runs. */
  ended(request: JSONRPCRequest): McpError | undefined;
  close(): Promise<void>;
}

export function serverProcess(options: ServerProcessOptions, taker: LineTaker): ServerProcess {
  const { command, args, cwd, env, limits, stderr } = options;
  let child: Child | undefined;
  let lastEnd: ChildEnd | undefined;
  let closed: Promise<void> | undefined;
  const restarts: number[] = [];
  /** Processes that have been replaced and are still ending. */
  const leaving = new Set<Promise<void>>();

  const server: ServerProcess = {
    taker,
    start() {
      const started = startChild({
        command,
        args,
        cwd,
        env,
        limits,
        stderr,
        onLine: (line) => server.taker.receive(line),
        onProblem: (problem) => server.taker.receiveProblem(problem),
        onEnd(end) {
          lastEnd = end;
          child = undefined;
          const gone = started.close().finally(() => leaving.delete(gone));
          leaving.add(gone);
          server.taker.lose((request) => failure(end, request));
        },
      });
      child = started;
    },
    send: (line) => child?.send(line),
    get closed() {
      return closed !== undefined;
    },
    ended: (request) => (child || !lastEnd ? undefined : failure(lastEnd, request)),
    revive(request) {
      if (child || !lastEnd) return;
      const now = Date.now();
      while (restarts.length > 0 && now - (restarts[0] as number) >= limits.restartWindowMs) restarts.shift();
      if (restarts.length >= limits.maxRestarts) {
        const often = `${restarts.length} times within ${limits.restartWindowMs} ms (maxRestarts)`;
        const last = failure(lastEnd, request);
        const why = `${last.message}\nIt has been started again ${often}, and is not for now`;
        throw new McpError("connect_failed", why, { cause: last.cause });
      }
      restarts.push(now);
      server.start();
    },
    close() {
      closed ??= (async () => {
        server.taker.lose((request) => {
          const why = `The connection to ${JSON.stringify(command)} was closed before ${describeRequest(request)} was answered`;
          return new McpError("closed", why);
        });
        await Promise.all([child?.close(), ...leaving]);
      })();
      return closed;
    },
  };

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

  return server;
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
