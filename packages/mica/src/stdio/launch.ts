/** The client side of stdio: a server process that is started, spoken to, started again when it dies, and ended. */
import { cancellationOf, throwIfCancelled } from "../cancellation.js";
import { McpError } from "../protocol/errors.js";
import type { JSONRPCRequest, RequestId } from "../protocol/types.js";
import type { ClientTransport } from "../transport.js";
import { askOverLines } from "./asking.js";
import { serverEnvironment } from "./environment.js";
import { checkLaunch, type LaunchOptions } from "./launch-options.js";
import { stderr } from "./own-stdout.js";
import { printable } from "./printable.js";
import { type LineTaker, type ServerProcess, serverProcess } from "./server-process.js";

export type { ServerExit } from "./child.js";

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
 * Starts a server process and speaks to it over its standard streams; for what its exchanges reject with, see
 * `launchStdio`.
 *
 * @throws TypeError where an option is unusable.
 */
export function launchServer(options: LaunchOptions): LaunchedServer {
  const limits = checkLaunch(options);
  const { command, args = [], cwd } = options;
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
