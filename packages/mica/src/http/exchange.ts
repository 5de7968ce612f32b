/** One exchange over HTTP: a JSON document, unless a notification comes first and opens an event stream. */
import { ErrorCode } from "../protocol/errors.js";
import { encodeMessage, errorResponse } from "../protocol/jsonrpc.js";
import type { JSONRPCNotification, JSONRPCRequest, JSONRPCResponse } from "../protocol/types.js";
import type { AuthInfo, RequestHandler, ServerExchange } from "../transport.js";
import type { AcceptedForms } from "./admit.js";
import { type Answer, statusOf } from "./answer.js";
import { sseEvent } from "./sse.js";

/** Where an exchange writes: `document` or `answer` once; or `open`, any number of `event`, and `end`. */
export interface Outlet {
  document(status: number, json: string): void;
  answer(answer: Answer): void;
  open(headers?: Record<string, string>): void;
  event(event: string): void;
  /** Undefined while the reader keeps up, else resolves once it has caught up, or is gone. */
  ready(): Promise<void> | undefined;
  end(lastEvent: string): void;
}

/** A class, so that a request costs one object and its getter is compiled once. */
export class HttpExchange implements ServerExchange {
  /** Set before the request is served, where the server is protected. */
  auth: AuthInfo | undefined;
  /** Set anew before the request is served, where they are read only once the caller is known. */
  forms: AcceptedForms;
  private readonly outlet: Outlet;
  private streaming = false;
  private over = false;
  private gone = false;
  private controller: AbortController | undefined;

  constructor(outlet: Outlet, forms: AcceptedForms) {
    this.outlet = outlet;
    this.forms = forms;
  }

  get signal(): AbortSignal {
    if (!this.controller) {
      this.controller = new AbortController();
      if (this.gone) this.controller.abort(callerGone());
    }
    return this.controller.signal;
  }

  notify(notification: JSONRPCNotification): void {
    if (this.over) return;
    // A client that takes only JSON has given up its notifications.
    if (!this.streaming && !this.forms.stream) return;
    const json = encode(notification);
    if (json === undefined) return;
    if (!this.streaming) this.open();
    this.outlet.event(sseEvent(json));
  }

  /** Sends the response, which ends the exchange. Does nothing once the caller is gone. */
  respond(request: JSONRPCRequest, response: JSONRPCResponse): void {
    if (this.over) return;
    this.over = true;
    const json = encode(response) ?? encodeMessage(internalError(request));
    if (!this.streaming) {
      const status = statusOf(request, response);
      if (this.forms.json || status !== 200) {
        this.outlet.document(status, json);
        return;
      }
      this.open();
    }
    this.outlet.end(sseEvent(json));
  }

  /** The caller is gone: closing the stream is what cancels (Cancellation). Does nothing after the response. */
  abort(): void {
    if (this.over) return;
    this.over = true;
    this.gone = true;
    this.controller?.abort(callerGone());
  }

  private open(): void {
    this.streaming = true;
    this.outlet.open();
  }
}

/** Has a request handled, and its response sent. */
export function serve(request: JSONRPCRequest, exchange: HttpExchange, handler: RequestHandler): void {
  const respond = (response: JSONRPCResponse) => exchange.respond(request, response);
  // Against the handler's contract, and yet the caller must not wait for ever.
  const fail = () => respond(internalError(request));
  try {
    const answer = handler.handle(request, exchange);
    if (answer instanceof Promise) answer.then(respond, fail);
    else respond(answer);
  } catch {
    fail();
  }
}

/** Undefined, and a line on stderr, where an author's value has no JSON: a BigInt, a cycle. */
function encode(message: JSONRPCNotification | JSONRPCResponse): string | undefined {
  try {
    return encodeMessage(message);
  } catch (error) {
    console.error(`${"method" in message ? message.method : "A response"} cannot be encoded as JSON:`, error);
    return undefined;
  }
}

function internalError(request: JSONRPCRequest): JSONRPCResponse {
  return errorResponse(request.id, { code: ErrorCode.InternalError, message: "Internal error" });
}

function callerGone(): DOMException {
  return new DOMException("The client closed the connection", "AbortError");
}
