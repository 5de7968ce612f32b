/**
 * The two seams that everything else is built on. One exchange is one request, zero or more
 * notifications, and exactly one response (patterns, Overview). A transport is a binding: framing,
 * delivery, cancellation. It never knows what a tool is.
 */
import type { JSONRPCNotification, JSONRPCRequest, JSONRPCResponse, RequestId } from "./protocol/types.js";

/** Who is calling, as far as the transport established it. Never the credential itself. */
export interface AuthInfo {
  /** Stable identifier of the caller, e.g. issuer and subject of a token. */
  readonly principal: string;
  readonly scopes: readonly string[];
  readonly claims: Readonly<Record<string, unknown>>;
}

/** One request being served: created by a binding, given to {@link RequestHandler.handle}. */
export interface ServerExchange {
  /**
   * Sends a notification that belongs to this request, in order, before its response.
   * Never throws and never blocks; after the response, or once the caller is gone, it does nothing.
   */
  notify(notification: JSONRPCNotification): void;
  /** Aborts when the caller goes away or cancels. Made when first read. */
  readonly signal: AbortSignal;
  /** Absent where the transport does not authenticate. */
  readonly auth?: AuthInfo | undefined;
}

/** An argument of a request that is mirrored into a header (transports/streamable-http, Custom Headers). */
export interface MirroredHeader {
  /** The full header name, lower case: `mcp-param-region`. */
  readonly header: string;
  readonly type: "string" | "integer" | "boolean";
  /** The argument's value; undefined where it is absent or null. */
  readonly value: unknown;
}

/** The server seam: what a binding drives. `createServer` returns one. */
export interface RequestHandler {
  /**
   * Serves one request. Called by a binding once per request, many at a time.
   * Never rejects: a failure is an error response. Whether the answer can still be delivered is the binding's matter.
   */
  handle(request: JSONRPCRequest, exchange: ServerExchange): Promise<JSONRPCResponse>;
  /** The arguments of this request that must also stand in headers; empty for most. Called by HTTP bindings only. */
  mirroredHeaders(request: JSONRPCRequest): readonly MirroredHeader[];
  /** The revisions that `handle` serves, newest first. */
  readonly supportedVersions: readonly string[];
  /** Ends what is still open (subscriptions) gracefully. Called by a binding when it shuts down. */
  endSubscriptions(): void;
}

/** What a client asks a transport to do with one request. */
export interface ClientExchangeOptions {
  /** Cancels the request in the way of the binding; the promise then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Called for every notification that belongs to this request, in order. Must not throw. */
  onNotification?: ((notification: JSONRPCNotification) => void) | undefined;
  /** Arguments to mirror into headers; bindings without headers ignore them. */
  mirrored?: readonly MirroredHeader[] | undefined;
}

/** The client seam: a way to carry exchanges to one server. */
export interface ClientTransport {
  /**
   * Sends one request and resolves to its response. Many may be in flight.
   *
   * @throws McpError `connection_lost`, `connect_failed`, `invalid_response` or `limit_exceeded`.
   */
  exchange(request: JSONRPCRequest, options?: ClientExchangeOptions): Promise<JSONRPCResponse>;
  /** Whether arguments are mirrored into headers here, so that bad `x-mcp-header` annotations matter. */
  readonly mirrorsArguments: boolean;
  /** Ends the connection (and the process, where there is one). Safe to call twice. */
  close(): Promise<void>;
}

/** The id under which a subscription's notifications arrive is that of its request. */
export type SubscriptionId = RequestId;
