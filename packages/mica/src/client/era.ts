/**
 * Finding out what a server speaks, by the specification's own probe: `server/discover` (basic/versioning,
 * Backward Compatibility). An era is a property of the server, found once; whatever it is, the rest of the
 * client speaks one protocol through one {@link ClientTransport}.
 */
import { ErrorCode, McpError, type ProtocolError } from "../protocol/errors.js";
import { isObject } from "../protocol/jsonrpc.js";
import { type DiscoverResult, PROTOCOL_VERSION } from "../protocol/types.js";
import { type Exchanger, rpcCodeOf, type SendOptions, shown } from "./exchange.js";
import { checkShape, resultType } from "./result.js";

/** The revisions with per-request metadata that this client speaks, newest first. */
export const MODERN_VERSIONS: readonly string[] = [PROTOCOL_VERSION];

/** Which branch of the rule told the era of a server (Backward Compatibility of either binding). */
export type EraBranch =
  /** `server/discover` was answered: modern. */
  | "discovered"
  /** It was refused with an error of modern servers, and then answered in a version that both speak: modern. */
  | "modern_error"
  /** It was refused with any other JSON-RPC error: legacy. */
  | "legacy_error"
  /** It was answered with a result that is none of `server/discover`: legacy. */
  | "legacy_result"
  /** It was refused with an HTTP status, and no JSON-RPC error of modern servers: legacy. */
  | "http_status"
  /** A process did not answer it in time: legacy. */
  | "silence"
  /** A process did not survive it: legacy. */
  | "exit"
  /** It was not sent, because this server was found to be legacy before. */
  | "remembered"
  /** It was not sent, because the caller said what to speak. */
  | "forced";

/** What the probe found. A legacy server is one that answered as no modern server may. */
export type Era =
  | {
      readonly kind: "modern";
      readonly branch: "discovered" | "modern_error";
      readonly protocolVersion: string;
      readonly discovered: DiscoverResult;
    }
  | {
      readonly kind: "legacy";
      readonly branch: "legacy_error" | "legacy_result" | "http_status";
      readonly answer: string;
      readonly cause: unknown;
    };

/** Errors that only a modern server answers with: they identify one (transports/stdio, Backward Compatibility). */
const MODERN_ERRORS = new Set<number>([
  ErrorCode.HeaderMismatch,
  ErrorCode.MissingRequiredClientCapability,
  ErrorCode.UnsupportedProtocolVersion,
]);

/**
 * Probes a server, and leaves the exchanger set to the revision that both sides speak.
 *
 * @throws McpError `unsupported_version` naming both lists, or whatever kept the probe from being answered.
 */
export async function findEra(
  exchanger: Exchanger,
  options: SendOptions,
  spoken: readonly string[] = MODERN_VERSIONS,
): Promise<Era> {
  const refused = new Set<string>();
  for (;;) {
    const requested = exchanger.protocolVersion;
    try {
      const discovered = await discover(exchanger, options);
      exchanger.protocolVersion = chooseVersion(spoken, discovered.supportedVersions);
      const branch = refused.size > 0 ? "modern_error" : "discovered";
      return { kind: "modern", branch, protocolVersion: exchanger.protocolVersion, discovered };
    } catch (error) {
      const code = rpcCodeOf(error);
      if (code === ErrorCode.UnsupportedProtocolVersion) {
        const supported = supportedIn(error as McpError);
        const chosen = chooseVersion(spoken, supported, error);
        // "SHOULD select a mutually supported version from the `supported` list and retry" (basic/versioning, Protocol
        // Version Negotiation): once, even where that is the one just refused, as by the last process of an old release.
        if (refused.has(chosen)) throw contradiction(chosen, supported, error);
        refused.add(requested);
        exchanger.protocolVersion = chosen;
        continue;
      }
      if (code !== undefined && !MODERN_ERRORS.has(code)) {
        const { message } = (error as McpError).cause as ProtocolError;
        return {
          kind: "legacy",
          branch: "legacy_error",
          answer: `it answered server/discover with ${code}: ${message}`,
          cause: error,
        };
      }
      if (error instanceof LegacyResultError) {
        return { kind: "legacy", branch: "legacy_result", answer: error.message, cause: error };
      }
      if (isLegacyStatus(error)) {
        return { kind: "legacy", branch: "http_status", answer: error.message, cause: error };
      }
      throw error;
    }
  }
}

async function discover(exchanger: Exchanger, options: SendOptions): Promise<DiscoverResult> {
  const result = await exchanger.send("server/discover", {}, options);
  if (result.resultType === undefined && result["supportedVersions"] === undefined) {
    throw new LegacyResultError(`it answered server/discover with ${shown(result)}`);
  }
  resultType("server/discover", result);
  checkShape("server/discover", result);
  return result as DiscoverResult;
}

/** Some servers of earlier revisions answer whatever they are asked. */
class LegacyResultError extends Error {}

/** @throws McpError `unsupported_version` naming both lists, where they have nothing in common. */
function chooseVersion(spoken: readonly string[], supported: readonly string[], cause?: unknown): string {
  const chosen = spoken.find((version) => supported.includes(version));
  if (chosen !== undefined) return chosen;
  const theirs = supported.length ? supported.join(", ") : "none that it names";
  throw new McpError(
    "unsupported_version",
    `No protocol version in common: the server speaks ${theirs}; this client speaks ${spoken.join(", ")}`,
    cause === undefined ? undefined : { cause },
  );
}

function supportedIn(error: McpError): string[] {
  const data = (error.cause as ProtocolError).data;
  const supported = isObject(data) ? data["supported"] : undefined;
  return Array.isArray(supported) ? supported.filter((version) => typeof version === "string") : [];
}

function contradiction(version: string, supported: readonly string[], cause: unknown): McpError {
  return new McpError(
    "unsupported_version",
    `The server refused protocol version ${version}, although it says that it speaks ${supported.join(", ")}`,
    { cause },
  );
}

/** Statuses that say who may not ask, or when, rather than what. */
const OTHER_REFUSALS = new Set([401, 402, 403, 407, 408, 425, 429]);

/**
 * "If the body is empty or is not a recognized modern JSON-RPC error, fall back" (transports/streamable-http,
 * Backward Compatibility), on any `4xx` that speaks of the request (basic/versioning, Compatibility Matrix); and where
 * a request was taken as if nothing had to be answered.
 */
function isLegacyStatus(error: unknown): error is McpError {
  const status =
    error instanceof McpError ? (error.cause as { status?: unknown } | undefined)?.status : undefined;
  if (typeof status !== "number") return false;
  return status === 202 || status === 204 || (status >= 400 && status < 500 && !OTHER_REFUSALS.has(status));
}

/** A server of an earlier revision, seen by a client that speaks none. */
export function legacyError({ answer, cause }: Extract<Era, { kind: "legacy" }>): McpError {
  return new McpError(
    "unsupported_version",
    `The server seems to speak an earlier protocol revision, one that begins with "initialize" (${answer}); this client speaks ${MODERN_VERSIONS.join(", ")}`,
    { cause },
  );
}
