/** Requests of the current revision, as servers of earlier ones expect them: without what a handshake said once. */
import { isObject } from "../../protocol/jsonrpc.js";
import { MetaKey } from "../../protocol/meta.js";
import type { JSONRPCRequest, LoggingLevel, MetaObject, ProgressToken } from "../../protocol/types.js";

const PER_REQUEST = new Set<string>([
  MetaKey.protocolVersion,
  MetaKey.clientInfo,
  MetaKey.clientCapabilities,
  MetaKey.logLevel,
]);

/** The params that go out; undefined where nothing is left. Progress token, trace context and the like stay. */
export function legacyParams(params: JSONRPCRequest["params"]): Record<string, unknown> | undefined {
  if (params === undefined) return undefined;
  const { _meta, inputResponses: _, requestState: __, ...rest } = params;
  const meta = isObject(_meta) ? Object.entries(_meta).filter(([key]) => !PER_REQUEST.has(key)) : [];
  if (meta.length > 0) return { ...rest, _meta: Object.fromEntries(meta) };
  return Object.keys(rest).length > 0 ? rest : undefined;
}

/** `_meta` of a request, where it has one. */
export function metaOf({ params }: JSONRPCRequest): MetaObject {
  const meta = params?.["_meta"];
  return isObject(meta) ? meta : {};
}

export function progressTokenOf(request: JSONRPCRequest): ProgressToken | undefined {
  return metaOf(request)["progressToken"] as ProgressToken | undefined;
}

/** The level of log messages that a request asks for; undefined where it asks for none. */
export function logLevelOf(request: JSONRPCRequest): LoggingLevel | undefined {
  return metaOf(request)[MetaKey.logLevel] as LoggingLevel | undefined;
}
