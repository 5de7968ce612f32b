/** One request being served over lines: what its handler gets. */
import { McpError } from "../protocol/errors.js";
import { encodeMessage } from "../protocol/jsonrpc.js";
import type { JSONRPCRequest } from "../protocol/types.js";
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
  let ended = false;
  let controller: AbortController | undefined;
  let aborted: McpError | undefined;
  return {
    request,
    notify(notification) {
      if (ended) return;
      const { method } = notification;
      try {
        const lossy = method === "notifications/progress" || method === "notifications/message";
        outbox.offer(encodeMessage(notification), lossy);
      } catch (error) {
        onProblem(`${method} of request ${JSON.stringify(request.id)} could not be sent: ${describe(error)}`);
      }
    },
    get signal() {
      controller ??= new AbortController();
      if (aborted) controller.abort(aborted);
      return controller.signal;
    },
    end() {
      ended = true;
    },
    abort(message) {
      aborted = new McpError("aborted", message);
      controller?.abort(aborted);
    },
  };
}

/** An error for the log: with its stack, where it has one. */
export function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
