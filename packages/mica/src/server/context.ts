/** What a handler knows about, and may do during, the request it serves. */

import { LOGGING_LEVELS, type RequestMeta } from "../protocol/meta.js";
import type {
  ClientCapabilities,
  Implementation,
  JSONRPCNotification,
  LoggingLevel,
  MetaObject,
} from "../protocol/types.js";
import type { AuthInfo, ServerExchange } from "../transport.js";

/** The second argument of every handler. Valid until the handler's promise settles. */
export interface HandlerContext {
  /** Aborts when the caller goes away or cancels: pass it on to whatever takes long. */
  readonly signal: AbortSignal;
  /** Who calls, where the transport authenticates. Never the token itself. */
  readonly auth: AuthInfo | undefined;
  /** What the client says of itself. For display only: `info` is not verified. */
  readonly client: { readonly info: Implementation | undefined; readonly capabilities: ClientCapabilities };
  /** The request's `_meta`: trace context (`traceparent`, ...) and keys of extensions. */
  readonly meta: MetaObject;
  /**
   * Reports progress, if the caller asked for it (patterns/progress). Values that do not grow, or are
   * not finite, are not sent: a report must not fail the work.
   *
   * @example ctx.progress(done, files.length, `Copied ${name}`);
   */
  progress(progress: number, total?: number, message?: string): void;
  /**
   * Sends a log message, if the caller asked for this level (server/utilities/logging; deprecated by SEP-2577,
   * prefer stderr or OpenTelemetry). Must hold no secrets.
   */
  log(level: LoggingLevel, data: unknown, logger?: string): void;
}

export class RequestContext implements HandlerContext {
  readonly #exchange: ServerExchange;
  readonly #meta: RequestMeta;
  #lastProgress = Number.NEGATIVE_INFINITY;

  constructor(exchange: ServerExchange, meta: RequestMeta) {
    this.#exchange = exchange;
    this.#meta = meta;
  }

  get signal(): AbortSignal {
    return this.#exchange.signal;
  }

  get auth(): AuthInfo | undefined {
    return this.#exchange.auth;
  }

  get client(): HandlerContext["client"] {
    return { info: this.#meta.clientInfo, capabilities: this.#meta.clientCapabilities };
  }

  get meta(): MetaObject {
    return this.#meta.all;
  }

  progress(progress: number, total?: number, message?: string): void {
    const { progressToken } = this.#meta;
    // "The progress value MUST increase with each notification." Infinity and NaN have no JSON.
    if (progressToken === undefined || !(progress > this.#lastProgress) || progress === Infinity) return;
    this.#lastProgress = progress;
    const params: Record<string, unknown> = { progressToken, progress };
    if (Number.isFinite(total)) params["total"] = total;
    if (message !== undefined) params["message"] = message;
    this.#exchange.notify(notification("notifications/progress", params));
  }

  log(level: LoggingLevel, data: unknown, logger?: string): void {
    const { logLevel } = this.#meta;
    if (logLevel === undefined || LOGGING_LEVELS.indexOf(level) < LOGGING_LEVELS.indexOf(logLevel)) return;
    const params: Record<string, unknown> = { level, data: data === undefined ? null : data };
    if (logger !== undefined) params["logger"] = logger;
    this.#exchange.notify(notification("notifications/message", params));
  }
}

function notification(method: string, params: Record<string, unknown>): JSONRPCNotification {
  return { jsonrpc: "2.0", method, params };
}
