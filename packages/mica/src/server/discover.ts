/** `server/discover`: versions, capabilities and instructions (server/discover). */
import type { CacheHints, DiscoverResult, JSONObject, ServerCapabilities } from "../protocol/types.js";

/** What has been registered, as far as capabilities depend on it. */
export interface Offered {
  tools: boolean;
  resources: boolean;
  prompts: boolean;
  completions: boolean;
  /** Settings by identifier; undefined where there are no extensions. */
  extensions: Record<string, JSONObject> | undefined;
}

/** Change notifications are always on offer: a list that never changes simply sends none. */
export function capabilitiesOf(offered: Offered): ServerCapabilities {
  const capabilities: ServerCapabilities = { logging: {} };
  if (offered.tools) capabilities.tools = { listChanged: true };
  if (offered.resources) capabilities.resources = { subscribe: true, listChanged: true };
  if (offered.prompts) capabilities.prompts = { listChanged: true };
  if (offered.completions) capabilities.completions = {};
  if (offered.extensions !== undefined) capabilities.extensions = offered.extensions;
  return capabilities;
}

export function discover(
  supportedVersions: readonly string[],
  offered: Offered,
  instructions: string | undefined,
  hints: CacheHints,
): DiscoverResult {
  return {
    supportedVersions: [...supportedVersions],
    capabilities: capabilitiesOf(offered),
    ...(instructions !== undefined && { instructions }),
    ...hints,
  };
}
