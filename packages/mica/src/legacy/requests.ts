/** Requests of an initialize-era client, as the current revision has them: every one says what the handshake said once. */
import { isObject } from "../protocol/jsonrpc.js";
import { MetaKey } from "../protocol/meta.js";
import {
  type ClientCapabilities,
  type Implementation,
  type JSONObject,
  type LoggingLevel,
  PROTOCOL_VERSION,
} from "../protocol/types.js";
import type { Revision } from "./versions.js";

/** What a session knows of its client. */
export interface ClientTraits {
  readonly info: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
}

export const UNKNOWN_CLIENT: ClientTraits = { info: undefined, capabilities: {} };

/** The level of log messages before `logging/setLevel`: "the server MAY decide" (2025-11-25, server/utilities/logging). */
export const DEFAULT_LOG_LEVEL: LoggingLevel = "info";

/** The params of a request with everything that the current revision wants in `_meta`; what was there stays. */
export function modernParams(
  params: Record<string, unknown> | undefined,
  { info, capabilities }: ClientTraits,
  logLevel: LoggingLevel,
): Record<string, unknown> {
  const meta = params?.["_meta"];
  return {
    ...params,
    _meta: {
      ...(isObject(meta) && meta),
      [MetaKey.protocolVersion]: PROTOCOL_VERSION,
      ...(info !== undefined && { [MetaKey.clientInfo]: info }),
      [MetaKey.clientCapabilities]: capabilities,
      [MetaKey.logLevel]: logLevel,
    },
  };
}

/** Reads `clientInfo` of `initialize`. It is for display only, so a malformed one is no reason to refuse a client. */
export function readClientInfo(info: unknown): Implementation | undefined {
  return isObject(info) && typeof info["name"] === "string" && typeof info["version"] === "string"
    ? (info as unknown as Implementation)
    : undefined;
}

/** The capabilities of a client as far as its revision has them, in the words of the current one. */
export function clientCapabilitiesFor(
  declared: Record<string, unknown>,
  revision: Revision,
): ClientCapabilities {
  const { experimental, roots, sampling, elicitation } = declared;
  const capabilities: ClientCapabilities = {};
  if (isObject(experimental)) capabilities.experimental = experimental as Record<string, JSONObject>;
  if (isObject(roots)) capabilities.roots = {};
  if (isObject(sampling)) {
    // `includeContext` was part of sampling before it had a capability of its own.
    capabilities.sampling = revision.samplingTools ? pick(sampling, "context", "tools") : { context: {} };
  }
  if (isObject(elicitation) && revision.elicitation !== "none") {
    const modes = revision.elicitation === "full" ? pick(elicitation, "form", "url") : {};
    capabilities.elicitation = Object.keys(modes).length > 0 ? modes : { form: {} };
  }
  return capabilities;
}

function pick(from: Record<string, unknown>, ...names: string[]): Record<string, JSONObject> {
  return Object.fromEntries(names.flatMap((name) => (isObject(from[name]) ? [[name, from[name]]] : [])));
}
