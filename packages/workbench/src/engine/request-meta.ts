/** What every request of the current revision carries, and the revisions that are spoken by hand. */
import { NAME, VERSION } from "../version.js";

export const MODERN_REVISION = "2026-07-28";
/** The newest revision that begins with `initialize`. */
export const LEGACY_REVISION = "2025-11-25";

export const META = {
  version: "io.modelcontextprotocol/protocolVersion",
  capabilities: "io.modelcontextprotocol/clientCapabilities",
  client: "io.modelcontextprotocol/clientInfo",
  server: "io.modelcontextprotocol/serverInfo",
  subscription: "io.modelcontextprotocol/subscriptionId",
} as const;

export const CLIENT_INFO = { name: NAME, version: VERSION };

/** The `_meta` of a request (basic, Per-request protocol fields). */
export function requestMeta(revision: string = MODERN_REVISION): Readonly<Record<string, unknown>> {
  return { [META.version]: revision, [META.client]: CLIENT_INFO, [META.capabilities]: {} };
}
