/**
 * Lines on their way out. What becomes ready in one turn of the event loop leaves in few writes, each of half as many
 * lines again as the one before: the first line at once, so that its reader is at work while the others are made.
 * While the reader is behind, lines wait here and `stalled` says so.
 */
import type { Writable } from "node:stream";

/** Bytes that the stream may hold before lines wait here instead: enough to keep a fast reader busy. */
const STREAM_BYTES = 1024 * 1024;

export interface OutboxOptions {
  /** Writes to the stream; given where `stream.write` itself has been taken over. Default: `stream.write`. */
  readonly write?: (text: string, done?: () => void) => boolean;
  /** Characters that may wait before {@link Outbox.offer} leaves lines out. Default: no bound. */
  readonly maxQueuedChars?: number;
  /** Called when the reader falls behind, and when it has caught up. */
  readonly onStalled?: (stalled: boolean) => void;
}

export interface Outbox {
  /** Queues one line. Its newline is added here. */
  send(line: string): void;
  /**
   * Queues a line that may be left out while the reader is behind: when an equal one waits already, or,
   * if it is `lossy`, when `maxQueuedChars` are waiting.
   */
  offer(line: string, lossy: boolean): void;
  /** Resolves when everything has been handed to the operating system, or can no longer be. */
  flushed(): Promise<void>;
  /** Drops what waits, and everything that is sent afterwards. */
  discard(): void;
}

export function createOutbox(stream: Writable, options: OutboxOptions = {}): Outbox {
  const write = options.write ?? ((text: string, done?: () => void) => stream.write(text, done));
  const maxQueuedChars = options.maxQueuedChars ?? Number.POSITIVE_INFINITY;
  let queue: string[] = [];
  let queuedChars = 0;
  let scheduled = false;
  /** Lines of the next write of this turn. */
  let batch = 1;
  let stalled = false;
  let discarded = false;
  /** Lines offered while the reader is behind. */
  const waiting = new Set<string>();
  const leaving = new Set<() => void>();

  function send(line: string): void {
    if (discarded) return;
    queue.push(line);
    queuedChars += line.length;
    if (stalled) return;
    if (!scheduled) {
      scheduled = true;
      // Runs when the promises of this turn have settled.
      process.nextTick(endTurn);
    }
    if (queue.length < batch) return;
    batch = Math.ceil(batch * 1.5);
    flush();
  }

  function endTurn(): void {
    scheduled = false;
    batch = 1;
    flush();
  }

  function flush(): void {
    if (stalled || queue.length === 0) return;
    const text = queue.length === 1 ? `${queue[0]}\n` : `${queue.join("\n")}\n`;
    queue = [];
    queuedChars = 0;
    if (write(text) || stream.writableLength < STREAM_BYTES || discarded) return;
    stalled = true;
    stream.once("drain", caughtUp);
    options.onStalled?.(true);
  }

  function caughtUp(): void {
    stalled = false;
    waiting.clear();
    options.onStalled?.(false);
    flush();
  }

  return {
    send,
    offer(line, lossy) {
      if (stalled) {
        if (waiting.has(line) || (lossy && queuedChars + line.length > maxQueuedChars)) return;
        waiting.add(line);
      }
      send(line);
    },
    flushed() {
      return new Promise<void>((resolve) => {
        if (discarded) return resolve();
        leaving.add(resolve);
        const last = () => {
          flush();
          if (stalled) stream.once("drain", last);
          else write("", () => resolve());
        };
        last();
      });
    },
    discard() {
      discarded = true;
      queue = [];
      queuedChars = 0;
      waiting.clear();
      stream.off("drain", caughtUp);
      for (const resolve of leaving) resolve();
      leaving.clear();
    },
  };
}
