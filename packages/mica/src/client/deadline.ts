/** Signals and waiting: who wants an exchange to end, and how that is heard. */
import { McpError } from "../protocol/errors.js";

/** Longest delay of a timer, in milliseconds; anything longer is no timeout at all. */
export const LONGEST_TIMER = 2_147_483_647;

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
