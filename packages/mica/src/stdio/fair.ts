/** Reading a stream without starving everything else: whoever floods it must not keep timers and signals from running. */
import type { Readable } from "node:stream";

/** Milliseconds of work on one chunk after which others get a turn. */
const TURN_MS = 5;

/** A listener for `data` events that lets the event loop go round after every chunk that took long. `mayGoOn`: whether to read on then. */
export function fairly(
  stream: Readable,
  feed: (chunk: Buffer) => void,
  mayGoOn: () => boolean = () => true,
): (chunk: Buffer) => void {
  return (chunk) => {
    const began = process.hrtime();
    feed(chunk);
    if (millisecondsSince(began) < TURN_MS || stream.isPaused()) return;
    stream.pause();
    setImmediate(() => {
      if (mayGoOn()) stream.resume();
    });
  };
}

/** Not by `performance`, which Node loads at first use: a millisecond of every start. */
function millisecondsSince(began: [number, number]): number {
  const [seconds, nanoseconds] = process.hrtime(began);
  return seconds * 1e3 + nanoseconds / 1e6;
}
