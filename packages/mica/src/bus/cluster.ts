/** Changes over the messages of node:cluster: what one process publishes, every other hears once. */
import type { ChangeBus, ChangeEvent } from "./bus.js";

/** A change under way between processes. */
export interface ChangeMessage {
  readonly mica: "change";
  readonly event: ChangeEvent;
}

export interface Relay {
  /** Publishes what another process has sent, here and nowhere else. */
  receive(message: ChangeMessage): void;
  stop(): void;
}

/** Sends what is published on `bus` to the other processes. */
export function relayChanges(bus: ChangeBus, send: (message: ChangeMessage) => void): Relay {
  let received: ChangeEvent | undefined;
  const stop = bus.subscribe((event) => {
    if (event !== received) send({ mica: "change", event });
  });
  return {
    receive({ event }) {
      received = event;
      bus.publish(event);
      received = undefined;
    },
    stop,
  };
}

export function isChangeMessage(message: unknown): message is ChangeMessage {
  return typeof message === "object" && message !== null && (message as ChangeMessage).mica === "change";
}
