/** Exit codes, and which failure ends in which. */

import type { InputNeeded } from "../engine/input-needed.js";
import { isObject } from "../engine/json.js";
import { UsageError } from "../engine/usage-error.js";

/** Documented in `mica --help` and the README; scripts depend on them. */
export const EXIT = {
  ok: 0,
  toolError: 1,
  usage: 2,
  unreachable: 3,
  protocol: 4,
  timeout: 5,
  inputNeeded: 6,
  findings: 7,
  incomplete: 8,
  different: 9,
  missed: 10,
  failed: 70,
  interrupted: 130,
} as const;

export const EXIT_CODES: readonly (readonly [code: number, meaning: string])[] = [
  [EXIT.ok, "done"],
  [EXIT.toolError, "the tool answered that it failed (isError)"],
  [EXIT.usage, "bad usage, or an argument that does not fit; nothing was called"],
  [EXIT.unreachable, "the server could not be reached or started, or went away"],
  [EXIT.protocol, "the server answered with a protocol error, or not with the protocol"],
  [EXIT.timeout, "no answer in time"],
  [EXIT.inputNeeded, "the server asks for input that was not given, or does not fit (--answer)"],
  [EXIT.findings, "the audit found errors; with --strict, or warnings"],
  [EXIT.incomplete, "the audit found no error, but rules could not run"],
  [EXIT.different, "mica replay: an answer differs from what was recorded"],
  [EXIT.missed, "the catalogue costs more than --budget, or requests of a load failed"],
  [EXIT.failed, "mica itself failed, or could not write its output"],
  [EXIT.interrupted, "interrupted (Ctrl-C); 143 when terminated, 129 when hung up"],
];

/** The exit code for a failure, by the stable codes of `McpError`. */
const BY_CODE: ReadonlyMap<string, number> = new Map([
  ["connect_failed", EXIT.unreachable],
  ["connection_lost", EXIT.unreachable],
  ["protocol_error", EXIT.protocol],
  ["invalid_response", EXIT.protocol],
  ["unsupported_version", EXIT.protocol],
  ["limit_exceeded", EXIT.protocol],
  ["input_unavailable", EXIT.protocol],
  ["task_cancelled", EXIT.protocol],
  ["timeout", EXIT.timeout],
]);

/** @param code A stable code of `McpError`. */
export function exitCodeFor(code: string): number {
  return BY_CODE.get(code) ?? EXIT.failed;
}

export interface Failure {
  readonly exitCode: number;
  /** Stable, for scripts. */
  readonly code: string;
  /** For people: one line, or several where several things are wrong. */
  readonly message: string;
  /** Further members for `--json`. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** What a failure means to whoever ran the command. */
export function failureOf(error: unknown): Failure {
  if (error instanceof UsageError) {
    const { message, problems } = error;
    return { exitCode: EXIT.usage, code: "usage", message, details: problems.length ? { problems } : {} };
  }
  // Told by its name and not by its class, so that a command that never connects does not load the client.
  if (error instanceof Error && error.name === "McpError") {
    if (isInputNeeded(error.cause)) return inputNeeded(error.cause);
    const { code } = error as Error & { code: string };
    return { exitCode: exitCodeFor(code), code, message: error.message, details: causeDetails(error.cause) };
  }
  if (error instanceof Error && error.name === "OutputError") {
    return { exitCode: EXIT.failed, code: "output_failed", message: error.message, details: {} };
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { exitCode: EXIT.failed, code: "failed", message, details: {} };
}

function isInputNeeded(cause: unknown): cause is InputNeeded {
  return cause instanceof Error && cause.name === "InputNeeded";
}

function inputNeeded({ message, problems, inputRequests }: InputNeeded): Failure {
  const details = { problems, inputRequests };
  return { exitCode: EXIT.inputNeeded, code: "input_needed", message, details };
}

/** What is known of the cause, for scripts. */
function causeDetails(cause: unknown): Record<string, unknown> {
  if (cause instanceof Error && cause.name === "ProtocolError") {
    const { code, message, data } = cause as Error & { code: number; data?: unknown };
    return { rpc: { code, message, ...(data !== undefined && { data }) } };
  }
  if (cause instanceof Error && cause.name === "HttpStatusError") {
    return { http: { status: (cause as Error & { status: number }).status } };
  }
  // How a server process ended: exit code, signal and last lines of stderr.
  return isObject(cause) && !(cause instanceof Error) && "exitCode" in cause ? { server: cause } : {};
}
