/** Requests of a client that have been sent and not answered, and those that were given up. */
import { cancellationOf, throwIfCancelled } from "../cancellation.js";
import { McpError } from "../protocol/errors.js";
import { InFlightMap } from "../protocol/in-flight.js";
import { encodeMessage, isObject } from "../protocol/jsonrpc.js";
import type { JSONRPCRequest, JSONRPCResponse, RequestId } from "../protocol/types.js";
import type { ClientExchangeOptions } from "../transport.js";

/** A request that waits for its response. */
export interface Pending {
  readonly request: JSONRPCRequest;
  readonly onNotification: ClientExchangeOptions["onNotification"];
  settle(response: JSONRPCResponse): void;
  fail(reason: unknown): void;
}

export interface InFlight {
  /** Sends a request. Resolves or rejects once, and then forgets it. @throws McpError where it cannot be sent. */
  exchange(request: JSONRPCRequest, options: ClientExchangeOptions): Promise<JSONRPCResponse>;
  get(id: unknown): Pending | undefined;
  withProgressToken(token: unknown): Pending | undefined;
  /** The one that is in flight, where there is exactly one. */
  only(): Pending | undefined;
  all(): Iterable<Pending>;
  /** Whatever still arrives for this id is no surprise. */
  abandon(id: RequestId): void;
  /** Whether this is the late answer to a request that was given up. */
  isLate(id: RequestId): boolean;
}

/** How many ids of requests that were given up are remembered. */
const MAX_ABANDONED = 1000;

export function trackInFlight(send: (line: string) => void, maxMessageBytes: number): InFlight {
  const pending = new InFlightMap<unknown, Pending>();
  const byProgressToken = new Map<unknown, Pending>();
  const abandoned = new Set<RequestId>();

  /** @throws what keeps the request from being sent; what becomes of it is in the promise. */
  function exchange(request: JSONRPCRequest, options: ClientExchangeOptions): Promise<JSONRPCResponse> {
    const { id } = request;
    const cancellation = cancellationOf(options);
    throwIfCancelled(cancellation);
    if (pending.has(id)) throw new TypeError(`request.id ${JSON.stringify(id)} is in flight already`);
    const line = encodeMessage(request);
    // A character takes three bytes at most, so short lines need no counting.
    if (line.length * 3 > maxMessageBytes && Buffer.byteLength(line) > maxMessageBytes) {
      throw tooLong(`The request ${describeRequest(request)}`, Buffer.byteLength(line), maxMessageBytes);
    }
    return new Promise((resolve, reject) => {
      const entry = new Waiting(request, options.onNotification, resolve, reject, forget);
      pending.add(id, entry);
      if (entry.token !== undefined) byProgressToken.set(entry.token, entry);
      entry.unlisten = cancellation?.onCancel(() => cancel(entry, cancellation.reason));
      abandoned.delete(id);
      send(line);
    });
  }

  function forget({ request: { id }, token, unlisten }: Waiting): void {
    pending.delete(id);
    if (token !== undefined) byProgressToken.delete(token);
    unlisten?.();
  }

  function cancel(entry: Waiting, reason: unknown): void {
    const { id } = entry.request;
    entry.fail(reason);
    abandon(id);
    const params = { requestId: id, reason: reasonOf(reason) };
    send(encodeMessage({ jsonrpc: "2.0", method: "notifications/cancelled", params }));
  }

  function abandon(id: RequestId): void {
    abandoned.add(id);
    if (abandoned.size > MAX_ABANDONED) {
      const [oldest] = abandoned;
      abandoned.delete(oldest as RequestId);
    }
  }

  return {
    exchange,
    get: (id) => pending.get(id),
    withProgressToken: (token) => byProgressToken.get(token),
    only() {
      const [first] = pending;
      return pending.size === 1 ? first : undefined;
    },
    all: () => pending,
    abandon,
    isLate: (id) => abandoned.delete(id),
  };
}

/** A class, so that a request costs one object. */
class Waiting implements Pending {
  readonly request: JSONRPCRequest;
  readonly onNotification: ClientExchangeOptions["onNotification"];
  readonly token: unknown;
  unlisten: (() => void) | undefined;
  readonly #resolve: (response: JSONRPCResponse) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #forget: (entry: Waiting) => void;

  constructor(
    request: JSONRPCRequest,
    onNotification: ClientExchangeOptions["onNotification"],
    resolve: (response: JSONRPCResponse) => void,
    reject: (reason: unknown) => void,
    forget: (entry: Waiting) => void,
  ) {
    this.request = request;
    this.onNotification = onNotification;
    this.token = metaOf(request)?.["progressToken"];
    this.#resolve = resolve;
    this.#reject = reject;
    this.#forget = forget;
  }

  settle(response: JSONRPCResponse): void {
    this.#forget(this);
    this.#resolve(response);
  }

  fail(reason: unknown): void {
    this.#forget(this);
    this.#reject(reason);
  }
}

/** A request, as messages of errors name it. */
export function describeRequest({ method, id }: JSONRPCRequest): string {
  return `${method} (id ${JSON.stringify(id)})`;
}

/** The failure of a message that is longer than its limit. */
export function tooLong(what: string, bytes: number, limit: number): McpError {
  return new McpError(
    "limit_exceeded",
    `${what} has ${bytes} bytes, and at most ${limit} are accepted (maxMessageBytes)`,
  );
}

/** `_meta` of a request, where it has one. */
export function metaOf({ params }: JSONRPCRequest): Record<string, unknown> | undefined {
  const meta = params?.["_meta"];
  return isObject(meta) ? meta : undefined;
}

function reasonOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}
