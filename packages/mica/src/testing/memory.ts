/**
 * The two seams composed directly: a client transport that drives a server in the same process. Every message
 * still passes through JSON, so that what works here works over a wire.
 */
import { ErrorCode, McpError } from "../protocol/errors.js";
import { DecodeError, decodeMessage, encodeMessage, errorResponse } from "../protocol/jsonrpc.js";
import type { JSONRPCNotification, JSONRPCRequest, JSONRPCResponse } from "../protocol/types.js";
import type { AuthInfo, ClientTransport, RequestHandler, ServerExchange } from "../transport.js";

export interface MemoryTransportOptions {
  /** Who the server is told is calling. */
  auth?: AuthInfo;
}

/** A memory transport also counts what is under way, so that a test can assert that nothing leaked. */
export interface MemoryTransport extends ClientTransport {
  readonly inFlight: number;
}

/** @example const client = await connect({ transport: memoryTransport(server) }, { name: "test", version: "1.0.0" }); */
export function memoryTransport(
  handler: RequestHandler,
  options: MemoryTransportOptions = {},
): MemoryTransport {
  const open = new Set<AbortController>();
  let closed = false;

  return {
    mirrorsArguments: false,
    get inFlight() {
      return open.size;
    },
    async exchange(request, { signal, onNotification } = {}) {
      if (closed) throw new McpError("closed", "the memory transport is closed");
      signal?.throwIfAborted();
      const controller = new AbortController();
      let finished = false;
      const sent = decodeMessage(encodeMessage(request)) as JSONRPCRequest;
      const exchange: ServerExchange = {
        auth: options.auth,
        signal: controller.signal,
        notify(notification) {
          if (finished) return;
          const text = encodeSafely(notification);
          if (text !== undefined) onNotification?.(decodeMessage(text) as JSONRPCNotification);
        },
      };
      const abort = () => controller.abort(signal?.reason);
      const gone = new Promise<never>((_, reject) => {
        controller.signal.addEventListener("abort", () => reject(controller.signal.reason as Error), {
          once: true,
        });
      });
      signal?.addEventListener("abort", abort, { once: true });
      open.add(controller);
      try {
        const answer = handler.handle(sent, exchange);
        const text = encodeSafely(await Promise.race([answer, gone])) ?? encodeMessage(unsendable(request));
        return decodeMessage(text) as JSONRPCResponse;
      } catch (error) {
        if (!(error instanceof DecodeError)) throw error;
        throw new McpError("invalid_response", `the response cannot be read: ${error.message}`, {
          cause: error,
        });
      } finally {
        finished = true;
        open.delete(controller);
        signal?.removeEventListener("abort", abort);
      }
    },
    async close() {
      closed = true;
      for (const controller of open)
        controller.abort(new McpError("closed", "the memory transport was closed"));
    },
  };
}

/** Undefined, and a line on stderr, where an author's value has no JSON (a BigInt, a cycle), as over a wire. */
function encodeSafely(message: JSONRPCNotification | JSONRPCResponse): string | undefined {
  try {
    return encodeMessage(message);
  } catch (error) {
    console.error(`${"method" in message ? message.method : "A response"} cannot be encoded as JSON:`, error);
    return undefined;
  }
}

function unsendable({ id }: JSONRPCRequest): JSONRPCResponse {
  return errorResponse(id, { code: ErrorCode.InternalError, message: "Internal error" });
}
