/** One exchange as the client sees it: an id, `_meta`, a deadline, notifications sorted out, errors mapped. */

import { ErrorCode, McpError, ProtocolError } from "../protocol/errors.js";
import type { LoggingMessageParams, ProgressParams } from "../protocol/features.js";
import { InFlightSet } from "../protocol/in-flight.js";
import { isErrorResponse, isObject } from "../protocol/jsonrpc.js";
import { MetaKey } from "../protocol/meta.js";
import type {
  ClientCapabilities,
  ErrorObject,
  Implementation,
  JSONRPCNotification,
  LoggingLevel,
  MetaObject,
  RequestId,
  Result,
} from "../protocol/types.js";
import type { ClientExchangeOptions, ClientTransport, MirroredHeader } from "../transport.js";
import type { CallOptions } from "./options.js";
import { type Clock, type Running, underDeadline } from "./running.js";
import { callBack, type Warn } from "./warnings.js";

export interface SendOptions extends CallOptions {
  /** Arguments to mirror into headers. */
  mirrored?: readonly MirroredHeader[] | undefined;
  /** Sees every notification of the exchange, with its request's id and its clock. Must not throw. */
  observe?: ((notification: JSONRPCNotification, id: RequestId, clock: Clock) => void) | undefined;
}

/** Sends one request; resolves to its result, whatever type it is of. */
export type Send = (method: string, params: Record<string, unknown>, options: SendOptions) => Promise<Result>;

export interface Exchanger {
  readonly send: Send;
  /** The revision that requests declare. */
  protocolVersion: string;
  /** Ends all that is in flight, and refuses everything from now on. */
  close(): void;
}

export interface ExchangerOptions {
  readonly transport: ClientTransport;
  readonly protocolVersion: string;
  readonly clientInfo: Implementation;
  readonly clientCapabilities: ClientCapabilities;
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly onLog: ((message: LoggingMessageParams) => void) | undefined;
  readonly logLevel: LoggingLevel | undefined;
  readonly warn: Warn;
}

export function createExchanger(defaults: ExchangerOptions): Exchanger {
  const { transport, warn } = defaults;
  const running = new InFlightSet<Running>();
  let lastId = 0;
  let closed = false;

  const exchanger: Exchanger = {
    protocolVersion: defaults.protocolVersion,
    async send(method, params, options) {
      if (closed) throw closedError(method);
      const id = ++lastId;
      const meta = requestMeta(exchanger.protocolVersion, defaults, params["_meta"], options, id);
      const timeoutMs = options.timeoutMs ?? defaults.timeoutMs;
      const response = await underDeadline(
        {
          what: method,
          timeoutMs,
          maxTimeoutMs: options.maxTimeoutMs ?? Math.max(timeoutMs, defaults.maxTimeoutMs),
          signal: options.signal,
        },
        running,
        (call) =>
          transport.exchange(
            { jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } },
            new TransportOptions(call, options.mirrored, (notification) =>
              notify(notification, id, call, options, defaults.onLog, warn),
            ),
          ),
      );
      if (isErrorResponse(response)) throw refusal(method, response.error);
      if (!isObject(response.result)) {
        throw new McpError(
          "invalid_response",
          `${method}: expected a result object, got ${shown(response.result)}`,
        );
      }
      return response.result;
    },
    close() {
      closed = true;
      for (const call of running)
        call.fail(new McpError("closed", "The client was closed before the answer came"));
    },
  };
  return exchanger;
}

/** A class, because an object with a getter of its own takes as long to make as all the rest of a call. */
class TransportOptions implements ClientExchangeOptions {
  readonly cancellation: Running;
  readonly mirrored: readonly MirroredHeader[] | undefined;
  readonly onNotification: (notification: JSONRPCNotification) => void;

  constructor(
    cancellation: Running,
    mirrored: readonly MirroredHeader[] | undefined,
    onNotification: (notification: JSONRPCNotification) => void,
  ) {
    this.cancellation = cancellation;
    this.mirrored = mirrored;
    this.onNotification = onNotification;
  }

  get signal(): AbortSignal {
    return this.cancellation.signal;
  }

  get hold(): () => () => void {
    return () => this.cancellation.hold();
  }
}

export function closedError(method: string): McpError {
  return new McpError("closed", `${method} was not sent: the client is closed`);
}

/** "Required fields MUST be included on every request" (basic, Per-request protocol fields). */
function requestMeta(
  protocolVersion: string,
  defaults: ExchangerOptions,
  given: unknown,
  options: SendOptions,
  id: RequestId,
): MetaObject {
  const meta: MetaObject = {
    ...(isObject(given) ? given : undefined),
    ...options._meta,
    [MetaKey.protocolVersion]: protocolVersion,
    [MetaKey.clientInfo]: defaults.clientInfo,
    [MetaKey.clientCapabilities]: defaults.clientCapabilities,
  };
  if (options.onProgress) meta["progressToken"] = id;
  const listens = options.onLog ?? defaults.onLog;
  const level = options.logLevel ?? defaults.logLevel ?? (listens ? "info" : undefined);
  if (level !== undefined) meta[MetaKey.logLevel] = level;
  return meta;
}

function notify(
  notification: JSONRPCNotification,
  id: RequestId,
  clock: Clock,
  options: SendOptions,
  onLog: ((message: LoggingMessageParams) => void) | undefined,
  warn: Warn,
): void {
  const { method, params } = notification;
  options.observe?.(notification, id, clock);
  if (method === "notifications/progress" && options.onProgress && params?.["progressToken"] === id) {
    clock.restart();
    callBack(warn, "onProgress", options.onProgress, params as unknown as ProgressParams);
  } else if (method === "notifications/message" && isObject(params)) {
    const listener = options.onLog ?? onLog;
    if (listener) callBack(warn, "onLog", listener, params as unknown as LoggingMessageParams);
  }
  if (options.onNotification) callBack(warn, "onNotification", options.onNotification, notification);
}

/** What the caller sees of a JSON-RPC error; the {@link ProtocolError} in `cause` has its code and data. */
export function refusal(method: string, error: ErrorObject): McpError {
  const cause = new ProtocolError(error.code, error.message, error.data);
  const code = error.code === ErrorCode.UnsupportedProtocolVersion ? "unsupported_version" : "protocol_error";
  return new McpError(code, `${method}: ${error.message} (${error.code})`, { cause });
}

/** The JSON-RPC code of an error, where it is one that the server answered with. */
export function rpcCodeOf(error: unknown): number | undefined {
  return error instanceof McpError && error.cause instanceof ProtocolError ? error.cause.code : undefined;
}

/** A value as it may stand in a message. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
