/** Where credentials are kept: records under keys, each replaced only by whoever has seen the last version of it. */

/** A record as it was read. */
export interface StoredRecord {
  /** Plain JSON. */
  readonly value: Readonly<Record<string, unknown>>;
  /** Another one after every write. */
  readonly version: string;
}

/**
 * What `oauth` and the others need of a place for credentials. What is kept lets whoever reads it in: it must be
 * readable by its owner only (security-considerations, Token Theft).
 */
export interface AuthStore {
  read(key: string): Promise<StoredRecord | undefined>;
  /**
   * Writes a record, or removes it where `value` is undefined, if its version is still the one given (undefined: if
   * there is none). Says whether it did.
   */
  write(
    key: string,
    value: Readonly<Record<string, unknown>> | undefined,
    version: string | undefined,
  ): Promise<boolean>;
  /**
   * Does something that nobody else who uses this store does at the same time under the same key, in this process or
   * another: a refresh token that two use at once signs both out. Waits for its turn until `signal` aborts.
   */
  exclusively<T>(key: string, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** Lets one through after the other, by key, within this process. */
export function createTurns() {
  const last = new Map<string, Promise<void>>();
  return async <T>(key: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    const before = last.get(key);
    let end = () => {};
    const mine = new Promise<void>((resolve) => {
      end = resolve;
    });
    // Whoever gives up waiting still passes the turn on when it comes.
    const turn = before === undefined ? mine : before.then(() => mine);
    last.set(key, turn);
    try {
      if (before !== undefined) await unlessAborted(before, signal);
      signal.throwIfAborted();
      return await work();
    } finally {
      end();
      void turn.then(() => {
        if (last.get(key) === turn) last.delete(key);
      });
    }
  };
}

/** Settles with `work`, or rejects with the reason of the signal where that comes first. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
