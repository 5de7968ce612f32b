/** The stream that answers one request: read to its response, over as many connections as it takes. */
import type { IncomingMessage } from "node:http";
import { HttpStatusError } from "../../http/status-error.js";
import { McpError } from "../../protocol/errors.js";
import { isResponse } from "../../protocol/jsonrpc.js";
import type { JSONRPCRequest } from "../../protocol/types.js";
import type { Hold } from "./clocks.js";
import {
  brokenOff,
  type HttpClient,
  isEventStream,
  readBody,
  readEvents,
  statusError,
} from "./http-client.js";
import { deliver } from "./messages.js";
import { pause } from "./waiting.js";
import type { WireReceiver } from "./wire.js";

/** Milliseconds before a stream is taken up again, where the server does not say. */
export const RETRY_MS = 1_000;
/** The longest time that a server may have a client wait, in milliseconds. */
export const MAX_RETRY_MS = 60_000;
/** Attempts in a row at a stream that cannot even be asked for. */
export const MAX_ATTEMPTS = 5;

/** What was heard of a stream, by which it can be taken up again. */
export interface StreamPosition {
  lastId: string | undefined;
  retryMs: number;
}

export function trackPosition(position: StreamPosition) {
  return {
    onId(id: string) {
      position.lastId = id === "" ? undefined : id;
    },
    // "The client MUST respect the `retry` field."
    onRetry(ms: number) {
      position.retryMs = Math.min(ms, MAX_RETRY_MS);
    },
  };
}

/** The header that takes a stream up again, as the bytes of UTF-8. */
export function lastEventId({ lastId }: StreamPosition): Record<string, string> {
  return lastId === undefined ? {} : { "last-event-id": Buffer.from(lastId).toString("latin1") };
}

export interface RequestStream {
  readonly http: HttpClient;
  readonly request: JSONRPCRequest;
  readonly receiver: WireReceiver;
  /** Aborts when the request is of no interest any more. */
  readonly signal: AbortSignal;
  /** Stops the clock of whoever waits for it, while a person signs in. */
  readonly hold?: Hold | undefined;
  /** The headers of a GET that takes the stream up again. */
  headers(): Record<string, string>;
}

/**
 * Delivers what one connection after the other brings, up to the response.
 *
 * @throws McpError `connection_lost` where the stream has ended without one, and cannot be taken up.
 */
export async function followStream(first: IncomingMessage, stream: RequestStream): Promise<void> {
  const { http, request, signal } = stream;
  const answer = noticeAnswer(request, stream.receiver);
  const position: StreamPosition = { lastId: undefined, retryMs: RETRY_MS };
  let failures = 0;
  for (let incoming: IncomingMessage | undefined = first; ; ) {
    if (incoming) {
      failures = 0;
      const connection: IncomingMessage = incoming;
      await readEvents(
        connection,
        http,
        ({ event, data }) => {
          if (event !== "message" || data === "" || answer.came) return;
          deliver(data, answer.receiver, http.endpoint, request.id, http.limits.maxDepth);
          if (answer.came) connection.destroy();
        },
        trackPosition(position),
      );
    }
    signal.throwIfAborted();
    if (answer.came) return;
    // "Disconnection SHOULD NOT be interpreted as the client cancelling its request."
    if (position.lastId === undefined || failures >= MAX_ATTEMPTS) {
      throw brokenOff(`${http.endpoint} (${request.method})`);
    }
    await pause(position.retryMs, signal);
    try {
      incoming = await takeUp(stream, position);
    } catch (error) {
      if (!(error instanceof McpError) || error.cause instanceof HttpStatusError) throw error;
      incoming = undefined;
      failures += 1;
    }
  }
}

async function takeUp(
  { http, request, signal, hold, headers }: RequestStream,
  position: StreamPosition,
): Promise<IncomingMessage> {
  const incoming = await http.send({
    method: "GET",
    headers: { ...headers(), ...lastEventId(position) },
    signal,
    hold,
    repeatable: true,
  });
  if (isEventStream(incoming)) return incoming;
  const { message, cause } = statusError(incoming, http.endpoint, await readBody(incoming, http));
  const why = `The answer to ${request.method} broke off and cannot be taken up again: ${message}`;
  throw new McpError("connection_lost", why, { cause });
}

/** A receiver that notices the response to one request, and what was meant as one. */
export function noticeAnswer({ id }: JSONRPCRequest, receiver: WireReceiver) {
  const noticed = {
    came: false,
    receiver: {
      ...receiver,
      message(message, about) {
        if (isResponse(message) && (message.id === undefined || message.id === id)) noticed.came = true;
        return receiver.message(message, about);
      },
      unreadable(about, error) {
        if (about === id) noticed.came = true;
        return receiver.unreadable(about, error);
      },
    } satisfies WireReceiver as WireReceiver,
  };
  return noticed;
}
