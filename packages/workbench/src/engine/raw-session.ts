/** A session by hand: texts in, the wire out. */

import { createAnswerWaiter } from "./await-answers.js";
import { pause } from "./pause.js";
import { completeMessage, type RawState } from "./raw-message.js";
import type { Target } from "./target.js";
import { openWire, type WireEvent } from "./wire.js";

export interface RawSettings {
  readonly signal: AbortSignal;
  readonly onEvent: (event: WireEvent) => void;
  /** Whether texts are sent as they are. */
  readonly asIs: boolean;
  /** Milliseconds for one answer. */
  readonly timeoutMs: number;
  /** Whether a handshake comes first (revisions before 2026-07-28). */
  readonly greets: boolean;
}

export interface RawSession {
  /**
   * Sends what was typed. Resolves when it is sent.
   *
   * @returns When it was answered, or will not be; false where the time is over.
   * @throws UsageError where it is no message; nothing was sent then.
   */
  send(typed: string): Promise<boolean>;
  /** Whether everything that was asked is answered, after as much time as one answer has. */
  finished(): Promise<boolean>;
  /** Whether the server is gone, or did not let something in. */
  readonly failure: string | undefined;
  close(): Promise<void>;
}

/** Milliseconds between two looks for answers that are due. */
const LOOK_MS = 20;

export async function openRaw(target: Target, settings: RawSettings): Promise<RawSession> {
  const { signal, asIs, timeoutMs, greets } = settings;
  const waiter = createAnswerWaiter();
  const state: RawState = { method: undefined, nextId: 1, isEarlier: false };
  let failure: string | undefined;
  const wire = await openWire(target, {
    signal,
    onEvent(event) {
      if (event.kind === "failed") failure = event.message;
      settings.onEvent(event);
      waiter.observe(event);
    },
  });
  const session: RawSession = {
    get failure() {
      return failure;
    },
    send(typed) {
      const text = asIs ? typed : completeMessage(typed, state);
      const delivery = wire.send(text);
      const settled = waiter.settled(text, delivery, timeoutMs);
      // Over HTTP the end of the delivery is the end of the answer, whatever it was.
      return wire.kind === "http" ? Promise.race([settled, delivery.then(() => true)]) : settled;
    },
    async finished() {
      const until = performance.now() + timeoutMs;
      while (waiter.unanswered.length > 0 && failure === undefined && !signal.aborted) {
        if (performance.now() > until) return false;
        await pause(LOOK_MS);
      }
      return true;
    },
    close: wire.close,
  };
  if (greets && !asIs) {
    await session.send("initialize");
    await session.send("notifications/initialized");
  }
  return session;
}
