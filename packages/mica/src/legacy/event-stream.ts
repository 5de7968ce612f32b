/**
 * Event streams of earlier revisions (2025-11-25, basic/transports, Resumability and Redelivery): events have ids,
 * and wait in a store for clients whose connection broke.
 */
import type { Outlet } from "../http/exchange.js";
import type { EventStore, StoredEvent } from "./event-store.js";

export interface EventStream {
  readonly id: string;
  /** Whether a client reads it now. */
  readonly isConnected: boolean;
  /** Sends one JSON document, now or when somebody connects. */
  send(data: string): void;
  /**
   * Delivers to a connection from now on, beginning with what came behind `position`; without it, with what no
   * connection has had yet. A connection that was there before is ended.
   */
  connect(outlet: Outlet, position?: number, headers?: Record<string, string>): void;
  /** The connection is closed. The stream goes on. */
  disconnect(outlet: Outlet): void;
  /** Nothing more will be sent. */
  end(): void;
}

export interface EventStreamOptions {
  readonly id: string;
  readonly session: string;
  readonly store: EventStore;
  /** Whether clients take an event without data, as the first. */
  readonly primed: boolean;
  /** Whether a document that waits to be delivered need not be sent again. Only for few distinct ones: all are held. */
  readonly coalesces?: boolean;
  /** Called once it has ended and everything is kept. */
  onOver(): void;
  onProblem(text: string): void;
}

/** The id of an event says where in which stream it stands. */
export function eventId(stream: string, position: number): string {
  return `${stream}-${position}`;
}

/** Reads an id that {@link eventId} made; undefined for any other text. */
export function readEventId(id: string): { stream: string; position: number } | undefined {
  const found = /^([0-9a-z]{1,12})-(0|[1-9]\d{0,14})$/.exec(id);
  return found === null ? undefined : { stream: found[1]!, position: Number(found[2]) };
}

/** One event as it is written. */
export function eventText(stream: string, { position, data }: StoredEvent): string {
  return `id: ${eventId(stream, position)}\nevent: message\ndata: ${data}\n\n`;
}

export function createEventStream(options: EventStreamOptions): EventStream {
  const { id, session, store, primed, coalesces = false, onOver, onProblem } = options;
  const undelivered = new Set<string>();
  let last = 0;
  // The last event that was written to a connection.
  let written = 0;
  let outlet: Outlet | undefined;
  let isOver = false;
  /** What has to happen first, where the store takes its time. */
  let waiting: Promise<void> | undefined;

  function write(event: StoredEvent): void {
    if (outlet === undefined || event.position <= written) return;
    written = event.position;
    outlet.event(eventText(id, event));
  }

  function whenReady(kept: void | Promise<void>, action: () => void): void {
    if (waiting === undefined && !(kept instanceof Promise)) {
      action();
      return;
    }
    const turn: Promise<void> = Promise.all([waiting, kept]).then(
      () => action(),
      (error: unknown) => onProblem(`the event store failed: ${String(error)}`),
    );
    waiting = turn;
    void turn.then(() => {
      if (waiting === turn) waiting = undefined;
    });
  }

  function guarded<Value>(ask: () => Value): Value | undefined {
    try {
      return ask();
    } catch (error) {
      onProblem(`the event store failed: ${String(error)}`);
      return undefined;
    }
  }

  function hangUp(): void {
    const connected = outlet;
    outlet = undefined;
    connected?.end("");
  }

  return {
    id,
    get isConnected() {
      return outlet !== undefined;
    },
    send(data) {
      if (isOver) return;
      if (coalesces && outlet === undefined) {
        if (undelivered.has(data)) return;
        undelivered.add(data);
      }
      const event = { position: ++last, data };
      const kept = guarded(() => store.append(session, id, event));
      // A store that fails must not hold back what a connected client could have.
      whenReady(kept instanceof Promise ? kept.catch(report) : undefined, () => write(event));
    },
    connect(next, position = written, headers) {
      hangUp();
      outlet = next;
      undelivered.clear();
      written = Math.min(position, last);
      next.open(headers);
      if (primed) next.event(`id: ${eventId(id, written)}\ndata: \n\n`);
      if (written < last) replay(next);
      if (isOver) whenReady(undefined, hangUp);
    },
    disconnect(closed) {
      if (outlet === closed) outlet = undefined;
    },
    end() {
      if (isOver) return;
      isOver = true;
      whenReady(undefined, () => {
        hangUp();
        onOver();
      });
    },
  };

  function replay(to: Outlet): void {
    const kept = guarded(() => store.after(session, id, written));
    const writeAll = (events: readonly StoredEvent[] | undefined): void => {
      if (outlet === to) for (const event of events ?? []) write(event);
    };
    if (kept instanceof Promise) whenReady(kept.then(writeAll).catch(report), () => {});
    else writeAll(kept);
  }

  function report(error: unknown): void {
    onProblem(`the event store failed: ${String(error)}`);
  }
}
