/** One exchange under way: its clock, and what ends it early. One object for all of that, because every call makes one. */
import { McpError } from "../protocol/errors.js";
import type { InFlightSet } from "../protocol/in-flight.js";
import type { Cancellation } from "../transport.js";
import { aborted, LONGEST_TIMER, onAbort } from "./deadline.js";

export interface Deadline {
  /** Names the exchange in messages: its method. */
  readonly what: string;
  /** Milliseconds without an answer or progress. */
  readonly timeoutMs: number;
  /** Milliseconds altogether. */
  readonly maxTimeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The clock of one running exchange. */
export interface Clock {
  /** Progress came: the timeout starts again, the cap does not. */
  restart(): void;
  /** No timeout from here on. */
  stop(): void;
  /** Time does not count until the returned function is called, and then the timeout starts again. */
  hold(): () => void;
}

export class Running implements Clock, Cancellation {
  reason: unknown;
  isCancelled = false;
  readonly #deadline: Deadline;
  readonly #all: InFlightSet<Running>;
  readonly #slot: number;
  readonly #reject: (error: McpError) => void;
  readonly #forget: (() => void) | undefined;
  #reactions: Set<() => void> | undefined;
  #controller: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #startedAt = performance.now();
  #heldAt: number | undefined;

  constructor(deadline: Deadline, all: InFlightSet<Running>, reject: (error: McpError) => void) {
    const { what, signal, maxTimeoutMs } = deadline;
    this.#deadline = deadline;
    this.#all = all;
    this.#reject = reject;
    this.#forget = signal && onAbort(signal, () => this.fail(aborted(what, signal)));
    this.#slot = all.add(this);
    this.#arm(maxTimeoutMs);
  }

  /** Made when it is first read. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.isCancelled) this.#controller.abort(this.reason);
    }
    return this.#controller.signal;
  }

  onCancel(react: () => void): () => void {
    this.#reactions ??= new Set();
    this.#reactions.add(react);
    return () => void this.#reactions?.delete(react);
  }

  /** Ends the exchange: its promise rejects, and its transport is told to stop. */
  fail(error: McpError): void {
    this.release();
    this.#reject(error);
    if (this.isCancelled) return;
    this.isCancelled = true;
    this.reason = error;
    for (const react of [...(this.#reactions ?? [])]) react();
    this.#controller?.abort(error);
  }

  /** The exchange is over. */
  release(): void {
    this.stop();
    this.#all.delete(this.#slot, this);
    this.#forget?.();
  }

  restart(): void {
    if (this.#timer === undefined || this.isCancelled) return;
    clearTimeout(this.#timer);
    this.#arm(this.#left());
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#heldAt = undefined;
  }

  hold(): () => void {
    // Where no timer runs, there is none to stop.
    if (this.#timer === undefined) return () => {};
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#heldAt = performance.now();
    return () => {
      if (this.#heldAt === undefined) return;
      this.#startedAt += performance.now() - this.#heldAt;
      this.#heldAt = undefined;
      this.#arm(this.#left());
    };
  }

  #left(): number {
    return this.#startedAt + this.#deadline.maxTimeoutMs - performance.now();
  }

  #arm(left: number): void {
    const { timeoutMs } = this.#deadline;
    const capped = left < timeoutMs;
    const delay = capped ? Math.max(left, 0) : timeoutMs;
    if (delay <= LONGEST_TIMER) this.#timer = setTimeout(expire, delay, this, this.#deadline, capped);
  }
}

function expire(running: Running, { what, timeoutMs, maxTimeoutMs }: Deadline, capped: boolean): void {
  running.fail(
    capped
      ? new McpError("timeout", `${what} did not finish within ${maxTimeoutMs} ms (maxTimeoutMs)`)
      : new McpError("timeout", `${what} got no answer within ${timeoutMs} ms (timeoutMs)`),
  );
}

/**
 * Starts an exchange, and settles with it or with what ended it, whichever is first. `all` holds everything in
 * flight, so that closing a client can end it all.
 */
export function underDeadline<T>(
  deadline: Deadline,
  all: InFlightSet<Running>,
  start: (running: Running) => Promise<T>,
): Promise<T> {
  const { what, signal } = deadline;
  if (signal?.aborted) return Promise.reject(aborted(what, signal));
  return new Promise<T>((resolve, reject) => {
    const running = new Running(deadline, all, reject);
    const onError = (error: unknown) => {
      running.release();
      reject(error);
    };
    try {
      start(running).then((value) => {
        running.release();
        resolve(value);
      }, onError);
    } catch (error) {
      onError(error);
    }
  });
}
