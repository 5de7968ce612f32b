/** The three failures of Mica: what the peer sees, what the caller sees, what the model sees. */
import type { ClientCapabilities, ErrorObject } from "./types.js";

/** Codes of the error-code section (basic, Error Codes). */
export const ErrorCode = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
  HeaderMismatch: -32020,
  MissingRequiredClientCapability: -32021,
  UnsupportedProtocolVersion: -32022,
} as const;

/**
 * A failure that the peer sees as a JSON-RPC error, with a numeric code (basic, Error Codes).
 * A handler may throw one to answer with exactly that error.
 *
 * @example throw new ProtocolError(ErrorCode.InvalidParams, "Unknown tool: nope");
 */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }

  /** The `error` member that goes over the wire. */
  toErrorObject(): ErrorObject {
    return this.data === undefined
      ? { code: this.code, message: this.message }
      : { code: this.code, message: this.message, data: this.data };
  }
}

/** Stable codes of {@link McpError}. */
export type McpErrorCode =
  /** The server answered with a JSON-RPC error; `cause` is the {@link ProtocolError}. */
  | "protocol_error"
  /** No answer within the time allowed. */
  | "timeout"
  /** The caller's `AbortSignal` fired. */
  | "aborted"
  /** The connection was lost, or the server process ended, before the answer came. */
  | "connection_lost"
  /** The server could not be reached or started. */
  | "connect_failed"
  /** The server answered with something that is not the protocol. */
  | "invalid_response"
  /** The server speaks no revision that this client speaks. */
  | "unsupported_version"
  /** A message or list went over a limit; the message names it. */
  | "limit_exceeded"
  /** The server asked for input that this client has no handler for, or too many times. */
  | "input_unavailable"
  /** The task that a call had become was cancelled. */
  | "task_cancelled"
  /** The client was closed. */
  | "closed";

/** A failure that the caller of a client sees: a stable string `code`, and the `cause` where there is one. */
export class McpError extends Error {
  override readonly name = "McpError";
  readonly code: McpErrorCode;

  constructor(code: McpErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/**
 * A failure of a tool that the model may read, word for word. Throw it for everything that you decided to say;
 * any other error reaches the model as a generic line with a reference, and your log in full.
 *
 * @example throw new ToolError(`No open incident ${id}. Call search_incidents first.`);
 */
export class ToolError extends Error {
  override readonly name = "ToolError";
}

/** -32021: the request needs a capability that the client did not declare (basic, `_meta`). */
export function missingCapability(required: ClientCapabilities, forWhat: string): ProtocolError {
  const names = capabilityNames(required).join(", ");
  return new ProtocolError(
    ErrorCode.MissingRequiredClientCapability,
    `${forWhat} needs client capabilities that this request does not declare: ${names}`,
    { requiredCapabilities: required },
  );
}

function capabilityNames(capabilities: ClientCapabilities): string[] {
  return Object.entries(capabilities).flatMap(([name, value]) => {
    const inner = value && typeof value === "object" ? Object.keys(value) : [];
    return inner.length ? inner.map((key) => `${name}.${key}`) : [name];
  });
}

/** The caller's token does not grant what the request needs, where no status code says so (authorization). */
export function insufficientScope(method: string, missing: readonly string[]): ProtocolError {
  return new ProtocolError(
    ErrorCode.InvalidRequest,
    `Insufficient scope: ${method} needs ${missing.join(", ")}`,
    { missingScopes: missing },
  );
}

/** -32022: the request declares a revision that the server does not speak (basic/versioning). */
export function unsupportedVersion(requested: string, supported: readonly string[]): ProtocolError {
  return new ProtocolError(
    ErrorCode.UnsupportedProtocolVersion,
    `Unsupported protocol version ${JSON.stringify(requested)}: this server speaks ${supported.join(", ")}`,
    { supported: [...supported], requested },
  );
}
