/** Notices what has changed: the writes of this process at once, those of others by a look at the file now and then. */

/** How the database is asked. Called every half second, so each must be cheap where nothing happened. */
export interface ChangeSource {
  /** Differs from its last value if, and only if, another connection has written. */
  version(): number;
  /** The highest revision. */
  latest(): number;
  /** Incidents of a higher revision, in its order. */
  after(revision: number, limit: number): readonly { readonly number: number; readonly revision: number }[];
}

export interface Watch {
  /** See `IncidentStore.watch`. Looks only while somebody listens. */
  watch(onChange: (numbers: readonly number[]) => void): () => void;
  /** To be called after each write of this process. */
  wrote(number: number, revision: number): void;
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
  const listeners = new Set<(numbers: readonly number[]) => void>();
  /** Own writes beyond `seen`, which listeners know of already. */
  const own = new Set<number>();
  let timer: NodeJS.Timeout | undefined;
  let version = 0;
  let seen = 0;
  let failing = false;

  function tell(numbers: readonly number[]): void {
    if (numbers.length === 0) return;
    for (const listener of [...listeners]) listener(numbers);
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
        tell(others.map(({ number }) => number));
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
      const listener = (numbers: readonly number[]) => onChange(numbers);
      listeners.add(listener);
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) stop();
      };
    },
    wrote(number, revision) {
      if (timer === undefined) return;
      if (revision === seen + 1) seen = revision;
      else own.add(revision);
      tell([number]);
    },
    stop,
  };
}
