/** The headers of a request that is written by hand (transports/streamable-http, Request Metadata). */

import type { JsonSchema } from "../protocol/features.js";
import type { JSONRPCRequest } from "../protocol/types.js";
import { headerParams, mirrorArguments } from "../schema/header-params.js";
import { requestHeaders } from "./headers.js";

/**
 * All headers that a POST of this request needs: content type, what is accepted, version, method, name, and, where
 * the tool's `inputSchema` is given, the arguments that it mirrors.
 *
 * @throws TypeError where something cannot stand in a header.
 * @example await fetch(url, { method: "POST", headers: httpHeaders(request), body: JSON.stringify(request) });
 */
export function httpHeaders(
  request: Pick<JSONRPCRequest, "method" | "params">,
  inputSchema?: JsonSchema,
): Record<string, string> {
  const params = inputSchema === undefined ? [] : (headerParams(inputSchema).params ?? []);
  const mirrored = mirrorArguments(params, request.params?.["arguments"]);
  return {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    ...requestHeaders({ jsonrpc: "2.0", id: 0, ...request }, mirrored),
  };
}
