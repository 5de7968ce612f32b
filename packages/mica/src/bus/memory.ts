/** The bus of one process: listeners are called at once, in the order they came. */
import type { ChangeBus, ChangeEvent } from "./bus.js";

/** @example const server = createServer({ name: "a", version: "1.0.0", bus: memoryBus() }); */
export function memoryBus(): ChangeBus {
  const listeners = new Set<(event: ChangeEvent) => void>();
  return {
    publish(event) {
      for (const listener of [...listeners]) listener(event);
    },
    subscribe(listener) {
      // A function of its own, so that one listener given twice is two subscriptions.
      const own = (event: ChangeEvent) => listener(event);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
}
