/** Decode, classify and encode one JSON-RPC message. Pure: text in, value out, or a {@link DecodeError}. */
import { isTextTooDeep, isTooDeep } from "./depth.js";
import { ErrorCode, ProtocolError } from "./errors.js";
import type {
  ErrorObject,
  JSONRPCErrorResponse,
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
  JSONRPCResultResponse,
  RequestId,
} from "./types.js";

/** A text that is not one message of the protocol. `id` is that of the request, where it could be read. */
export class DecodeError extends ProtocolError {
  readonly id: RequestId | undefined;

  constructor(code: number, message: string, id?: RequestId) {
    super(code, message);
    this.id = id;
  }
}

/** Deepest nesting of a message, in levels: enough for any schema, too little to exhaust a stack. */
export const DEFAULT_MAX_DEPTH = 128;

/**
 * Reads one message. A leading byte order mark is ignored (RFC 8259, section 8.1).
 *
 * @throws DecodeError -32700 where the text is not JSON, -32600 where it is not one message.
 * @example const message = decodeMessage('{"jsonrpc":"2.0","id":1,"method":"server/discover"}');
 */
export function decodeMessage(text: string, maxDepth = DEFAULT_MAX_DEPTH): JSONRPCMessage {
  if (isTextTooDeep(text, maxDepth)) throw tooDeep(maxDepth, undefined);
  let value: unknown;
  try {
    value = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch {
    throw new DecodeError(ErrorCode.ParseError, "Parse error: the message is not valid JSON");
  }
  return checkMessage(value, maxDepth);
}

/** The same for a value that is parsed already. */
export function checkMessage(value: unknown, maxDepth = DEFAULT_MAX_DEPTH): JSONRPCMessage {
  if (typeof value !== "object" || value === null) throw invalid("expected a JSON object", undefined);
  if (Array.isArray(value)) throw invalid("batches are not part of this revision", undefined);
  const message = value as Record<string, unknown>;
  const id = message["id"];
  if (message["jsonrpc"] !== "2.0") throw invalid('expected "jsonrpc": "2.0"', id);
  if (isTooDeep(value, maxDepth)) throw tooDeep(maxDepth, id);
  if (id !== undefined && !isRequestId(id)) {
    // JSON-RPC 2.0 itself answers with the id null where it could not read one.
    if (id === null && message["method"] === undefined && isErrorObject(message["error"])) {
      return errorResponse(undefined, message["error"]);
    }
    throw invalid('"id" must be a string or an integer (of at most 2^53 - 1)', undefined);
  }
  if (message["method"] !== undefined) {
    if (typeof message["method"] !== "string") throw invalid('"method" must be a string', id);
    const params = message["params"];
    if (params !== undefined && !isObject(params)) throw invalid('"params" must be an object', id);
    return value as JSONRPCRequest | JSONRPCNotification;
  }
  const { result, error } = message;
  if (result !== undefined && error !== undefined)
    throw invalid('expected "result" or "error", got both', id);
  if (isObject(result) ? id !== undefined : isErrorObject(error)) return value as JSONRPCResponse;
  throw invalid('expected "method", or "result" with an "id", or "error"', id);
}

export function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return "method" in message && (message as JSONRPCRequest).id !== undefined;
}

export function isNotification(message: JSONRPCMessage): message is JSONRPCNotification {
  return "method" in message && (message as JSONRPCRequest).id === undefined;
}

export function isResponse(message: JSONRPCMessage): message is JSONRPCResponse {
  return !("method" in message);
}

export function isErrorResponse(message: JSONRPCResponse): message is JSONRPCErrorResponse {
  return (message as JSONRPCErrorResponse).error !== undefined;
}

/** "A string or integer" (basic, Requests): `1.5` and `null` are none. */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || Number.isSafeInteger(value);
}

/** A plain JSON object: neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function resultResponse(
  id: RequestId,
  result: JSONRPCResultResponse["result"],
): JSONRPCResultResponse {
  return { jsonrpc: "2.0", id, result };
}

export function errorResponse(id: RequestId | undefined, error: ErrorObject): JSONRPCErrorResponse {
  return id === undefined ? { jsonrpc: "2.0", error } : { jsonrpc: "2.0", id, error };
}

const encodedResults = new WeakMap<object, string>();

/** Marks a result that many responses will carry: its first encoding serves them all. It must not change after that. */
export function encodeOnce<T extends object>(result: T): T {
  encodedResults.set(result, "");
  return result;
}

/** One line of JSON, without the newline. */
export function encodeMessage(message: JSONRPCMessage): string {
  const { id, result } = message as JSONRPCResultResponse;
  if (result === undefined) return JSON.stringify(message);
  let encoded = encodedResults.get(result);
  if (encoded === undefined) return JSON.stringify(message);
  if (encoded === "") {
    encoded = JSON.stringify(result);
    encodedResults.set(result, encoded);
  }
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${encoded}}`;
}

function invalid(why: string, id: unknown): DecodeError {
  return new DecodeError(
    ErrorCode.InvalidRequest,
    `Invalid request: ${why}`,
    isRequestId(id) ? id : undefined,
  );
}

function tooDeep(maxDepth: number, id: unknown): DecodeError {
  return invalid(`nested deeper than ${maxDepth} levels`, id);
}

function isErrorObject(value: unknown): value is ErrorObject {
  return isObject(value) && Number.isInteger(value["code"]) && typeof value["message"] === "string";
}
