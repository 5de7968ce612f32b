/** The pipeline of one request: envelope, method, handler, stamp, answer. */
import { ErrorCode, insufficientScope, ProtocolError, unsupportedVersion } from "../protocol/errors.js";
import { errorResponse, resultResponse } from "../protocol/jsonrpc.js";
import { MetaKey, type RequestMeta, readRequestMeta } from "../protocol/meta.js";
import { METHODS, type MethodRow } from "../protocol/methods.js";
import { missingScopes } from "../protocol/scopes.js";
import type {
  Implementation,
  JSONRPCRequest,
  JSONRPCResponse,
  MetaObject,
  Result,
  ServerCapabilities,
} from "../protocol/types.js";
import type { AuthInfo, RequestHandler, ServerExchange } from "../transport.js";
import { asProtocolError, type OnError } from "./failure.js";

/** Serves one method. Throws `ProtocolError` for what the caller should see; anything else stays concealed. */
export type MethodHandler = (
  params: Record<string, unknown>,
  meta: RequestMeta,
  exchange: ServerExchange,
  request: JSONRPCRequest,
) => Result | Promise<Result>;

export interface Dispatch {
  readonly info: Implementation;
  readonly supportedVersions: readonly string[];
  readonly handlers: ReadonlyMap<string, MethodHandler>;
  capabilities(): ServerCapabilities;
  requiredScopes(request: JSONRPCRequest): readonly string[];
  readonly onError: OnError;
}

/** Builds `handle`: it never throws or rejects, and keeps nothing from one request to the next. */
export function createDispatcher(dispatch: Dispatch): RequestHandler["handle"] {
  const stamp = createStamp(dispatch.info);

  function failed(request: JSONRPCRequest, exchange: ServerExchange, error: unknown): JSONRPCResponse {
    const failure = asProtocolError(error, request.method, dispatch.onError, exchange);
    return errorResponse(request.id, failure.toErrorObject());
  }

  return function handle(request, exchange) {
    try {
      const meta = readEnvelope(request, dispatch.supportedVersions);
      const handler = findHandler(request.method, dispatch);
      if (exchange.auth !== undefined) checkScopes(request, exchange.auth, dispatch);
      const result = handler(request.params ?? {}, meta, exchange, request);
      if (!(result instanceof Promise)) return resultResponse(request.id, stamp(result));
      return result.then(
        (late) => resultResponse(request.id, stamp(late)),
        (error: unknown) => failed(request, exchange, error),
      );
    } catch (error) {
      return failed(request, exchange, error);
    }
  };
}

function readEnvelope(request: JSONRPCRequest, supported: readonly string[]): RequestMeta {
  // A handshake has no envelope. Its sender can show its user nothing but this error, so it names the versions.
  if (request.method === "initialize" && request.params?.["_meta"] === undefined) {
    const requested = request.params?.["protocolVersion"];
    throw unsupportedVersion(typeof requested === "string" ? requested : "", supported);
  }
  const meta = readRequestMeta(request.params);
  if (!supported.includes(meta.protocolVersion)) throw unsupportedVersion(meta.protocolVersion, supported);
  return meta;
}

/** A method is there when somebody serves it and its capability is declared: either way the other error is the same. */
function findHandler(method: string, dispatch: Dispatch): MethodHandler {
  const row: MethodRow | undefined = METHODS.get(method);
  const handler = dispatch.handlers.get(method);
  if (handler === undefined) {
    const missing = row?.extension && ` (this server does not offer ${row.extension})`;
    throw notFound(`Method not found: ${method}${missing ?? ""}`);
  }
  if (row?.capability !== undefined && dispatch.capabilities()[row.capability] === undefined) {
    throw notFound(`Method not found: ${method} (this server does not offer ${row.capability})`);
  }
  return handler;
}

/** HTTP bindings have answered 403 before; whatever else authenticates relies on this. */
function checkScopes(request: JSONRPCRequest, auth: AuthInfo, dispatch: Dispatch): void {
  const missing = missingScopes(auth.scopes, dispatch.requiredScopes(request));
  if (missing.length > 0) throw insufficientScope(request.method, missing);
}

function notFound(message: string): ProtocolError {
  return new ProtocolError(ErrorCode.MethodNotFound, message);
}

/** Names the type of a result and the server it comes from (basic, ResultType and per-response protocol fields). */
function createStamp(info: Implementation): (result: Result) => Result {
  // Icons may hold whole images: they go with discovery alone.
  const ownMeta: MetaObject = { [MetaKey.serverInfo]: { name: info.name, version: info.version } };
  return (result) => {
    // A page of a list serves many responses and is stamped with the first.
    if (result._meta === ownMeta) return result;
    result.resultType ??= "complete";
    result._meta = result._meta === undefined ? ownMeta : { ...ownMeta, ...result._meta };
    return result;
  };
}
