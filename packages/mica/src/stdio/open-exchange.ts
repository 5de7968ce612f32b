/** One request being served over lines: what its handler gets. */
import { McpError } from "../protocol/errors.js";
import { encodeMessage } from "../protocol/jsonrpc.js";
import type { JSONRPCNotification, JSONRPCRequest } from "../protocol/types.js";
import type { ServerExchange } from "../transport.js";
import type { Outbox } from "./outbox.js";

/** A request that has neither been answered nor cancelled. */
export interface OpenExchange extends ServerExchange {
  readonly request: JSONRPCRequest;
  /** Nothing is sent for it any more. */
  end(): void;
  abort(message: string): void;
}

export function openExchange(
  request: JSONRPCRequest,
  outbox: Outbox,
  onProblem: (text: string) => void,
): OpenExchange {
  return new LineExchange(request, outbox, onProblem);
}

/** A class, so that a request costs one object. */
class LineExchange implements OpenExchange {
  readonly request: JSONRPCRequest;
  readonly #outbox: Outbox;
  readonly #onProblem: (text: string) => void;
  #ended = false;
  #controller: AbortController | undefined;
  #aborted: McpError | undefined;

  constructor(request: JSONRPCRequest, outbox: Outbox, onProblem: (text: string) => void) {
    this.request = request;
    this.#outbox = outbox;
    this.#onProblem = onProblem;
  }

  notify(notification: JSONRPCNotification): void {
    if (this.#ended) return;
    const { method } = notification;
    try {
      const lossy = method === "notifications/progress" || method === "notifications/message";
      this.#outbox.offer(encodeMessage(notification), lossy);
    } catch (error) {
      const of = `${method} of request ${JSON.stringify(this.request.id)}`;
      this.#onProblem(`${of} could not be sent: ${describe(error)}`);
    }
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted) this.#controller.abort(this.#aborted);
    return this.#controller.signal;
  }

  end(): void {
    this.#ended = true;
  }

  abort(message: string): void {
    this.#aborted = new McpError("aborted", message);
    this.#controller?.abort(this.#aborted);
  }
}

/** An error for the log: with its stack, where it has one. */
export function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
