/** Standard output and standard error, each knowing whether somebody is watching. */
import { OutputError } from "../engine/output-error.js";
import { type Paint, paint } from "./paint.js";
import { visible } from "./terminal.js";

export interface Outlet {
  readonly isTerminal: boolean;
  /** Width of the terminal; undefined where it is none. */
  readonly columns: number | undefined;
  readonly paint: Paint;
  /**
   * Resolves when it is written.
   *
   * @throws OutputClosed where the reader has gone, OutputError where it cannot be written for another reason.
   */
  write(data: string | Uint8Array): Promise<void>;
}

export interface Screen {
  readonly out: Outlet;
  readonly err: Outlet;
  /** A line on stderr; a reader that has gone is no matter. */
  say(line: string): Promise<void>;
}

/** Whoever read our output has had enough. */
export class OutputClosed extends Error {
  override readonly name = "OutputClosed";
}

export interface ScreenStreams {
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: NodeJS.ProcessEnv;
}

/** @param color False declines colours, as `--no-color` does. */
export function createScreen({ stdout, stderr, env }: ScreenStreams, color: boolean): Screen {
  // "When present and not an empty string (regardless of its value)" (no-color.org).
  const wanted = color && !env["NO_COLOR"] && env["TERM"] !== "dumb";
  const err = outlet(stderr, wanted);
  return {
    out: outlet(stdout, wanted),
    err,
    say: (line) => err.write(`${line}\n`).catch(() => {}),
  };
}

function outlet(stream: NodeJS.WriteStream, color: boolean): Outlet {
  const isTerminal = stream.isTTY === true;
  // Each write learns of its own failure.
  if (stream.listenerCount("error") === 0) stream.on("error", () => {});
  return {
    isTerminal,
    columns: isTerminal ? stream.columns || 80 : undefined,
    paint: paint(isTerminal && color),
    write: (data) =>
      new Promise((resolve, reject) => {
        stream.write(data, (error) => {
          if (!error) resolve();
          else if (isClosed(error)) reject(new OutputClosed());
          else reject(new OutputError(`cannot write the output: ${error.message}`, { cause: error }));
        });
      }),
  };
}

function isClosed(error: Error): boolean {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  return ["EPIPE", "EOF", "ERR_STREAM_DESTROYED"].includes(code);
}

/** Text of a server for an outlet: made safe where a terminal would obey it, as it is where it is piped. */
export function textFor(outlet: Outlet, text: string): string {
  return outlet.isTerminal ? visible(text) : text;
}

/** With a newline at its end, so that what follows begins a line. */
export function ended(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
