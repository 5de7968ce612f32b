/** The clocks of those who wait, which stand still while a person is busy signing in (authorization, Error Handling). */
import type { ClientExchangeOptions } from "../../transport.js";

/** Stops a clock; what it returns starts it again. */
export type Hold = NonNullable<ClientExchangeOptions["hold"]>;

export interface Clocks {
  /** Somebody waits, by a clock that this stops. The result says that they wait no more. */
  join(hold: Hold | undefined): () => void;
  /** Stops the clocks of all who wait, and of whoever joins them meanwhile. */
  readonly hold: Hold;
}

export function createClocks(): Clocks {
  const waiting = new Map<Hold, (() => void) | undefined>();
  let holds = 0;

  return {
    join(given) {
      if (given === undefined) return () => {};
      // Another one for each, so that one clock can wait twice.
      const hold: Hold = () => given();
      waiting.set(hold, holds > 0 ? hold() : undefined);
      return () => {
        waiting.get(hold)?.();
        waiting.delete(hold);
      };
    },
    hold() {
      holds++;
      if (holds === 1) for (const hold of waiting.keys()) waiting.set(hold, hold());
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        if (--holds > 0) return;
        for (const [hold, release] of waiting) {
          waiting.set(hold, undefined);
          release?.();
        }
      };
    },
  };
}

/** A timer that runs out once, and begins anew after it was stopped. */
export function createTimer(ms: number, expire: () => void): { readonly hold: Hold; clear(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const start = (): void => {
    if (!isOver && ms <= LONGEST_TIMER) timer = setTimeout(expire, ms);
  };
  start();
  return {
    hold() {
      clearTimeout(timer);
      return start;
    },
    clear() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

/** Longest delay of a timer, in milliseconds; anything longer is no timeout at all. */
const LONGEST_TIMER = 2_147_483_647;
