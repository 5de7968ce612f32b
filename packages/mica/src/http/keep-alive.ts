/** One timer for all the event streams of a server, so that ten thousand quiet ones cost little. */

export interface KeptAlive {
  /** Writes a comment. Called every interval while the stream is in the set. */
  ping(): void;
}

export interface KeepAlive {
  add(stream: KeptAlive): void;
  delete(stream: KeptAlive): void;
}

/** How many streams are written to before other work gets its turn: about a millisecond's worth. */
const SLICE = 100;

/** Makes the set of streams to ping every so many milliseconds. Its timer runs only while it holds any. */
export function createKeepAlive(everyMs: number): KeepAlive {
  const streams = new Set<KeptAlive>();
  let timer: NodeJS.Timeout | undefined;

  function pingSlice(due: KeptAlive[], from: number): void {
    const to = Math.min(from + SLICE, due.length);
    for (let at = from; at < to; at++) {
      if (streams.has(due[at]!)) due[at]!.ping();
    }
    if (to < due.length) setImmediate(pingSlice, due, to);
  }

  return {
    add(stream) {
      streams.add(stream);
      // Unreferenced: a timer is no reason for a process to live on.
      timer ??= setInterval(() => pingSlice([...streams], 0), everyMs).unref();
    },
    delete(stream) {
      if (!streams.delete(stream) || streams.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    },
  };
}
