/** Events that wait to be taken: one of each kind, bounded, read with `for await`. */

export interface EventQueue<Event> {
  /** Adds an event; it takes the place of one with the same key that still waits. */
  push(key: string, event: Event): void;
  /** No more events: what waits can still be taken. */
  end(): void;
  /** The same, with an error after the last event. */
  fail(error: unknown): void;
  /** Ends, and drops what waits. */
  discard(): void;
  next(): Promise<IteratorResult<Event, undefined>>;
}

/** @param overflow Makes the one event that stands for all that waited, when `capacity` is reached. */
export function createEventQueue<Event>(
  capacity: number,
  overflow: (dropped: number) => Event,
): EventQueue<Event> {
  const waiting = new Map<string, Event>();
  const takers: { resolve(result: IteratorResult<Event, undefined>): void; reject(error: unknown): void }[] =
    [];
  let dropped = 0;
  let ended = false;
  let failure: { error: unknown } | undefined;

  const settleTakers = () => {
    for (const taker of takers.splice(0)) {
      if (failure === undefined) taker.resolve({ done: true, value: undefined });
      else taker.reject(failure.error);
      failure = undefined;
    }
  };

  return {
    push(key, event) {
      if (ended) return;
      const taker = takers.shift();
      if (taker) return taker.resolve({ done: false, value: event });
      if (waiting.has(key) || waiting.size < capacity) {
        waiting.set(key, event);
        return;
      }
      dropped += waiting.size + 1;
      waiting.clear();
      waiting.set("overflow", overflow(dropped));
    },
    end() {
      ended = true;
      settleTakers();
    },
    fail(error) {
      if (ended) return;
      ended = true;
      failure = { error };
      settleTakers();
    },
    discard() {
      ended = true;
      failure = undefined;
      waiting.clear();
      settleTakers();
    },
    next() {
      const first = waiting.entries().next();
      if (!first.done) {
        const [key, value] = first.value;
        waiting.delete(key);
        if (key === "overflow") dropped = 0;
        return Promise.resolve({ done: false, value });
      }
      if (failure !== undefined) {
        const { error } = failure;
        failure = undefined;
        return Promise.reject(error);
      }
      if (ended) return Promise.resolve({ done: true, value: undefined });
      return new Promise((resolve, reject) => takers.push({ resolve, reject }));
    },
  };
}
