/** The events of a calendar: added, read by time, and counted so that changes can be followed. */
import type { Database } from "better-sqlite3";
import { openSqlite } from "../../kit/sqlite.js";
import { CALENDAR_FORMAT, readStateKey } from "./database.js";

export interface CalendarEvent {
  /** A handle such as `e3`: never given out twice. */
  readonly id: string;
  readonly title: string;
  /** UTC, `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly startsAt: string;
}

/** A day on which events were added. */
export interface ChangedDay {
  readonly date: string;
  /** The number of its newest event. */
  readonly newest: number;
}

export interface EventStore {
  /**
   * Adds an event, durably. With a key that was used before, nothing is added and the event of that time is returned,
   * whatever it was.
   */
  insert(event: { title: string; startsAt: string }, idempotencyKey?: string): CalendarEvent;
  /** The events that start between two instants, both included, by start; those of one instant in the order they came. */
  between(from: string, to: string): CalendarEvent[];
  /** The number of the newest event, 0 where there is none. Numbers grow in the order of commits. */
  newest(): number;
  /** The days of the events with a number above `number`. */
  changedSince(number: number): ChangedDay[];
  /** Changes whenever another connection has written to the file. */
  dataVersion(): number;
  /** Seals half-finished calls; the same for all processes on one file. */
  readonly stateKey: string;
  close(): void;
}

interface Row {
  id: number;
  title: string;
  starts_at: string;
}

export interface StoreOptions {
  /** Milliseconds for which a write waits for one of another process. Default 5000. */
  readonly busyMs?: number | undefined;
}

/**
 * Opens a calendar, and makes its file and folder where they are missing, for their owner alone.
 *
 * @param file a path, or `:memory:` for a calendar that ends with the process
 * @throws StoreError saying in one line what is wrong with the file.
 * @example const store = openStore("calendar.sqlite");
 */
export function openStore(file: string, { busyMs }: StoreOptions = {}): EventStore {
  return openSqlite(file, { ...CALENDAR_FORMAT, busyMs }, createStore);
}

function createStore(database: Database): EventStore {
  const add = database.prepare<[string, string, string | null]>(
    "INSERT INTO events (title, starts_at, idempotency_key) VALUES (?, ?, ?)",
  );
  const byKey = database.prepare<[string], Row>(
    "SELECT id, title, starts_at FROM events WHERE idempotency_key = ?",
  );
  // Looked up before, since even an insert that finds a conflict takes a number.
  const addOnce = database.transaction(
    (title: string, startsAt: string, key: string | null): CalendarEvent => {
      const before = key === null ? undefined : byKey.get(key);
      if (before !== undefined) return eventOf(before);
      return { id: `e${add.run(title, startsAt, key).lastInsertRowid}`, title, startsAt };
    },
  );
  const inRange = database.prepare<[string, string], Row>(
    "SELECT id, title, starts_at FROM events WHERE starts_at BETWEEN ? AND ? ORDER BY starts_at, id",
  );
  const last = database.prepare<[], number>("SELECT coalesce(max(id), 0) FROM events").pluck();
  const changed = database.prepare<[number], ChangedDay>(
    "SELECT substr(starts_at, 1, 10) AS date, max(id) AS newest FROM events WHERE id > ? GROUP BY date ORDER BY date",
  );
  const version = database.prepare<[], number>("PRAGMA data_version").pluck();

  return {
    insert: ({ title, startsAt }, key) => addOnce.immediate(title, startsAt, key ?? null),
    between: (from, to) => inRange.all(from, to).map(eventOf),
    newest: () => last.get() as number,
    changedSince: (number) => changed.all(number),
    dataVersion: () => version.get() as number,
    stateKey: readStateKey(database),
    close: () => void database.close(),
  };
}

function eventOf({ id, title, starts_at }: Row): CalendarEvent {
  return { id: `e${id}`, title, startsAt: starts_at };
}
