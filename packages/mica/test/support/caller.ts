/** A caller in the test's own process: sends well-formed requests over the memory transport, and keeps what comes back. */
import { isErrorResponse } from "../../src/protocol/jsonrpc.js";
import { MetaKey } from "../../src/protocol/meta.js";
import type {
  ErrorObject,
  JSONRPCNotification,
  JSONRPCResponse,
  MetaObject,
  RequestId,
  Result,
} from "../../src/protocol/types.js";
import {
  type MemoryTransport,
  type MemoryTransportOptions,
  memoryTransport,
} from "../../src/testing/memory.js";
import type { RequestHandler } from "../../src/transport.js";

/** The `_meta` of a well-formed request, and more. */
export function requestMeta(more: MetaObject = {}): MetaObject {
  return {
    [MetaKey.protocolVersion]: "2026-07-28",
    [MetaKey.clientInfo]: { name: "test", version: "1.0.0" },
    [MetaKey.clientCapabilities]: {},
    ...more,
  };
}

export interface SendOptions {
  id?: RequestId;
  signal?: AbortSignal;
  /** More of `_meta`. */
  meta?: MetaObject;
  onNotification?: (notification: JSONRPCNotification) => void;
}

export interface Caller {
  readonly transport: MemoryTransport;
  send(method: string, params?: Record<string, unknown>, options?: SendOptions): Promise<JSONRPCResponse>;
  /** The result. @throws Error where the answer is an error. */
  result<T = Result>(method: string, params?: Record<string, unknown>, options?: SendOptions): Promise<T>;
  /** The error. @throws Error where the answer is a result. */
  error(method: string, params?: Record<string, unknown>, options?: SendOptions): Promise<ErrorObject>;
}

/** @example const { result } = callerOf(server); const { tools } = await result<ListToolsResult>("tools/list"); */
export function callerOf(server: RequestHandler, options?: MemoryTransportOptions): Caller {
  const transport = memoryTransport(server, options);
  let lastId = 0;
  const send: Caller["send"] = (method, params = {}, { id, meta, ...rest } = {}) =>
    transport.exchange(
      { jsonrpc: "2.0", id: id ?? ++lastId, method, params: { _meta: requestMeta(meta), ...params } },
      rest,
    );
  return {
    transport,
    send,
    async result<T>(...args: Parameters<Caller["send"]>) {
      const response = await send(...args);
      if (isErrorResponse(response)) throw new Error(`got an error: ${JSON.stringify(response.error)}`);
      return response.result as T;
    },
    async error(...args) {
      const response = await send(...args);
      if (!isErrorResponse(response)) throw new Error(`got a result: ${JSON.stringify(response.result)}`);
      return response.error;
    },
  };
}
