/** The client side of stdio: a server process that is started, spoken to, started again when it dies, and ended. */
import { cancellationOf, throwIfCancelled } from "../cancellation.js";
import { McpError } from "../protocol/errors.js";
import type { JSONRPCRequest, RequestId } from "../protocol/types.js";
import type { ClientTransport } from "../transport.js";
import { askOverLines } from "./asking.js";
import { serverEnvironment } from "./environment.js";
import { type StdioLimits, stdioLimits } from "./limits.js";
import { stderr } from "./own-stdout.js";
import { printable } from "./printable.js";
import { type LineTaker, type ServerProcess, serverProcess } from "./server-process.js";

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

/** A launched server, and a way to speak something else than exchanges to its process. */
export interface LaunchedServer {
  readonly transport: ClientTransport;
  /** The longest message that may be sent, in bytes. */
  readonly maxMessageBytes: number;
  /**
   * Hands the lines over. From then on the transport sends nothing, and is given what `takeOver` passes on to it;
   * its `close` still ends the process.
   *
   * @throws McpError where the process has ended; `restart` starts it again then, whatever the options say.
   */
  takeOver(taker: LineTaker, request: JSONRPCRequest, restart: boolean): TakenLines;
}

export interface TakenLines {
  send(line: string): void;
  /** Starts the process again where it has ended, and may be started again. @throws McpError */
  revive(request: JSONRPCRequest): void;
  /** What belongs to nothing here: the transport may be waiting for it, or reports it. */
  readonly rest: LineTaker;
  /** Gives the lines back. Answers to the requests with these ids are no surprise any more. */
  release(late: readonly RequestId[]): void;
  close(): Promise<void>;
}

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
  return launchServer(options).transport;
}

/** The same, for whoever may have to speak an earlier revision. */
export function launchServer(options: LaunchOptions): LaunchedServer {
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
  const asking = askOverLines({
    maxMessageBytes: limits.maxMessageBytes,
    send: (line) => {
      if (server.taker === asking) server.send(line);
    },
    onStray: options.onStray ?? strayReporter(command),
  });
  const server: ServerProcess = serverProcess(
    {
      command,
      args,
      cwd,
      env: serverEnvironment(options.env, options.inheritEnv ?? false),
      limits,
      stderr: stderrOf(options.stderr),
    },
    asking,
  );

  function revive(request: JSONRPCRequest): void {
    if (server.closed) throw new McpError("closed", `The connection to ${JSON.stringify(command)} is closed`);
    const ended = options.restart === false ? server.ended(request) : undefined;
    if (ended) throw ended;
    server.revive(request);
  }

  server.start();
  return {
    maxMessageBytes: limits.maxMessageBytes,
    transport: {
      mirrorsArguments: false,
      exchange(request, exchangeOptions = {}) {
        try {
          if (!server.closed) throwIfCancelled(cancellationOf(exchangeOptions));
          revive(request);
          return asking.exchange(request, exchangeOptions);
        } catch (error) {
          return Promise.reject(error);
        }
      },
      close: server.close,
    },
    takeOver(taker, request, restart) {
      if (restart && !server.closed) server.revive(request);
      else revive(request);
      server.taker = taker;
      return {
        send: server.send,
        revive,
        rest: asking,
        release(late) {
          server.taker = asking;
          for (const id of late) asking.abandon(id);
        },
        close: server.close,
      };
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
