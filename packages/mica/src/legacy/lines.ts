/** One session on lines (2025-11-25, basic/transports, stdio): the process is the session. */

import type { LegacyLimits } from "../legacy-options.js";
import { encodeMessage, errorResponse, isResponse } from "../protocol/jsonrpc.js";
import type { JSONRPCMessage } from "../protocol/types.js";
import type { RequestHandler } from "../transport.js";
import { receiveBatch, refuseBatch } from "./batch.js";
import { createLegacySession } from "./session.js";

/** Where lines leave. */
export interface LineOutlet {
  send(line: string): void;
  /** The same for a line that may be left out while the reader is behind. */
  offer(line: string, lossy: boolean): void;
}

export interface LegacyLines {
  receive(message: JSONRPCMessage): void;
  receiveBatch(values: readonly unknown[]): void;
  /** Resolves when no handler runs any more. */
  idle(): Promise<void>;
  /** The client has said its last word. */
  hangUp(): void;
  /** There is no time left: answers everything that is open with an error, and aborts it. */
  giveUp(): void;
  /** The client is gone: aborts everything and answers nothing. */
  abandon(): void;
}

export interface LegacyLinesOptions {
  readonly limits: LegacyLimits;
  /** Deepest nesting of a member of a batch, in levels. */
  readonly maxDepth: number;
  onProblem(text: string): void;
}

const LOSSY = new Set(["notifications/progress", "notifications/message"]);

export function legacyLines(
  handler: RequestHandler,
  outlet: LineOutlet,
  { limits, maxDepth, onProblem }: LegacyLinesOptions,
): LegacyLines {
  const session = createLegacySession({ handler, limits, send, onProblem, onNote: onProblem });
  const channel = { send, canAsk: true };

  function send(message: JSONRPCMessage): void {
    const line = encodeMessage(message);
    if ("method" in message && !("id" in message)) outlet.offer(line, LOSSY.has(message.method));
    else outlet.send(line);
  }

  /** "An array containing the corresponding response objects", once all of them are there (JSON-RPC 2.0, Batch). */
  async function answerBatch(values: readonly unknown[]): Promise<void> {
    await session.settled();
    const refusal = refuseBatch(values, session.revision, limits.maxBatch);
    if (refusal !== undefined) {
      send(errorResponse(undefined, refusal));
      return;
    }
    const responses: string[] = [];
    const collecting = {
      canAsk: true,
      send(message: JSONRPCMessage): void {
        if (isResponse(message)) responses.push(encodeMessage(message));
        else send(message);
      },
    };
    await receiveBatch(values, session, collecting, maxDepth);
    if (responses.length > 0) outlet.send(`[${responses.join(",")}]`);
  }

  // A batch is answered after the last of its handlers is done.
  const batches = new Set<Promise<void>>();

  return {
    receive: (message) => void session.receive(message, channel),
    receiveBatch(values) {
      const batch: Promise<void> = answerBatch(values).finally(() => batches.delete(batch));
      batches.add(batch);
    },
    async idle() {
      await session.idle();
      await Promise.all(batches);
    },
    hangUp: session.hangUp,
    giveUp: session.giveUp,
    abandon: session.close,
  };
}
