/**
 * Event streams of earlier revisions (2025-11-25, basic/transports, Resumability and Redelivery): events have ids,
 * and wait in a store for clients whose connection broke, or that do not read as fast as is written.
 */
import type { Outlet } from "../http/exchange.js";
import { KEEP_ALIVE } from "../http/sse.js";
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
  /** Ends the connection that is there. The stream goes on, and whoever connects next gets what came meanwhile. */
  hangUp(): void;
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
  /** Positions: the last event, the last that the store has, the last that was written to a connection. */
  let last = 0;
  let kept = 0;
  let written = 0;
  let outlet: Outlet | undefined;
  /** The connection that is being brought up to date. */
  let catchingUp: Outlet | undefined;
  let isOver = false;
  /** Appends under way, where the store takes its time. */
  let appending: Promise<void> | undefined;

  function write(to: Outlet, event: StoredEvent): void {
    written = event.position;
    to.event(eventText(id, event));
  }

  function append(event: StoredEvent): void | Promise<void> {
    try {
      const made = store.append(session, id, event);
      return made instanceof Promise ? made.catch(report) : undefined;
    } catch (error) {
      report(error);
    }
  }

  function deliver(event: StoredEvent): void {
    kept = event.position;
    if (outlet === undefined || catchingUp === outlet) return;
    if (written === event.position - 1 && outlet.ready() === undefined) write(outlet, event);
    else void catchUp(outlet);
  }

  /** Writes what the store has, as fast as the client reads, until nothing is left. */
  async function catchUp(to: Outlet): Promise<void> {
    catchingUp = to;
    try {
      while (outlet === to && written < kept) {
        const events = await store.after(session, id, written);
        if (outlet !== to) return;
        // What the store has forgotten is lost.
        if (events === undefined || events.length === 0) written = kept;
        for (const event of events ?? []) {
          await to.ready();
          if (outlet !== to) return;
          if (event.position > written) write(to, event);
        }
      }
    } catch (error) {
      report(error);
      written = kept;
    } finally {
      if (catchingUp === to) catchingUp = undefined;
    }
    if (isOver && outlet === to) hangUp();
  }

  function hangUp(): void {
    const connected = outlet;
    outlet = undefined;
    connected?.end("");
  }

  function finish(): void {
    if (written === last) hangUp();
    onOver();
  }

  function report(error: unknown): void {
    onProblem(`the event store failed: ${String(error)}`);
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
      const made = append(event);
      if (made === undefined && appending === undefined) {
        deliver(event);
        return;
      }
      const turn: Promise<void> = Promise.all([appending, made]).then(() => {
        if (appending === turn) appending = undefined;
        deliver(event);
      });
      appending = turn;
    },
    connect(next, position = written, headers) {
      hangUp();
      outlet = next;
      undelivered.clear();
      written = Math.min(position, last);
      next.open(headers);
      // Something has to be written, or the client would not even see that the stream is open.
      next.event(primed ? `id: ${eventId(id, written)}\ndata: \n\n` : KEEP_ALIVE);
      if (written < kept || isOver) void catchUp(next);
    },
    disconnect(closed) {
      if (outlet === closed) outlet = undefined;
    },
    hangUp,
    end() {
      if (isOver) return;
      isOver = true;
      if (appending === undefined) finish();
      else void appending.then(finish);
    },
  };
}
