/** GET: the standing stream of a session, or one whose connection broke (2025-11-25, basic/transports). */
import { refuse } from "../http/answer.js";
import type { EventStore } from "./event-store.js";
import { readEventId } from "./event-stream.js";
import type { LegacyCall } from "./http.js";
import type { HttpSession } from "./http-sessions.js";
import { replayFinished } from "./replay.js";

/**
 * @param leave to be called when the connection is closed
 * @returns what is to be called then in its place
 */
export function listen(
  { header, outlet, forms }: LegacyCall,
  session: HttpSession,
  store: EventStore,
  leave: () => void,
  onProblem: (text: string) => void,
): () => void {
  const stop = (status: number, why: string): (() => void) => {
    outlet.answer(refuse(status, why));
    return leave;
  };
  if (!forms.stream) return stop(406, "accept must list text/event-stream");
  const lastEventId = header("last-event-id");
  const from = lastEventId === undefined ? undefined : readEventId(lastEventId);
  if (lastEventId !== undefined && from === undefined) {
    return stop(400, `Last-Event-ID ${JSON.stringify(lastEventId)} is not one of this server's`);
  }
  if (from === undefined && session.standing.isConnected) {
    return stop(409, "This session has a stream open already: end it, or resume it by Last-Event-ID");
  }
  const stream = from === undefined ? session.standing : session.streams.get(from.stream);
  if (stream !== undefined) {
    stream.connect(outlet, from?.position);
    return () => {
      stream.disconnect(outlet);
      leave();
    };
  }
  let isGone = false;
  void replayFinished({ session: session.id, ...from! }, store, outlet, () => isGone, onProblem);
  return () => {
    isGone = true;
    leave();
  };
}
