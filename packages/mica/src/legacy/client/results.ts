/** Results of servers of earlier revisions, with what the current one requires of every result. */
import { isObject } from "../../protocol/jsonrpc.js";
import { MetaKey } from "../../protocol/meta.js";
import { METHODS } from "../../protocol/methods.js";
import type { DiscoverResult, Result, ServerCapabilities } from "../../protocol/types.js";

/** How long a result may be used was not said before: not at all (server/utilities/caching). */
const NOT_CACHEABLE = { ttlMs: 0, cacheScope: "private" } as const;

export function modernResult(method: string, result: Result): Result {
  const hints = METHODS.get(method)?.cacheable ? NOT_CACHEABLE : undefined;
  return { ...result, ...hints, resultType: "complete" };
}

/** The result of `initialize`, as the answer to `server/discover`. */
export function discovered(initialized: Result, version: string): DiscoverResult {
  const { capabilities, serverInfo, instructions, _meta } = initialized;
  return {
    resultType: "complete",
    supportedVersions: [version],
    capabilities: (isObject(capabilities) ? capabilities : {}) as ServerCapabilities,
    ...(typeof instructions === "string" && { instructions }),
    ...NOT_CACHEABLE,
    _meta: { ..._meta, ...(isObject(serverInfo) && { [MetaKey.serverInfo]: serverInfo }) },
  };
}
