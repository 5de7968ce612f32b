/**
 * Request metadata in headers (transports/streamable-http, Request Metadata): the names, the value
 * encoding, the comparison of a header with the body, and the headers of a request. Pure, for both sides.
 */
import { MetaKey } from "../protocol/meta.js";
import { METHODS } from "../protocol/methods.js";
import type { JSONRPCRequest } from "../protocol/types.js";
import type { MirroredHeader } from "../transport.js";

/** Names as the specification writes them. Comparison ignores case, so look them up in lower case. */
export const HeaderName = {
  protocolVersion: "MCP-Protocol-Version",
  method: "Mcp-Method",
  name: "Mcp-Name",
} as const;

const PREFIX = "=?base64?";
const SUFFIX = "?=";
const PLAIN = /^[\x20-\x7e\t]*$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.0+)?$/;
/** At most 15 digits, so that two different decimals are two different doubles. */
const SCIENTIFIC = /^-?\d(?:\.\d{1,14})?[eE]\+?\d{1,2}$/;

/**
 * Encodes a value for `Mcp-Name` or `Mcp-Param-*` (Value Encoding). Plain ASCII stays as it is; the rest goes
 * out as `=?base64?...?=`: other characters, outer whitespace, what looks encoded already, and the empty
 * string, because intermediaries drop empty headers.
 *
 * @throws TypeError where a number is not an integer in the safe range, or a string holds half a surrogate
 *   pair: neither has a representation that the body would equal.
 * @example encodeHeaderValue("Hello, 世界"); // "=?base64?SGVsbG8sIOS4lueVjA==?="
 */
export function encodeHeaderValue(value: string | number | boolean): string {
  if (typeof value === "number" && !Number.isSafeInteger(value)) {
    throw new TypeError(`A number in a header must be an integer within ±(2^53 − 1), got ${value}`);
  }
  const text = String(value);
  if (isPlain(text)) return text;
  if (!text.isWellFormed()) {
    throw new TypeError(`A string in a header must be well-formed Unicode, got ${JSON.stringify(text)}`);
  }
  return PREFIX + toBase64(new TextEncoder().encode(text)) + SUFFIX;
}

/**
 * Decodes a header value, encoded or plain. Undefined where it is malformed: characters outside plain ASCII,
 * base64 that is invalid or not canonical, or bytes that are not UTF-8.
 *
 * @example decodeHeaderValue("=?base64?ZmFzdA==?="); // "fast"
 */
export function decodeHeaderValue(header: string): string | undefined {
  if (!PLAIN.test(header)) return undefined;
  if (!looksEncoded(header)) return header;
  const payload = header.slice(PREFIX.length, -SUFFIX.length);
  // The two markers may share one question mark: then there is no payload between them.
  if (header.length < PREFIX.length + SUFFIX.length || !BASE64.test(payload)) return undefined;
  try {
    const bytes = fromBase64(payload);
    if (toBase64(bytes) !== payload) return undefined;
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Whether a decoded header value says the same as the body: strings exactly, booleans as `true` or `false`,
 * integers numerically (Server Validation), so `42.0` equals 42. Integers beyond the safe range equal nothing.
 */
export function sameValue(body: unknown, decoded: string): boolean {
  if (typeof body === "string") return body === decoded;
  if (typeof body === "boolean") return decoded === String(body);
  if (typeof body !== "number") return false;
  if (!Number.isInteger(body)) return decoded === String(body);
  return (
    Number.isSafeInteger(body) &&
    (DECIMAL.test(decoded) || SCIENTIFIC.test(decoded)) &&
    Number(decoded) === body
  );
}

/**
 * The metadata headers of a request: version, method, name, and the arguments to mirror. Arguments that are
 * absent, null or no primitive have no header.
 *
 * @throws TypeError where the method or an argument cannot stand in a header.
 * @example const headers = { ...requestHeaders(request), "content-type": "application/json" };
 */
export function requestHeaders(
  request: JSONRPCRequest,
  mirrored: readonly MirroredHeader[] = [],
): Record<string, string> {
  const headers: Record<string, string> = {};
  const meta = request.params?.["_meta"] as Record<string, unknown> | undefined;
  const version = meta?.[MetaKey.protocolVersion];
  if (typeof version === "string") headers[HeaderName.protocolVersion] = version;
  if (!isPlain(request.method)) {
    throw new TypeError(`A method must be plain ASCII over HTTP, got ${JSON.stringify(request.method)}`);
  }
  headers[HeaderName.method] = request.method;
  const nameParam = METHODS.get(request.method)?.nameParam;
  const name = nameParam && request.params?.[nameParam];
  if (typeof name === "string") headers[HeaderName.name] = encodeHeaderValue(name);
  for (const { header, value } of mirrored) {
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
      headers[header] = encodeHeaderValue(value);
    }
  }
  return headers;
}

/** Whether a text can stand in a header as it is. */
function isPlain(text: string): boolean {
  return text !== "" && PLAIN.test(text) && text.trim() === text && !looksEncoded(text);
}

function looksEncoded(text: string): boolean {
  return text.startsWith(PREFIX) && text.endsWith(SUFFIX);
}

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  // In pieces, because the arguments of one call are limited.
  for (let at = 0; at < bytes.length; at += 8192) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return btoa(binary);
}

function fromBase64(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
