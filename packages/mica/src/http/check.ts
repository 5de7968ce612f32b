/** Whether the headers of a request say the same as its body (transports/streamable-http, Server Validation). */
import { ErrorCode, unsupportedVersion } from "../protocol/errors.js";
import { MetaKey } from "../protocol/meta.js";
import { METHODS } from "../protocol/methods.js";
import type { ErrorObject, JSONRPCRequest } from "../protocol/types.js";
import type { MirroredHeader, RequestHandler } from "../transport.js";
import { decodeHeaderValue, HeaderName, sameValue } from "./headers.js";

/** Reads a header by its name in lower case. Undefined where it is absent. */
export type ReadHeader = (name: string) => string | undefined;

/**
 * Compares version, method, name and mirrored arguments with the body, and returns the error of the first that
 * differs, or undefined. A body that lacks its version is left to the handler, which refuses it as malformed.
 *
 * @example const mismatch = checkHeaders((name) => headers.get(name) ?? undefined, request, server);
 */
export function checkHeaders(
  header: ReadHeader,
  request: JSONRPCRequest,
  handler: RequestHandler,
): ErrorObject | undefined {
  return (
    checkVersion(header("mcp-protocol-version"), request, handler) ??
    checkMethod(header("mcp-method"), request) ??
    checkName(header("mcp-name"), request) ??
    checkMirrored(header, handler.mirroredHeaders(request))
  );
}

function checkVersion(
  given: string | undefined,
  request: JSONRPCRequest,
  { supportedVersions }: RequestHandler,
): ErrorObject | undefined {
  // Read without checking its shape: malformed `_meta` is the handler's to refuse.
  const meta = request.params?.["_meta"] as Record<string, unknown> | null | undefined;
  const version = meta?.[MetaKey.protocolVersion];
  if (given === undefined) {
    // An initialize-era client shows its user this message and nothing else (basic/versioning).
    return mismatch(
      `the ${HeaderName.protocolVersion} header is missing; this server speaks ${supportedVersions.join(", ")}`,
    );
  }
  if (typeof version !== "string") {
    if (supportedVersions.includes(given)) return undefined;
    return unsupportedVersion(given, supportedVersions).toErrorObject();
  }
  return given === version ? undefined : differs(HeaderName.protocolVersion, given, version);
}

function checkMethod(given: string | undefined, { method }: JSONRPCRequest): ErrorObject | undefined {
  if (given === method) return undefined;
  return given === undefined ? missing(HeaderName.method, method) : differs(HeaderName.method, given, method);
}

function checkName(given: string | undefined, request: JSONRPCRequest): ErrorObject | undefined {
  const nameParam = METHODS.get(request.method)?.nameParam;
  if (nameParam === undefined) return undefined;
  return checkValue(HeaderName.name, given, request.params?.[nameParam]);
}

function checkMirrored(header: ReadHeader, mirrored: readonly MirroredHeader[]): ErrorObject | undefined {
  for (const { header: name, value } of mirrored) {
    const error = checkValue(name, header(name), value);
    if (error) return error;
  }
  return undefined;
}

/** One header that may be encoded, against the value of the body that it mirrors. */
function checkValue(name: string, given: string | undefined, value: unknown): ErrorObject | undefined {
  if (given === undefined) {
    return value === undefined || value === null ? undefined : missing(name, value);
  }
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return mismatch(`${name} mirrors ${value}, an integer beyond ±(2^53 − 1)`);
  }
  const decoded = decodeHeaderValue(given);
  if (decoded === undefined) {
    return mismatch(`${name} header value ${quote(given)} is neither plain ASCII nor valid =?base64?...?=`);
  }
  return sameValue(value, decoded) ? undefined : differs(name, decoded, value);
}

function missing(name: string, value: unknown): ErrorObject {
  return mismatch(`the ${name} header is missing; the body value is ${quote(value)}`);
}

function differs(name: string, given: string, value: unknown): ErrorObject {
  return mismatch(
    value === undefined || value === null
      ? `${name} header value ${quote(given)} mirrors a value that the body does not have`
      : `${name} header value ${quote(given)} does not match body value ${quote(value)}`,
  );
}

function mismatch(what: string): ErrorObject {
  return { code: ErrorCode.HeaderMismatch, message: `Header mismatch: ${what}` };
}

function quote(value: unknown): string {
  const text = typeof value === "string" ? `'${value}'` : String(JSON.stringify(value));
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}
