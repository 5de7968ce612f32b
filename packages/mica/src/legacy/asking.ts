/** Requests of the server to the client that wait for their answers: ids, deadlines, and taking one back. */
import { ErrorCode, ProtocolError } from "../protocol/errors.js";
import type { JSONRPCMessage, JSONRPCResponse, RequestId } from "../protocol/types.js";

/** One request that was sent. */
export interface Asked {
  /** Rejects with a {@link NoAnswer} where none will come, or with what `send` threw. */
  readonly answer: Promise<JSONRPCResponse>;
  /** Tells the client that the answer is of no use any more. Does nothing once it has come. */
  withdraw(reason: string): void;
}

/** The client did not answer in time, or can no longer. */
export class NoAnswer extends ProtocolError {
  constructor(message: string) {
    super(ErrorCode.InternalError, message);
  }
}

export interface Asking {
  ask(
    method: string,
    params: Record<string, unknown> | undefined,
    send: (message: JSONRPCMessage) => void,
  ): Asked;
  /** A response of the client. Says whether anything waited for it. */
  settle(response: JSONRPCResponse): boolean;
  /** No answer can come any more: everything that waits is told so. Whatever is asked later is refused. */
  end(reason: string): void;
}

interface Waiting {
  resolve(response: JSONRPCResponse): void;
  fail(reason: string): void;
}

/** One per session, so that an id means one request. */
export function createAsking(timeoutMs: number): Asking {
  const waiting = new Map<RequestId, Waiting>();
  let lastId = 0;
  let over: string | undefined;

  function take(id: RequestId): Waiting | undefined {
    const entry = waiting.get(id);
    waiting.delete(id);
    return entry;
  }

  return {
    ask(method, params, send) {
      const id = ++lastId;
      let timer: ReturnType<typeof setTimeout> | undefined;
      const withdraw = (reason: string): void => {
        const entry = take(id);
        if (entry === undefined) return;
        clearTimeout(timer);
        entry.fail(reason);
        send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason } });
      };
      const answer = new Promise<JSONRPCResponse>((resolve, reject) => {
        const settle = <Value>(how: (value: Value) => void, value: Value): void => {
          clearTimeout(timer);
          how(value);
        };
        if (over !== undefined) {
          reject(new NoAnswer(`${method} was not sent: ${over}`));
          return;
        }
        waiting.set(id, {
          resolve: (response) => settle(resolve, response),
          fail: (reason) => settle(reject, new NoAnswer(`No answer to ${method}: ${reason}`)),
        });
        try {
          send({ jsonrpc: "2.0", id, method, ...(params !== undefined && { params }) });
        } catch (error) {
          waiting.delete(id);
          reject(error);
          return;
        }
        if (!waiting.has(id)) return;
        timer = setTimeout(() => withdraw(`none came within ${timeoutMs} ms (inputTimeoutMs)`), timeoutMs);
        // What waits for a person is no reason for a process to live on.
        (timer as { unref?: () => void }).unref?.();
      });
      return { answer, withdraw };
    },
    settle(response) {
      const entry = response.id === undefined ? undefined : take(response.id);
      entry?.resolve(response);
      return entry !== undefined;
    },
    end(reason) {
      over = reason;
      const all = [...waiting.values()];
      waiting.clear();
      for (const { fail } of all) fail(reason);
    },
  };
}
