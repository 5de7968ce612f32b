/** Requests to a server of an earlier revision that wait for their responses: ids, responses, taking one back. */
import { McpError } from "../../protocol/errors.js";
import { InFlightMap } from "../../protocol/in-flight.js";
import type { JSONRPCRequest, JSONRPCResponse, RequestId } from "../../protocol/types.js";
import type { Hold } from "./clocks.js";
import type { LegacyWire } from "./wire.js";

/** One request on its way. */
export interface Sent {
  readonly id: RequestId;
  /** Rejects with a McpError where no response will come. */
  readonly response: Promise<JSONRPCResponse>;
  /** Tells the server that the answer is of no use any more; `response` rejects. Does nothing once it has settled. */
  cancel(reason: string): void;
}

export interface Pending {
  send(method: string, params: Record<string, unknown> | undefined, hold?: Hold): Sent;
  /** A response that arrived. Says whether anything waited for it, or has waited. */
  settle(response: JSONRPCResponse, about: RequestId | undefined): boolean;
  /** No response will come. Says whether anything waited for it. */
  fail(id: RequestId | undefined, error: unknown): boolean;
  failAll(why: (request: JSONRPCRequest) => McpError): void;
}

interface Entry {
  readonly request: JSONRPCRequest;
  resolve(response: JSONRPCResponse): void;
  reject(error: unknown): void;
}

/** The id of `initialize`: clients of these revisions have always begun there. */
export const HANDSHAKE_ID = 0;
/** Where the other ids begin. The probe of the same process had small ones, and its late answer must meet nothing. */
const FIRST_ID = 1_001;
/** How many ids of requests that were given up are remembered. */
const MAX_ABANDONED = 1_000;

export function createPending(wire: LegacyWire): Pending {
  const waiting = new InFlightMap<RequestId, Entry>();
  const abandoned = new Set<RequestId>();
  let nextId = HANDSHAKE_ID;

  function take(id: RequestId | undefined): Entry | undefined {
    const entry = id === undefined ? undefined : waiting.get(id);
    if (entry) waiting.delete(entry.request.id);
    return entry;
  }

  function fail(id: RequestId | undefined, error: unknown): boolean {
    const entry = take(id);
    entry?.reject(error);
    return entry !== undefined;
  }

  return {
    send(method, params, hold) {
      const id = nextId;
      nextId = id === HANDSHAKE_ID ? FIRST_ID : id + 1;
      const request: JSONRPCRequest = { jsonrpc: "2.0", id, method, ...(params && { params }) };
      const response = new Promise<JSONRPCResponse>((resolve, reject) => {
        waiting.add(id, { request, resolve, reject });
      });
      // Whoever is interested handles it; a best effort is nobody's.
      response.catch(() => {});
      wire.send(request, hold).catch((error: unknown) => void fail(id, error));
      return {
        id,
        response,
        cancel(reason) {
          if (!fail(id, new McpError("aborted", `${method} was cancelled: ${reason}`))) return;
          abandoned.add(id);
          if (abandoned.size > MAX_ABANDONED) abandoned.delete(abandoned.values().next().value as RequestId);
          // "The initialize request MUST NOT be cancelled by clients" (2025-11-25, basic/utilities/cancellation).
          if (id === HANDSHAKE_ID) return;
          const params = { requestId: id, reason };
          const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params } as const;
          wire
            .send(cancelled)
            .catch(() => {})
            .finally(() => wire.forget?.(id));
        },
      };
    },
    settle(response, about) {
      // The server may have been unable to read the id. With one request on its way there is no doubt whose it was.
      const id = response.id ?? about ?? (waiting.size === 1 ? [...waiting][0]?.request.id : undefined);
      const entry = take(id);
      if (entry === undefined) return id !== undefined && abandoned.delete(id);
      entry.resolve(response);
      return true;
    },
    fail,
    failAll(why) {
      for (const { request } of waiting) fail(request.id, why(request));
    },
  };
}
