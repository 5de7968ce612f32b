/** What goes out when nothing streams: status, headers and one JSON document. Only here is a status picked. */
import { ErrorCode } from "../protocol/errors.js";
import { errorResponse } from "../protocol/jsonrpc.js";
import { readRequestMeta } from "../protocol/meta.js";
import type { ErrorObject, JSONRPCRequest, JSONRPCResponse, RequestId } from "../protocol/types.js";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Refuses a request whose body was not looked at: an error response without an id. */
export function refuse(status: number, message: string, headers: Record<string, string> = {}): Answer {
  const code = status >= 500 ? ErrorCode.InternalError : ErrorCode.InvalidRequest;
  return errorAnswer(status, undefined, { code, message }, headers);
}

/** An error response as an answer. */
export function errorAnswer(
  status: number,
  id: RequestId | undefined,
  error: ErrorObject,
  headers: Record<string, string> = {},
): Answer {
  return {
    status,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(errorResponse(id, error)),
  };
}

/** An answer without a body. */
export function emptyAnswer(status: number, headers: Record<string, string> = {}): Answer {
  return { status, headers, body: "" };
}

/** The status under which a response to a request goes out (basic; transports/streamable-http). */
export function statusOf(request: JSONRPCRequest, response: JSONRPCResponse): number {
  if (!("error" in response)) return 200;
  switch (response.error.code) {
    case ErrorCode.ParseError:
    case ErrorCode.InvalidRequest:
    case ErrorCode.HeaderMismatch:
    case ErrorCode.MissingRequiredClientCapability:
    case ErrorCode.UnsupportedProtocolVersion:
      return 400;
    case ErrorCode.MethodNotFound:
      return 404;
    case ErrorCode.InvalidParams:
      return isMalformed(request) ? 400 : 200;
    default:
      return 200;
  }
}

/** A request that lacks a required field of `_meta` is malformed (basic, `_meta`); other bad params are not. */
function isMalformed(request: JSONRPCRequest): boolean {
  try {
    readRequestMeta(request.params);
    return false;
  } catch {
    return true;
  }
}

const REQUESTABLE =
  /^(?:accept|authorization|content-type|last-event-id|mcp-(?:method|name|protocol-version|session-id)|mcp-param-[!#$%&'*+.^_`|~0-9a-z-]+|traceparent|tracestate|baggage)$/;

/** What lets the page of an allowed origin read an answer; nothing where the request has no origin. */
export function corsHeaders(origin: string | undefined): Record<string, string> {
  if (origin === undefined) return {};
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": "mcp-session-id, retry-after, www-authenticate",
    vary: "Origin",
  };
}

/** An answer that the page it goes to may read. */
export function withCors(answer: Answer, origin: string | undefined): Answer {
  return origin === undefined
    ? answer
    : { ...answer, headers: { ...answer.headers, ...corsHeaders(origin) } };
}

/** The headers that open an event stream (Receiving Messages). */
export function streamHeaders(origin: string | undefined): Record<string, string> {
  return {
    "content-type": "text/event-stream",
    // No transformation either: what compresses also holds events back.
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",
    ...corsHeaders(origin),
  };
}

/** Answers the question a browser asks before it lets the page of an allowed origin POST. */
export function preflight(requestedHeaders: string | undefined, methods: string): Answer {
  const requested = (requestedHeaders ?? "").toLowerCase().split(",");
  return emptyAnswer(204, {
    "access-control-allow-methods": methods,
    "access-control-allow-headers": requested
      .map((name) => name.trim())
      .filter((name) => REQUESTABLE.test(name))
      .join(", "),
    "access-control-max-age": "7200",
  });
}
