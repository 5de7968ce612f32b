/** One request of an initialize-era client while it is being worked on: what the server seam sees of it. */
import { ErrorCode, McpError } from "../protocol/errors.js";
import { errorResponse } from "../protocol/jsonrpc.js";
import type { JSONRPCMessage, JSONRPCRequest, JSONRPCResponse } from "../protocol/types.js";
import type { AuthInfo, ServerExchange } from "../transport.js";
import type { Revision } from "./versions.js";

/** Where messages go that belong to one message of the client. */
export interface Channel {
  /** Sends a message, or drops it where nobody is there to read. Throws where it has no JSON. */
  send(message: JSONRPCMessage): void;
  /** Whether a request of the server can reach the client this way. */
  readonly canAsk: boolean;
  readonly auth?: AuthInfo | undefined;
}

export interface OpenRequest extends ServerExchange {
  readonly request: JSONRPCRequest;
  readonly channel: Channel;
  /** Answered, cancelled or given up: nothing more is sent for it. */
  readonly isOver: boolean;
  /** Resolves once it is over. */
  readonly over: Promise<void>;
  /** Sends the response, unless it is over. */
  respond(response: JSONRPCResponse): void;
  /** Ends it without a response, and aborts what works for it. */
  drop(reason: string): void;
  /** What else to do when it is dropped; replaced by the next. */
  onDrop(action: (reason: string) => void): void;
}

export interface OpenRequestOptions {
  revision(): Revision | undefined;
  onProblem(text: string): void;
  /** Called once, at the moment it is over. */
  onOver(): void;
}

export function openRequest(
  request: JSONRPCRequest,
  channel: Channel,
  { revision, onProblem, onOver }: OpenRequestOptions,
): OpenRequest {
  let isOver = false;
  let finish = (): void => {};
  let alsoOnDrop: ((reason: string) => void) | undefined;
  let controller: AbortController | undefined;
  let aborted: McpError | undefined;
  let lastProgress = Number.NEGATIVE_INFINITY;
  const over = new Promise<void>((resolve) => {
    finish = resolve;
  });

  function end(): void {
    isOver = true;
    alsoOnDrop = undefined;
    onOver();
    finish();
  }

  return {
    request,
    channel,
    over,
    auth: channel.auth,
    get isOver() {
      return isOver;
    },
    get signal() {
      controller ??= new AbortController();
      if (aborted !== undefined) controller.abort(aborted);
      return controller.signal;
    },
    notify(notification) {
      if (isOver) return;
      let { params } = notification;
      if (notification.method === "notifications/progress") {
        // A handler starts anew at every round of questions; the client sees one request, whose progress only grows.
        const progress = params?.["progress"] as number;
        if (!(progress > lastProgress)) return;
        lastProgress = progress;
        if (revision()?.progressMessage === false) {
          const { message: _, ...known } = params as Record<string, unknown>;
          params = known;
        }
      }
      try {
        channel.send(
          params === notification.params ? notification : { ...notification, params: params ?? {} },
        );
      } catch (error) {
        onProblem(
          `${notification.method} of request ${JSON.stringify(request.id)} could not be sent: ${String(error)}`,
        );
      }
    },
    respond(response) {
      if (isOver) return;
      end();
      try {
        channel.send(response);
      } catch (error) {
        const { id } = request;
        onProblem(`request ${JSON.stringify(id)} has no answer that could be sent: ${String(error)}`);
        channel.send(errorResponse(id, { code: ErrorCode.InternalError, message: "Internal error" }));
      }
    },
    drop(reason) {
      if (isOver) return;
      const also = alsoOnDrop;
      end();
      aborted = new McpError("aborted", reason);
      controller?.abort(aborted);
      also?.(reason);
    },
    onDrop(action) {
      alsoOnDrop = action;
    },
  };
}
