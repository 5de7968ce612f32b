/** What one POST of an earlier client is answered with: one JSON document, or a stream that ends with the response. */
import type { AcceptedForms } from "../http/admit.js";
import { emptyAnswer } from "../http/answer.js";
import type { Outlet } from "../http/exchange.js";
import { sseEvent } from "../http/sse.js";
import { encodeMessage, isRequest, isResponse } from "../protocol/jsonrpc.js";
import type { AuthInfo } from "../transport.js";
import type { Channel } from "./open-request.js";

/** Somewhere to send documents, one after the other. */
export interface DocumentStream {
  send(data: string): void;
  end(): void;
}

export interface ReplyOptions {
  readonly outlet: Outlet;
  readonly forms: AcceptedForms;
  readonly auth: AuthInfo | undefined;
  readonly isBatch: boolean;
  /** Whether the client can answer what it is asked meanwhile. */
  readonly canAsk: boolean;
  /** Makes the stream, and opens it on the connection. Called once at most. */
  openStream(headers: Record<string, string>): DocumentStream;
}

export interface Reply {
  readonly channel: Channel;
  /** Streams from the start, so that a client whose connection breaks can come back for the response. */
  stream(): void;
  /** Everything that was posted is dealt with. */
  finish(headers?: Record<string, string>): void;
}

export function createReply(options: ReplyOptions): Reply {
  const { outlet, forms, auth, isBatch } = options;
  const responses: string[] = [];
  let stream: DocumentStream | undefined;

  function open(headers: Record<string, string> = {}): DocumentStream {
    stream = options.openStream(headers);
    for (const response of responses) stream.send(response);
    return stream;
  }

  return {
    channel: {
      auth,
      canAsk: options.canAsk && forms.stream,
      send(message) {
        const text = encodeMessage(message);
        if (stream !== undefined) stream.send(text);
        else if (isResponse(message)) responses.push(text);
        // A client that takes only JSON has given up its notifications, and is asked nothing.
        else if (forms.stream) open().send(text);
        else if (isRequest(message)) throw new Error(`${message.method} cannot be sent in a JSON document`);
      },
    },
    stream: () => void open(),
    finish(headers = {}) {
      if (stream !== undefined) stream.end();
      else if (responses.length === 0) outlet.answer(emptyAnswer(202, headers));
      else if (!forms.json) open(headers).end();
      else {
        const body = isBatch ? `[${responses.join(",")}]` : responses[0]!;
        outlet.answer({ status: 200, headers: { "content-type": "application/json", ...headers }, body });
      }
    },
  };
}

/** A stream without ids, which nobody can come back to. */
export function plainStream(outlet: Outlet, headers: Record<string, string>): DocumentStream {
  outlet.open(headers);
  return {
    send: (data) => outlet.event(sseEvent(data)),
    end: () => outlet.end(""),
  };
}
