/** What cancels an exchange, for transports: as the caller gave it, a signal or something cheaper. */
import type { Cancellation, ClientExchangeOptions } from "./transport.js";

/** Undefined where nothing can. */
export function cancellationOf(options: ClientExchangeOptions): Cancellation | undefined {
  // In this order: a signal may be made by being read.
  if (options.cancellation !== undefined) return options.cancellation;
  const { signal } = options;
  return signal && cancellationBy(signal);
}

export function throwIfCancelled(cancellation: Cancellation | undefined): void {
  if (cancellation?.isCancelled) throw cancellation.reason;
}

/** Reactions by signal: many requests may share one, and it need not carry a listener for each (Node warns at eleven). */
const reactions = new WeakMap<AbortSignal, Set<() => void>>();

function cancellationBy(signal: AbortSignal): Cancellation {
  return {
    get isCancelled() {
      return signal.aborted;
    },
    get reason(): unknown {
      return signal.reason;
    },
    onCancel(react) {
      let all = reactions.get(signal);
      if (all === undefined) {
        all = new Set();
        reactions.set(signal, all);
        signal.addEventListener("abort", onAbort);
      }
      const shared = all;
      // A function of its own, so that one reaction given twice is two.
      const own = () => react();
      shared.add(own);
      return () => {
        shared.delete(own);
        if (shared.size > 0 || reactions.get(signal) !== shared) return;
        reactions.delete(signal);
        signal.removeEventListener("abort", onAbort);
      };
    },
  };
}

function onAbort({ target }: Event): void {
  for (const react of [...(reactions.get(target as AbortSignal) ?? [])]) react();
}
