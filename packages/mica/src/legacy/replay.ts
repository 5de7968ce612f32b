/** A stream that has ended, for a client that comes back for the rest of it (2025-11-25, basic/transports). */
import { emptyAnswer, refuse } from "../http/answer.js";
import type { Outlet } from "../http/exchange.js";
import type { EventStore } from "./event-store.js";
import { eventText } from "./event-stream.js";

export interface Finished {
  readonly session: string;
  readonly stream: string;
  /** The last event that the client has. */
  readonly position: number;
}

/**
 * Answers with what is kept of a stream, as fast as the client reads, and ends.
 *
 * @param isGone whether the client has left meanwhile
 */
export async function replayFinished(
  { session, stream, position }: Finished,
  store: EventStore,
  outlet: Outlet,
  isGone: () => boolean,
  onProblem: (text: string) => void,
): Promise<void> {
  let isOpen = false;
  try {
    let events = await store.after(session, stream, position);
    if (events === undefined) {
      outlet.answer(refuse(400, "Nothing is kept any more of the stream that Last-Event-ID names"));
      return;
    }
    if (events.length === 0) {
      // A stream without an event would only be asked for again: this is how Server-Sent Events say that there is no more.
      outlet.answer(emptyAnswer(204));
      return;
    }
    outlet.open();
    isOpen = true;
    while (events !== undefined && events.length > 0) {
      let last = position;
      for (const event of events) {
        await outlet.ready();
        if (isGone()) return;
        outlet.event(eventText(stream, event));
        last = event.position;
      }
      events = await store.after(session, stream, last);
    }
  } catch (error) {
    onProblem(`the event store failed: ${String(error)}`);
    if (!isOpen) outlet.answer(refuse(500, "The stream cannot be resumed"));
  }
  if (isOpen) outlet.end("");
}
