/** The exchange that waits for a request: its caller, until it is told something. */
import type { JSONRPCNotification, JSONRPCRequest, JSONRPCResponse } from "../../protocol/types.js";
import type { ClientExchangeOptions } from "../../transport.js";

export interface Attendant {
  readonly request: JSONRPCRequest;
  readonly answer: Promise<JSONRPCResponse>;
  notify(notification: JSONRPCNotification): void;
  resolve(response: JSONRPCResponse): void;
  reject(error: unknown): void;
}

/** @param onAbort Called with the reason, in words, when the caller goes away; `answer` then rejects. */
export function attend(
  request: JSONRPCRequest,
  { signal, onNotification }: ClientExchangeOptions,
  onAbort: (reason: string) => void,
): Attendant {
  let resolve!: (response: JSONRPCResponse) => void;
  let reject!: (error: unknown) => void;
  const answer = new Promise<JSONRPCResponse>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  const abort = () => {
    const reason: unknown = signal?.reason;
    release();
    onAbort(reason instanceof Error ? reason.message : String(reason));
    reject(reason);
  };
  const release = () => signal?.removeEventListener("abort", abort);
  signal?.addEventListener("abort", abort, { once: true });
  return {
    request,
    answer,
    notify: (notification) => onNotification?.(notification),
    resolve(response) {
      release();
      resolve(response);
    },
    reject(error) {
      release();
      reject(error);
    },
  };
}
