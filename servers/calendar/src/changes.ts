/**
 * Tells subscribers of changes, whichever process made them. While somebody listens, the file is asked a few times a
 * second whether another process has written to it; while nobody does, nothing runs.
 */
import { type ChangeBus, type ChangeEvent, memoryBus } from "mica-mcp";
import type { EventStore } from "./store.js";
import { dateAt, weekOf } from "./week.js";

/** The week that holds today: what it shows changes with its events, and on Monday at 00:00 UTC. */
export const THIS_WEEK_URI = "calendar://week";

/** A week has one URI per date. */
export function weekUri(date: string): string {
  return `${THIS_WEEK_URI}/${date}`;
}

export interface CalendarBus extends ChangeBus {
  /** Publishes what has been added since the last time, by any process. Call it after adding an event. Never throws. */
  publishNew(): void;
}

export interface CalendarBusOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds between looks at the file. Default 500. */
  readonly pollMs?: number | undefined;
  /** Told of a look that failed; the next one follows all the same. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export function calendarBus(store: EventStore, options: CalendarBusOptions): CalendarBus {
  const { now, pollMs = 500, onError = logToStderr } = options;
  const inner = memoryBus();
  let listeners = 0;
  let timer: NodeJS.Timeout | undefined;
  // Kept while nobody listens: what another process added meanwhile is published late rather than never.
  let seen = store.newest();
  let version = store.dataVersion();
  let monday = weekOf(dateAt(now())).monday;
  let failing = false;

  function findNew(): Set<string> {
    const today = weekOf(dateAt(now())).monday;
    const uris = new Set<string>();
    if (today !== monday) uris.add(THIS_WEEK_URI);
    monday = today;
    for (const { date, newest } of store.changedSince(seen)) {
      const week = weekOf(date);
      if (week.monday === today) uris.add(THIS_WEEK_URI);
      for (const day of week.dates) uris.add(weekUri(day));
      seen = Math.max(seen, newest);
    }
    return uris;
  }

  function publishNew(): void {
    try {
      for (const uri of findNew()) inner.publish({ kind: "resource", uri });
      failing = false;
    } catch (error) {
      if (!failing) onError(error);
      failing = true;
    }
  }

  function look(): void {
    try {
      const before = version;
      version = store.dataVersion();
      if (version !== before || failing || weekOf(dateAt(now())).monday !== monday) publishNew();
    } catch (error) {
      if (!failing) onError(error);
      failing = true;
    }
  }

  return {
    publish: inner.publish,
    publishNew,
    subscribe(listener: (event: ChangeEvent) => void) {
      const leave = inner.subscribe(listener);
      if (listeners++ === 0) {
        timer = setInterval(look, pollMs);
        timer.unref();
      }
      let left = false;
      return () => {
        if (left) return;
        left = true;
        leave();
        if (--listeners === 0) clearInterval(timer);
      };
    },
  };
}

function logToStderr(error: unknown): void {
  console.error("The calendar's file could not be read for changes; trying on:", error);
}
