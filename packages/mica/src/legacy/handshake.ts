/** `initialize` (2025-11-25, basic/lifecycle): what both sides can do, learned from `server/discover`. */
import { ErrorCode, ProtocolError } from "../protocol/errors.js";
import { isErrorResponse, isObject } from "../protocol/jsonrpc.js";
import type { Result, ServerCapabilities } from "../protocol/types.js";
import type { RequestHandler } from "../transport.js";
import type { OpenRequest } from "./open-request.js";
import {
  type ClientTraits,
  clientCapabilitiesFor,
  DEFAULT_LOG_LEVEL,
  modernParams,
  readClientInfo,
} from "./requests.js";
import { serverCapabilitiesFor, serverInfoFor } from "./results.js";
import { negotiate, type Revision } from "./versions.js";

/** What was agreed on. */
export interface Handshake {
  readonly revision: Revision;
  readonly client: ClientTraits;
  /** What the server declared to this client. */
  readonly offered: ServerCapabilities;
  /** The result of `initialize`. */
  readonly result: Result;
}

/** @throws ProtocolError -32602 naming what is malformed, or the error of `server/discover`. */
export async function shakeHands(
  open: OpenRequest,
  handler: RequestHandler,
  stateless: boolean,
): Promise<Handshake> {
  const { request } = open;
  const { protocolVersion, capabilities = {}, clientInfo } = request.params ?? {};
  if (typeof protocolVersion !== "string") throw malformed("protocolVersion", "a string", protocolVersion);
  if (!isObject(capabilities)) throw malformed("capabilities", "an object", capabilities);
  const revision = negotiate(protocolVersion);
  const client: ClientTraits = {
    info: readClientInfo(clientInfo),
    capabilities: clientCapabilitiesFor(capabilities, revision),
  };
  const params = modernParams(undefined, client, DEFAULT_LOG_LEVEL);
  const response = await handler.handle({ ...request, method: "server/discover", params }, open);
  if (isErrorResponse(response)) {
    const { code, message, data } = response.error;
    throw new ProtocolError(code, message, data);
  }
  const { _meta, capabilities: declared, instructions } = response.result;
  const offered = serverCapabilitiesFor(isObject(declared) ? declared : {}, revision, stateless);
  return {
    revision,
    client,
    offered,
    result: {
      protocolVersion: revision.version,
      capabilities: offered,
      serverInfo: serverInfoFor(_meta, revision),
      ...(typeof instructions === "string" && { instructions }),
    },
  };
}

function malformed(field: string, expected: string, got: unknown): ProtocolError {
  const found = got === undefined ? "it is missing" : `got ${JSON.stringify(got)}`;
  return new ProtocolError(ErrorCode.InvalidParams, `Invalid params: ${field} must be ${expected}; ${found}`);
}
