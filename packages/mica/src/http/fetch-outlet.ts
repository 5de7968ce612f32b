/** Writing on web standards: one `Response` with a JSON document, or one whose body is an event stream. */
import { type Answer, corsHeaders, streamHeaders, withCors } from "./answer.js";
import type { Outlet } from "./exchange.js";
import type { HttpLimits } from "./limits.js";
import { KEEP_ALIVE } from "./sse.js";

export interface OutletOptions {
  readonly origin: string | undefined;
  readonly limits: HttpLimits;
  /** Called once, with the response to the request. */
  resolve(response: Response): void;
  /** Called once, when the response is complete or can no longer be. */
  onClose(): void;
}

export interface WebOutlet extends Outlet {
  /** The client is gone. */
  abandon(): void;
}

/** Makes the outlet of one request. */
export function createOutlet({ origin, limits, resolve, onClose }: OutletOptions): WebOutlet {
  const encoder = new TextEncoder();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;
  let closed = false;
  let wake: (() => void) | undefined;

  function close(): void {
    if (closed) return;
    closed = true;
    clearInterval(timer);
    wake?.();
    onClose();
  }

  function abandon(): void {
    if (closed) return;
    if (controller) controller.error(new DOMException("The client closed the connection", "AbortError"));
    // Nobody reads this, and yet the runtime waits for a response.
    else resolve(new Response(null, { status: 499 }));
    close();
  }

  function event(text: string): void {
    if (closed || !controller) return;
    // Judged by what waits already, so that one large message alone never ends a stream.
    if ((controller.desiredSize ?? 0) < 0) abandon();
    else controller.enqueue(encoder.encode(text));
  }

  return {
    document(status, json) {
      const headers = { "content-type": "application/json", ...corsHeaders(origin) };
      resolve(new Response(json, { status, headers }));
      close();
    },
    answer(answer) {
      resolve(responseOf(withCors(answer, origin)));
      close();
    },
    open(headers) {
      if (closed) return;
      const stream = new ReadableStream<Uint8Array>(
        {
          start(given) {
            controller = given;
          },
          pull: () => wake?.(),
          cancel: close,
        },
        { highWaterMark: limits.maxBufferedBytes, size: (chunk) => chunk.byteLength },
      );
      // One timer per stream: on Workers, a request may not write to the stream of another.
      timer = setInterval(() => event(KEEP_ALIVE), limits.keepAliveMs);
      (timer as { unref?: () => void }).unref?.();
      resolve(new Response(stream, { status: 200, headers: { ...streamHeaders(origin), ...headers } }));
    },
    event,
    ready() {
      if (closed || !controller || (controller.desiredSize ?? 0) > 0) return undefined;
      return new Promise((resolve) => {
        const wakeOthers = wake;
        wake = () => {
          wake = undefined;
          wakeOthers?.();
          resolve();
        };
      });
    },
    end(lastEvent) {
      if (closed) return;
      controller?.enqueue(encoder.encode(lastEvent));
      controller?.close();
      close();
    },
    abandon,
  };
}

/** An answer that needed no stream. */
export function responseOf({ status, headers, body }: Answer): Response {
  return new Response(body === "" ? null : body, { status, headers });
}
