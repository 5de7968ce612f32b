/** The server side of stdio: one handler, served on this process's standard streams until they end. */
import type { Readable, Writable } from "node:stream";
import { type LegacyStdioOptions, readLegacy } from "../legacy-options.js";
import { checkOptionNames } from "../protocol/option-names.js";
import type { RequestHandler } from "../transport.js";
import { answerLines } from "./answering.js";
import { within } from "./deadline.js";
import { fairly } from "./fair.js";
import { type StdioLimits, stdioLimits } from "./limits.js";
import { createLineReader } from "./lines.js";
import { createOutbox } from "./outbox.js";
import { stderr, takeStdout } from "./own-stdout.js";

export interface ServeStdioOptions
  extends Partial<Pick<StdioLimits, "maxMessageBytes" | "maxInFlight" | "maxQueuedChars" | "drainMs">> {
  /**
   * Another channel in place of the process's own, such as a socket. Both or neither. Then nothing of the process
   * is touched: stdout, signals and exit stay the caller's, and `output` is ended when the channel closes.
   */
  readonly input?: Readable;
  readonly output?: Writable;
  /** Whether everything else that is printed to stdout goes to stderr. Default: true. */
  readonly takeStdout?: boolean;
  /**
   * Whether the process exits once input has ended, even though timers or sockets are alive. Default: true.
   * Set it to false to wait for `closed` and end the program yourself.
   */
  readonly exit?: boolean;
  /**
   * Whether the handler serves other channels too, so that the end of this one ends only its own subscriptions.
   * Default: false.
   */
  readonly shared?: boolean;
  /**
   * Whether clients of earlier revisions, which begin with `initialize`, are served as well: `"serve"`, `"reject"`
   * (they are told the revisions of the server), or the limits to serve them within. Default: `"serve"`.
   */
  readonly legacy?: LegacyStdioOptions;
  /** Told, in one sentence, of what is ignored. Default: a line on stderr. */
  readonly onProblem?: (text: string) => void;
}

const SERVE_STDIO_OPTIONS = {
  maxMessageBytes: true,
  maxInFlight: true,
  maxQueuedChars: true,
  drainMs: true,
  input: true,
  output: true,
  takeStdout: true,
  exit: true,
  shared: true,
  legacy: true,
  onProblem: true,
} satisfies Record<keyof ServeStdioOptions, true>;

/** A channel that is being served. */
export interface StdioService {
  /**
   * Resolves once nothing more will be read or written. Never rejects. Where the process exits, reactions to this
   * run before, but nothing that they start is waited for: see {@link ServeStdioOptions.exit}.
   */
  readonly closed: Promise<void>;
  /** Ends it gracefully: work in flight has `drainMs` left. Does not exit the process. Safe to call twice. */
  close(): Promise<void>;
}

/** The process's own stdin and stdout are one channel: they can be served once at a time. */
let ownChannelTaken = false;

/**
 * Serves `handler` on stdin and stdout until the client closes stdin, closes stdout, or SIGTERM or SIGINT arrives;
 * then finishes what is in flight (at most `drainMs`, default 2000) and exits the process.
 *
 * @throws TypeError where only one of `input` and `output` is given, or the process's own streams are served already.
 * @example serveStdio(createServer({ name: "calendar", version: "1.0.0" }));
 */
export function serveStdio(handler: RequestHandler, options: ServeStdioOptions = {}): StdioService {
  checkOptionNames(options, SERVE_STDIO_OPTIONS, "serveStdio");
  const limits = stdioLimits(options);
  const legacy = readLegacy(options.legacy, false)?.limits;
  const onProblem = options.onProblem ?? ((text) => stderr().write(`[mica] ${text}\n`));
  const own = options.input === undefined && options.output === undefined;
  if (!own && (options.input === undefined || options.output === undefined)) {
    throw new TypeError(
      `options.${options.input ? "output" : "input"} must be given too: a channel has two ends`,
    );
  }
  if (own && ownChannelTaken)
    throw new TypeError("stdin and stdout are being served already: serve them once");
  ownChannelTaken ||= own;
  const input = options.input ?? process.stdin;
  const output = options.output ?? process.stdout;
  const taken = own && options.takeStdout !== false ? takeStdout() : undefined;
  const exits = own && options.exit !== false;

  let isStalled = false;
  const outbox = createOutbox(output, {
    ...(taken && { write: taken.write }),
    maxQueuedChars: limits.maxQueuedChars,
    // While the client does not read, its next requests wait in the pipe.
    onStalled(stalled) {
      isStalled = stalled;
      if (ending) return;
      if (stalled) input.pause();
      else input.resume();
    },
  });
  const answering = answerLines(handler, outbox, { maxInFlight: limits.maxInFlight, legacy, onProblem });
  const lines = createLineReader({
    maxBytes: limits.maxMessageBytes,
    onLine: answering.receive,
    onProblem: answering.refuse,
  });

  let ending: Promise<void> | undefined;
  let settle = () => {};
  const closed = new Promise<void>((resolve) => {
    settle = resolve;
  });

  const onData = fairly(
    input,
    (chunk: Buffer | string) => lines.feed(typeof chunk === "string" ? Buffer.from(chunk) : chunk),
    () => !ending && !isStalled,
  );
  const onEnd = () => {
    if (!ending) lines.end();
    stop(true);
  };
  // A client that is gone can neither be answered nor asked: what works for it is told to stop.
  const onGone = () => {
    outbox.discard();
    answering.abandon();
    stop(true);
  };
  const onOutputError = (error: NodeJS.ErrnoException) => {
    // A client that has closed its end is how many sessions end. A full disk is not, and must not look like it.
    if (!ending && !CLIENT_GONE.has(error.code ?? "")) {
      onProblem(`stdout cannot be written: ${error.message}`);
      if (exits) process.exitCode = 1;
    }
    onGone();
  };
  let signals = 0;
  const onSignal = (signal: NodeJS.Signals) => {
    if (++signals > 1 && exits) process.exit(signal === "SIGINT" ? 130 : 143);
    stop(true);
  };

  function stop(leave: boolean): Promise<void> {
    ending ??= finish().then(() => {
      settle();
      // Reactions to `closed` run first, and may still print.
      if (leave && exits) setImmediate(() => process.exit());
      else taken?.restore();
    });
    return ending;
  }

  async function finish(): Promise<void> {
    input.off("data", onData).off("end", onEnd).off("close", onEnd).pause();
    answering.hangUp();
    endSubscriptions();
    await within(limits.drainMs, answering.idle());
    answering.giveUp();
    await within(limits.drainMs, Promise.all([outbox.flushed(), own && printed()]));
    outbox.discard();
    // The error listeners stay: a write that is still under way may fail later, and that must not end the process.
    output.off("close", onGone);
    if (own) {
      process.off("SIGTERM", onSignal).off("SIGINT", onSignal);
      ownChannelTaken = false;
    } else {
      output.end();
    }
  }

  function endSubscriptions(): void {
    try {
      if (options.shared) answering.endSubscriptions();
      else handler.endSubscriptions();
    } catch (error) {
      onProblem(`subscriptions could not be ended: ${String(error)}`);
    }
  }

  input.on("data", onData).on("end", onEnd).on("close", onEnd).on("error", onEnd);
  output.on("error", onOutputError).on("close", onGone);
  if (own) process.on("SIGTERM", onSignal).on("SIGINT", onSignal);
  return { closed, close: () => stop(false) };
}

/** What a write fails with once its reader is gone. */
const CLIENT_GONE = new Set(["EPIPE", "ECONNRESET", "ERR_STREAM_DESTROYED", "ERR_STREAM_WRITE_AFTER_END"]);

/** Resolves when what was printed to stderr has left the process, which would not wait for it. */
function printed(): Promise<void> {
  return new Promise((resolve) => {
    if (stderr().writableLength === 0) resolve();
    else stderr().write("", () => resolve());
  });
}
