/** Many requests may share one signal, and it need not carry a listener for each (Node warns at eleven). */

/** Calls reactions when a signal aborts. */
export interface Aborts {
  /** Calls `react` once when `signal` aborts, until the returned function is called. */
  on(signal: AbortSignal, react: () => void): () => void;
}

export function trackAborts(): Aborts {
  const reactions = new Map<AbortSignal, Set<() => void>>();

  function onAbort({ target }: Event): void {
    for (const react of reactions.get(target as AbortSignal) ?? []) react();
  }

  return {
    on(signal, react) {
      const known = reactions.get(signal);
      const all = known ?? new Set();
      if (!known) {
        reactions.set(signal, all);
        signal.addEventListener("abort", onAbort);
      }
      all.add(react);
      return () => {
        all.delete(react);
        if (all.size > 0 || reactions.get(signal) !== all) return;
        reactions.delete(signal);
        signal.removeEventListener("abort", onAbort);
      };
    },
  };
}
