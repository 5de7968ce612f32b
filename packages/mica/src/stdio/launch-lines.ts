/** A server process spoken to line by line, for tools that show, record or provoke what an exchange would hide. */
import { type ServerExit, startChild } from "./child.js";
import { serverEnvironment } from "./environment.js";
import { checkLaunch, type LaunchOptions } from "./launch-options.js";

export interface LaunchLinesOptions extends Omit<LaunchOptions, "stderr" | "onStray" | "restart"> {
  /** One line of its stdout, without its newline, whatever it says. */
  readonly onLine: (line: string) => void;
  /** One line of its stderr. */
  readonly onStderr?: ((line: string) => void) | undefined;
  /** Called once, when it has ended, or closed its stdin or stdout; `startError` where it could not be started. */
  readonly onEnd: (exit: ServerExit & { readonly startError: Error | undefined }) => void;
}

/** The lines of a running server. */
export interface LineChannel {
  /** Sends a line as it is; the newline is added. After the end of the process it does nothing. */
  send(line: string): void;
  /** Ends the process in the order of transports/stdio, Shutdown. Resolves when it and its descendants are gone. */
  close(): Promise<void>;
}

/**
 * Starts a server process without speaking the protocol to it.
 *
 * @throws TypeError where an option is unusable.
 * @example const lines = launchLines({ command: "node", args: ["server.js"], onLine: console.log, onEnd() {} });
 */
export function launchLines({ onLine, onStderr, onEnd, ...options }: LaunchLinesOptions): LineChannel {
  const limits = checkLaunch(options);
  return startChild({
    command: options.command,
    args: options.args ?? [],
    cwd: options.cwd,
    env: serverEnvironment(options.env, options.inheritEnv ?? false),
    limits,
    stderr: onStderr ?? (() => {}),
    onLine,
    onProblem: (problem) => onLine(problem.kind === "too_long" ? `${problem.head}...` : problem.text),
    onEnd: ({ exitCode, signal, stderr, startError }) => onEnd({ exitCode, signal, stderr, startError }),
  });
}
