/** Where the events of a session's streams wait for a client that comes back for them (2025-11-25, basic/transports). */

/** One event of a stream. */
export interface StoredEvent {
  /** Its position in the stream, from 1. */
  readonly position: number;
  /** One JSON-RPC message. */
  readonly data: string;
}

/**
 * Keeps events for redelivery. Positions of a stream are given in order and never twice. A store may forget whatever
 * it likes: a client then misses those events. A method that fails is reported, and the session goes on.
 */
export interface EventStore {
  /** Keeps one event. Called once for every event, before it is sent. */
  append(session: string, stream: string, event: StoredEvent): void | Promise<void>;
  /**
   * What is kept of a stream behind a position, in order; undefined where nothing of the stream is kept at all. May
   * give the first of many only: whoever wants more asks again.
   */
  after(
    session: string,
    stream: string,
    position: number,
  ): readonly StoredEvent[] | undefined | Promise<readonly StoredEvent[] | undefined>;
  /** Forgets a session, which is over. */
  drop(session: string): void | Promise<void>;
}

interface Entry extends StoredEvent {
  readonly session: string;
  readonly stream: string;
  readonly bytes: number;
}

export interface MemoryEventStore extends EventStore {
  append(session: string, stream: string, event: StoredEvent): void;
  after(session: string, stream: string, position: number): readonly StoredEvent[] | undefined;
  drop(session: string): void;
  /** Characters and overhead of everything that is kept. */
  readonly size: number;
}

/** What an event costs besides its text: map entries and the object itself, roughly. */
const OVERHEAD = 200;

/**
 * Keeps events in this process, and forgets the oldest of all sessions first.
 *
 * @param maxSize UTF-16 units, of all events together; each counts 200 more than its text. Default 64 Mi.
 * @example const store = memoryEventStore(8 * 1024 * 1024);
 */
export function memoryEventStore(maxSize = 64 * 1024 * 1024): MemoryEventStore {
  /** All events in the order they came, by a number of their own. */
  const entries = new Map<number, Entry>();
  /** The numbers of the events of each stream, in order. */
  const sessions = new Map<string, Map<string, Set<number>>>();
  let count = 0;
  let size = 0;

  function forget(number: number, entry: Entry): void {
    entries.delete(number);
    size -= entry.bytes;
    const streams = sessions.get(entry.session);
    const numbers = streams?.get(entry.stream);
    numbers?.delete(number);
    if (numbers?.size === 0) streams?.delete(entry.stream);
    if (streams?.size === 0) sessions.delete(entry.session);
  }

  return {
    get size() {
      return size;
    },
    append(session, stream, { position, data }) {
      const entry: Entry = { session, stream, position, data, bytes: data.length + OVERHEAD };
      const number = ++count;
      entries.set(number, entry);
      size += entry.bytes;
      const streams = sessions.get(session) ?? new Map<string, Set<number>>();
      sessions.set(session, streams);
      const numbers = streams.get(stream);
      if (numbers === undefined) streams.set(stream, new Set([number]));
      else numbers.add(number);
      for (const [oldest, old] of entries) {
        if (size <= maxSize) break;
        forget(oldest, old);
      }
    },
    after(session, stream, position) {
      const numbers = sessions.get(session)?.get(stream);
      if (numbers === undefined) return undefined;
      const kept: StoredEvent[] = [];
      for (const number of numbers) {
        const entry = entries.get(number)!;
        if (entry.position > position) kept.push({ position: entry.position, data: entry.data });
      }
      return kept;
    },
    drop(session) {
      for (const numbers of sessions.get(session)?.values() ?? []) {
        for (const number of numbers) {
          size -= entries.get(number)!.bytes;
          entries.delete(number);
        }
      }
      sessions.delete(session);
    },
  };
}
