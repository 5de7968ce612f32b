/** The stream for what a server sends by itself (2025-11-25, basic/transports, Listening for Messages from the Server). */
import type { IncomingMessage } from "node:http";
import { McpError } from "../../protocol/errors.js";
import type { JSONRPCRequest } from "../../protocol/types.js";
import { type HttpClient, isEventStream, readEvents, statusError } from "./http-client.js";
import { deliver } from "./messages.js";
import {
  lastEventId,
  MAX_ATTEMPTS,
  MAX_RETRY_MS,
  RETRY_MS,
  type StreamPosition,
  trackPosition,
} from "./request-stream.js";
import { pause } from "./waiting.js";
import type { WireReceiver } from "./wire.js";

export interface ServerStream {
  /** Resolves when the stream is open, or the server has said that it has none. Tries again where it was given up. */
  opened(): Promise<void>;
  close(): void;
}

export function openServerStream(
  http: HttpClient,
  headers: () => Record<string, string>,
  receiver: WireReceiver,
): ServerStream {
  const { endpoint } = http;
  const closing = new AbortController();
  const { signal } = closing;
  let opened: Promise<void> | undefined;

  /** @returns Undefined where the server offers no such stream. */
  async function connect(position: StreamPosition): Promise<IncomingMessage | undefined> {
    const incoming = await http.send({
      method: "GET",
      headers: { ...headers(), ...lastEventId(position) },
      signal,
      repeatable: true,
    });
    if (isEventStream(incoming)) return incoming;
    incoming.resume();
    const { statusCode = 0 } = incoming;
    // Only 405 says so by the book; others are as good.
    if (statusCode < 500 && statusCode !== 401 && statusCode !== 408 && statusCode !== 429) return undefined;
    throw statusError(incoming, `${endpoint} (GET)`, "");
  }

  /** Tries until it works or has failed too often. */
  async function connectAgain(position: StreamPosition): Promise<IncomingMessage | undefined> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await connect(position);
      } catch (error) {
        if (signal.aborted || attempt >= MAX_ATTEMPTS) throw error;
        await pause(Math.min(position.retryMs * 2 ** (attempt - 1), MAX_RETRY_MS), signal);
      }
    }
  }

  async function keepOpen(settle: () => void, fail: (error: unknown) => void): Promise<void> {
    const position: StreamPosition = { lastId: undefined, retryMs: RETRY_MS };
    try {
      let incoming = await connectAgain(position);
      settle();
      while (incoming !== undefined) {
        await readEvents(
          incoming,
          http,
          ({ event, data }) => {
            if (event === "message" && data !== "")
              deliver(data, receiver, endpoint, undefined, http.limits.maxDepth);
          },
          trackPosition(position),
        );
        if (signal.aborted) return;
        const isResumable = position.lastId !== undefined;
        if (!isResumable) receiver.missed(brokenOff);
        opened = new Promise((resolve, reject) => {
          settle = resolve;
          fail = reject;
        });
        opened.catch(() => {});
        await pause(position.retryMs, signal);
        incoming = await connectAgain(position);
        settle();
        // It was there: a server that has none any more has forgotten the session.
        if (incoming === undefined) receiver.missed(brokenOff);
      }
    } catch (error) {
      opened = undefined;
      fail(error);
      if (!signal.aborted) receiver.missed(brokenOff);
    }
  }

  function brokenOff({ method }: JSONRPCRequest): McpError {
    return new McpError("connection_lost", `${method}: the stream of ${endpoint} was lost`);
  }

  function open(): Promise<void> {
    const first = new Promise<void>((resolve, reject) => void keepOpen(resolve, reject));
    first.catch(() => {});
    return first;
  }

  opened = open();
  return {
    opened() {
      opened ??= open();
      return opened;
    },
    close: () => closing.abort(new McpError("closed", `The connection to ${endpoint} is closed`)),
  };
}
