/** Work that several wait for: done once for all of them, given up when nobody wants it any more. */

/**
 * @param need What one who waits needs.
 * @param isMet Whether the outcome of another one's work will do.
 */
export type Shared<N, T> = (
  need: N,
  signal: AbortSignal | undefined,
  isMet: (outcome: T) => boolean,
) => Promise<T>;

interface Running<T> {
  readonly outcome: Promise<T>;
  readonly controller: AbortController;
  /** Whether a failure is one for all who wait. */
  readonly isForAll: boolean;
  waiting: number;
}

/**
 * One piece of work at a time. Whoever comes meanwhile waits for it and takes what comes of it, if that will do; where
 * it fails, they have failed as well, so that a person who said no is not asked once for every request that waits.
 */
export function createShared<N extends { readonly isChallenged: boolean }, T>(
  work: (need: N, signal: AbortSignal) => Promise<T>,
): Shared<N, T> {
  let running: Running<T> | undefined;

  function start(need: N): Running<T> {
    const controller = new AbortController();
    const begun: Running<T> = {
      controller,
      outcome: work(need, controller.signal).finally(() => {
        if (running === begun) running = undefined;
      }),
      // Replacing a token early is a favour: whoever was refused needs more than that.
      isForAll: need.isChallenged,
      waiting: 0,
    };
    begun.outcome.catch(() => {});
    running = begun;
    return begun;
  }

  async function join(begun: Running<T>, signal: AbortSignal | undefined): Promise<T> {
    begun.waiting += 1;
    try {
      return await (signal === undefined ? begun.outcome : unless(begun.outcome, signal));
    } finally {
      begun.waiting -= 1;
      if (begun.waiting === 0)
        begun.controller.abort(signal?.reason ?? new Error("Nobody waits for it any more"));
    }
  }

  return async (need, signal, isMet) => {
    while (running !== undefined) {
      const other = running;
      const isAbandoned = other.controller.signal.aborted;
      try {
        const outcome = await join(other, signal);
        if (isMet(outcome)) return outcome;
      } catch (error) {
        signal?.throwIfAborted();
        if (other.isForAll && !isAbandoned) throw error;
      }
    }
    return join(start(need), signal);
  };
}

function unless<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
