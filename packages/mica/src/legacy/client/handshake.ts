/** `initialize` as its client (2025-11-25, basic/lifecycle): what both sides speak and can do. */
import { McpError, ProtocolError } from "../../protocol/errors.js";
import { isErrorResponse, isObject } from "../../protocol/jsonrpc.js";
import type { ClientCapabilities, Implementation, Result } from "../../protocol/types.js";
import { LEGACY_VERSIONS, REVISIONS, type Revision } from "../versions.js";
import type { Hold } from "./clocks.js";
import type { Pending } from "./pending.js";

export interface Greeting {
  readonly clientInfo: Implementation;
  readonly capabilities: ClientCapabilities;
  /** The revision to ask for; the server may answer with another one. */
  readonly version: string;
}

export interface Agreement {
  readonly revision: Revision;
  readonly result: Result;
}

/**
 * Asks a server to begin.
 *
 * @throws McpError `unsupported_version` naming what both sides speak, `protocol_error` where the server refuses for
 *   another reason, `invalid_response`, or whatever keeps the answer from coming.
 */
export async function initialize(pending: Pending, greeting: Greeting, hold?: Hold): Promise<Agreement> {
  const { clientInfo, capabilities, version } = greeting;
  const params = { protocolVersion: version, capabilities, clientInfo };
  const response = await pending.send("initialize", params, hold).response;
  if (isErrorResponse(response)) {
    const { code, message, data } = response.error;
    const cause = new ProtocolError(code, message, data);
    const offered = offeredVersions(data);
    const other = LEGACY_VERSIONS.find((known) => known !== version && offered?.includes(known));
    // A server should answer with a version of its own, and some name it in an error instead.
    if (other !== undefined && !offered?.includes(version)) {
      return initialize(pending, { ...greeting, version: other }, hold);
    }
    if (offered !== undefined) throw unsupported(offered.join(", "), cause);
    throw new McpError("protocol_error", `The server refused initialize (${version}): ${message} (${code})`, {
      cause,
    });
  }
  const { protocolVersion, capabilities: offered } = response.result;
  const revision = typeof protocolVersion === "string" ? REVISIONS.get(protocolVersion) : undefined;
  if (revision === undefined) throw unsupported(String(JSON.stringify(protocolVersion)));
  if (offered !== undefined && !isObject(offered)) {
    const problem = `initialize: expected "capabilities" to be an object, got ${JSON.stringify(offered)}`;
    throw new McpError("invalid_response", problem);
  }
  return { revision, result: response.result };
}

function offeredVersions(data: unknown): string[] | undefined {
  const supported: unknown = isObject(data) ? data["supported"] : undefined;
  if (!Array.isArray(supported)) return undefined;
  return supported.filter((version) => typeof version === "string");
}

function unsupported(theirs: string, cause?: unknown): McpError {
  return new McpError(
    "unsupported_version",
    `No protocol version in common: the server answers initialize with ${theirs || "none"}; this client speaks ${LEGACY_VERSIONS.join(", ")} with a handshake`,
    cause === undefined ? undefined : { cause },
  );
}
