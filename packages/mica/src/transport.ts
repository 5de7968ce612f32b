/**
 * The two seams that everything else is built on. One exchange is one request, zero or more
 * notifications, and exactly one response (patterns, Overview). A transport is a binding: framing,
 * delivery, cancellation. It never knows what a tool is.
 */
import type { ChangeBus } from "./bus/bus.js";
import type { JSONRPCNotification, JSONRPCRequest, JSONRPCResponse } from "./protocol/types.js";

/** Who is calling, as far as the transport established it. Never the credential itself. */
export interface AuthInfo {
  /** Stable identifier of the caller, e.g. issuer and subject of a token. */
  readonly principal: string;
  /** What the caller may do: the scopes that were granted, and those that they imply. */
  readonly scopes: readonly string[];
  readonly claims: Readonly<Record<string, unknown>>;
  /**
   * Milliseconds since the epoch from which the credential is accepted no longer: what goes on by itself, such as a
   * subscription, ends then. Absent where it does not end.
   */
  readonly expiresAt?: number | undefined;
}

/** What an HTTP binding shows a {@link Protection} of a request, before its body. */
export interface PresentedCredentials {
  /** Every value of the `Authorization` header. */
  readonly authorization: readonly string[];
  /** Path and query of the request, or its whole URL. */
  readonly target: string;
}

/** Why a request is not served, with the status and headers of the answer (authorization, Error Handling). */
export interface AuthRefusal {
  readonly status: 400 | 401 | 403 | 503;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
}

export type Authenticated =
  | { readonly auth: AuthInfo; readonly refusal?: undefined }
  | { readonly refusal: AuthRefusal; readonly auth?: undefined };

/** The document by which clients find the authorization servers of a resource (RFC 9728). */
export interface ResourceMetadata {
  readonly url: string;
  /** Where it is served: that of the resource, and the root. */
  readonly paths: readonly string[];
  readonly json: string;
}

/** How HTTP bindings find out who calls, and what they may do. `createProtection` of `mica-mcp/auth` makes one. */
export interface Protection {
  readonly metadata: ResourceMetadata;
  /** Called once per request, before its body is read. Never throws or rejects. */
  authenticate(credentials: PresentedCredentials): Authenticated | Promise<Authenticated>;
  /** What to answer a caller who lacks any of the scopes that the request needs; undefined where none is missing. */
  refuseScopes(auth: AuthInfo, required: readonly string[]): AuthRefusal | undefined;
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
   * Never throws or rejects: a failure is an error response. A promise only where something had to be waited for.
   * Whether the answer can still be delivered is the binding's matter.
   */
  handle(request: JSONRPCRequest, exchange: ServerExchange): JSONRPCResponse | Promise<JSONRPCResponse>;
  /** The arguments of this request that must also stand in headers; empty for most. Called by HTTP bindings only. */
  mirroredHeaders(request: JSONRPCRequest): readonly MirroredHeader[];
  /**
   * The scopes that this request needs: those of the tool, resource or prompt that it names. Empty for most; absent
   * where nothing needs any. Called by bindings that authenticate; `handle` looks for itself where `auth` is there.
   */
  requiredScopes?(request: Pick<JSONRPCRequest, "method" | "params">): readonly string[];
  /** Changes that this process alone knows of: a binding that serves from several carries them to the others. */
  readonly localChanges?: ChangeBus | undefined;
  /** Who may call over HTTP; absent where that is left to the options of the binding. */
  readonly protection?: Protection | undefined;
  /** The revisions that `handle` serves, newest first. */
  readonly supportedVersions: readonly string[];
  /** Ends what is still open (subscriptions) gracefully. Called by a binding when it shuts down. */
  endSubscriptions(): void;
}

/** What may end an exchange early, told without a signal: to make one takes as long as to send a request. */
export interface Cancellation {
  /** Whether it has happened. */
  readonly isCancelled: boolean;
  /** Why, once it has: what the exchange then rejects with. */
  readonly reason: unknown;
  /** Calls `react` once when it happens, until the returned function is called. */
  onCancel(react: () => void): () => void;
}

/** What a client asks a transport to do with one request. */
export interface ClientExchangeOptions {
  /** Cancels the request in the way of the binding; the promise then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Says the same as `signal`, which is made when it is first read; a transport that reads this need not read that. */
  cancellation?: Cancellation | undefined;
  /** Called for every notification that belongs to this request, in order. Must not throw. */
  onNotification?: ((notification: JSONRPCNotification) => void) | undefined;
  /** Arguments to mirror into headers; bindings without headers ignore them. */
  mirrored?: readonly MirroredHeader[] | undefined;
  /** Stops the clock of the caller while a person is busy, signing in for one; what it returns starts it again. */
  hold?: (() => () => void) | undefined;
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
  /** Whether an exchange may succeed after one was lost; not so with a process that has ended. Default false. */
  readonly reconnects?: boolean;
  /**
   * No exchange will follow an `input_required` result with this `requestState`. Only of use where something is kept
   * open for the answers, as with servers of earlier revisions. Never throws.
   */
  abandon?(requestState: string): void;
  /** Ends the connection (and the process, where there is one). Safe to call twice. */
  close(): Promise<void>;
}
