/** `_meta`: its reserved keys, and the fields that every request carries (basic, `_meta`). */
import { ErrorCode, ProtocolError } from "./errors.js";
import { isObject, isRequestId } from "./jsonrpc.js";
import type { ClientCapabilities, Implementation, LoggingLevel, MetaObject, ProgressToken } from "./types.js";

export const MetaKey = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  serverInfo: "io.modelcontextprotocol/serverInfo",
} as const;

/** Severities of RFC 5424, least to most severe: the index is the rank. */
export const LOGGING_LEVELS: readonly LoggingLevel[] = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
];

/** The per-request protocol fields of a request. */
export interface RequestMeta {
  protocolVersion: string;
  clientCapabilities: ClientCapabilities;
  clientInfo: Implementation | undefined;
  logLevel: LoggingLevel | undefined;
  progressToken: ProgressToken | undefined;
  /** All of `_meta`, trace context and extensions included. */
  all: MetaObject;
}

/**
 * Reads the per-request protocol fields.
 *
 * @throws ProtocolError -32602 naming the field, where a required one is missing or any is malformed.
 */
export function readRequestMeta(params: Record<string, unknown> | undefined): RequestMeta {
  const meta = params?.["_meta"];
  if (!isObject(meta)) throw malformed("params._meta", "an object", meta);
  const protocolVersion = meta[MetaKey.protocolVersion];
  if (typeof protocolVersion !== "string")
    throw malformed(MetaKey.protocolVersion, "a string", protocolVersion);
  const clientCapabilities = meta[MetaKey.clientCapabilities];
  if (!isObject(clientCapabilities))
    throw malformed(MetaKey.clientCapabilities, "an object", clientCapabilities);
  const clientInfo = meta[MetaKey.clientInfo];
  if (clientInfo !== undefined && !isImplementation(clientInfo)) {
    throw malformed(MetaKey.clientInfo, "an object with the strings name and version", clientInfo);
  }
  const logLevel = meta[MetaKey.logLevel];
  if (logLevel !== undefined && !LOGGING_LEVELS.includes(logLevel as LoggingLevel)) {
    throw malformed(MetaKey.logLevel, `one of ${LOGGING_LEVELS.join(", ")}`, logLevel);
  }
  const progressToken = meta["progressToken"];
  if (progressToken !== undefined && !isRequestId(progressToken)) {
    throw malformed("progressToken", "a string or an integer", progressToken);
  }
  return {
    protocolVersion,
    clientCapabilities: clientCapabilities as ClientCapabilities,
    clientInfo: clientInfo as Implementation | undefined,
    logLevel: logLevel as LoggingLevel | undefined,
    progressToken: progressToken as ProgressToken | undefined,
    all: meta,
  };
}

function isImplementation(value: unknown): value is Implementation {
  return isObject(value) && typeof value["name"] === "string" && typeof value["version"] === "string";
}

function malformed(field: string, expected: string, got: unknown): ProtocolError {
  const found = got === undefined ? "it is missing" : `got ${shorten(JSON.stringify(got))}`;
  return new ProtocolError(ErrorCode.InvalidParams, `Invalid _meta: ${field} must be ${expected}; ${found}`);
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
