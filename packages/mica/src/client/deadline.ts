/** Runs one exchange under its caller's signal, a timeout that progress restarts, and a hard cap. */
import { McpError } from "../protocol/errors.js";

/** Longest delay of a timer, in milliseconds; anything longer is no timeout at all. */
const LONGEST_TIMER = 2_147_483_647;

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

/**
 * Starts an exchange, and settles with it or with what ended it, whichever is first. `running` holds the
 * ends of everything in flight, so that closing a client can end it all.
 */
export function underDeadline<T>(
  deadline: Deadline,
  running: Set<(error: McpError) => void>,
  start: (signal: AbortSignal, clock: Clock) => Promise<T>,
): Promise<T> {
  const { what, timeoutMs, maxTimeoutMs, signal } = deadline;
  if (signal?.aborted) return Promise.reject(aborted(what, signal));
  return new Promise<T>((resolve, reject) => {
    const controller = new AbortController();
    let startedAt = performance.now();
    let timer: NodeJS.Timeout | undefined;
    let heldAt: number | undefined;
    const release = () => {
      heldAt = undefined;
      clearTimeout(timer);
      running.delete(fail);
      forget?.();
    };
    const fail = (error: McpError) => {
      release();
      reject(error);
      controller.abort(error);
    };
    const arm = (left: number) => {
      const capped = left < timeoutMs;
      const delay = capped ? Math.max(left, 0) : timeoutMs;
      if (delay <= LONGEST_TIMER) timer = setTimeout(() => fail(timedOut(deadline, capped)), delay);
    };
    const clock: Clock = {
      restart: () => {
        if (timer === undefined || controller.signal.aborted) return;
        clearTimeout(timer);
        arm(startedAt + maxTimeoutMs - performance.now());
      },
      stop: () => {
        clearTimeout(timer);
        timer = undefined;
        heldAt = undefined;
      },
      hold: () => {
        // Where no timer runs, there is none to stop.
        if (timer === undefined) return () => {};
        clearTimeout(timer);
        timer = undefined;
        heldAt = performance.now();
        return () => {
          if (heldAt === undefined) return;
          startedAt += performance.now() - heldAt;
          heldAt = undefined;
          arm(startedAt + maxTimeoutMs - performance.now());
        };
      },
    };
    const forget = signal && onAbort(signal, () => fail(aborted(what, signal)));
    running.add(fail);
    arm(maxTimeoutMs);
    start(controller.signal, clock).then(
      (value) => {
        release();
        resolve(value);
      },
      (error: unknown) => {
        release();
        reject(error);
      },
    );
  });
}

function timedOut({ what, timeoutMs, maxTimeoutMs }: Deadline, capped: boolean): McpError {
  return capped
    ? new McpError("timeout", `${what} did not finish within ${maxTimeoutMs} ms (maxTimeoutMs)`)
    : new McpError("timeout", `${what} got no answer within ${timeoutMs} ms (timeoutMs)`);
}

export function aborted(what: string, signal: AbortSignal): McpError {
  return new McpError("aborted", `${what} was aborted by its caller`, { cause: signal.reason });
}

interface Listener {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

const listening = new WeakMap<AbortSignal, Listener>();

/**
 * Calls back once when a signal aborts; the returned function ends that. However many calls share a signal,
 * it carries one listener, and none once they are done.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const { callbacks, listener } = listening.get(signal) ?? listen(signal);
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
    if (callbacks.size > 0 || listening.get(signal)?.callbacks !== callbacks) return;
    listening.delete(signal);
    signal.removeEventListener("abort", listener);
  };
}

function listen(signal: AbortSignal): Listener {
  const callbacks = new Set<() => void>();
  const listener = () => {
    for (const callback of [...callbacks]) callback();
  };
  const entry = { callbacks, listener };
  listening.set(signal, entry);
  signal.addEventListener("abort", listener, { once: true });
  return entry;
}

export interface Link {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** Lets go of the sources. */
  release(): void;
}

/** A signal that aborts with a caller's, as `McpError` `aborted`, or with `closing`, whose reason it keeps. */
export function linkSignals(what: string, caller: AbortSignal | undefined, closing: AbortSignal): Link {
  const controller = new AbortController();
  const byCaller = () => controller.abort(aborted(what, caller as AbortSignal));
  const byClosing = () => controller.abort(closing.reason);
  if (caller?.aborted) byCaller();
  if (closing.aborted) byClosing();
  const ends = [caller && onAbort(caller, byCaller), onAbort(closing, byClosing)];
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => {
      for (const end of ends) end?.();
    },
  };
}

/** Waits; rejects with the signal's reason where it fires first. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      forget();
      resolve();
    }, ms);
    const forget = onAbort(signal, () => {
      clearTimeout(timer);
      forget();
      reject(signal.reason);
    });
  });
}

/** Waits for something shared, as long as one caller wants to. */
export function whileWanted<T>(
  shared: Promise<T>,
  what: string,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (signal === undefined) return shared;
  if (signal.aborted) return Promise.reject(aborted(what, signal));
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, () => {
      forget();
      reject(aborted(what, signal));
    });
    shared.then(resolve, reject).finally(forget);
  });
}

/** Waits for something that does not reject; undefined where it does not come in time. */
export function unlessSilent<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  if (ms > LONGEST_TIMER) return work;
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, undefined);
    void work.then((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}

/** A controller that also aborts, for the same reason, when one of these signals does. */
export function abortedWith(...signals: (AbortSignal | undefined)[]) {
  const controller = new AbortController();
  const ends = signals.flatMap((signal) => {
    if (signal === undefined) return [];
    const abort = () => controller.abort(signal.reason);
    if (signal.aborted) abort();
    return [onAbort(signal, abort)];
  });
  const release = () => {
    for (const end of ends) end();
  };
  return { controller, release };
}
