/** Notices what has changed: the writes of this process at once, those of others by a look at the file now and then. */

import type { IncidentChange } from "./store.js";

/** How the database is asked. Called every half second, so each must be cheap where nothing happened. */
export interface ChangeSource {
  /** Differs from its last value if, and only if, another connection has written. */
  version(): number;
  /** The highest revision. */
  latest(): number;
  /** Incidents of a higher revision, in its order. */
  after(revision: number, limit: number): readonly (IncidentChange & { readonly revision: number })[];
}

export interface Watch {
  /** See `IncidentStore.watch`. Looks only while somebody listens. */
  watch(onChange: (changes: readonly IncidentChange[]) => void): () => void;
  /** To be called after each write of this process. */
  wrote(change: IncidentChange, revision: number): void;
  stop(): void;
}

/** Enough to take in what a busy process writes between two looks, little enough not to hold up requests. */
const BATCH = 1000;

/** @param everyMs milliseconds between two looks at the file */
export function createWatch(
  source: ChangeSource,
  everyMs: number,
  onProblem: (error: unknown) => void,
): Watch {
  const listeners = new Set<(changes: readonly IncidentChange[]) => void>();
  /** Own writes beyond `seen`, which listeners know of already. */
  const own = new Set<number>();
  let timer: NodeJS.Timeout | undefined;
  let version = 0;
  let seen = 0;
  let failing = false;

  function tell(changes: readonly IncidentChange[]): void {
    if (changes.length === 0) return;
    for (const listener of [...listeners]) listener(changes);
  }

  function look(): void {
    try {
      const current = source.version();
      if (current === version) return;
      let batch: ReturnType<ChangeSource["after"]>;
      do {
        batch = source.after(seen, BATCH);
        const others = batch.filter(({ revision }) => !own.delete(revision));
        seen = batch.at(-1)?.revision ?? seen;
        tell(others.map(({ number, tenant }) => ({ number, tenant })));
      } while (batch.length === BATCH);
      version = current;
      failing = false;
    } catch (error) {
      // The next look may succeed; one report is enough until then.
      if (!failing) onProblem(error);
      failing = true;
    }
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
    listeners.clear();
    own.clear();
  }

  return {
    watch(onChange) {
      if (timer === undefined) {
        version = source.version();
        seen = source.latest();
        timer = setInterval(look, everyMs).unref();
      }
      const listener = (changes: readonly IncidentChange[]) => onChange(changes);
      listeners.add(listener);
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) stop();
      };
    },
    wrote(change, revision) {
      if (timer === undefined) return;
      if (revision === seen + 1) seen = revision;
      else own.add(revision);
      tell([change]);
    },
    stop,
  };
}
