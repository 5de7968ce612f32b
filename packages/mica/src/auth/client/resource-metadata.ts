/** Protected resource metadata: where it stands, and whether it may be used (RFC 9728; authorization-server-discovery). */
import { isScope } from "../../protocol/scopes.js";
import { PROTECTED_RESOURCE, protectedResourceMetadataUrls } from "../shared/well-known.js";
import { AuthError } from "./auth-error.js";
import { type AuthHttp, jsonObject } from "./auth-http.js";
import { followable } from "./reach.js";

export interface ResourceMetadata {
  /** Exactly as it was given: it is sent so, and compared so. */
  readonly resource: string;
  /** At least one. */
  readonly authorizationServers: readonly string[];
  readonly scopesSupported: readonly string[] | undefined;
  /** Whether tokens must be bound to a key (RFC 9728, section 2). */
  readonly requiresDpop: boolean;
}

/**
 * Gets the metadata from where the challenge says, or else from the well-known URLs, at the path first and then at the
 * root. Undefined where it is at none of these: then the server may be of revision 2025-03-26.
 *
 * @throws AuthError where what is there must not be used.
 */
export async function findResourceMetadata(
  http: AuthHttp,
  named: string | undefined,
): Promise<ResourceMetadata | undefined> {
  const { server } = http;
  if (named !== undefined) {
    const url = followable(named, "resource_metadata of the challenge", server);
    const answer = await http.at("resource_metadata", "where the challenge says that it is")(url.href);
    const json = answer.status === 200 ? await jsonObject(answer) : undefined;
    if (json !== undefined) return judgeResourceMetadata(json, { server, from: url });
    const came = answer.status === 200 ? "something that is not a JSON object" : `HTTP ${answer.status}`;
    throw new AuthError(
      "discovery_failed",
      `${url.href} answered ${came}, expected protected resource metadata`,
    );
  }
  for (const [at, url] of protectedResourceMetadataUrls(server.href).entries()) {
    const about = at === 0 ? "the well-known URL of the server" : "the well-known URL of its root";
    const answer = await http.at("resource_metadata", about)(url);
    if (answer.status >= 500) {
      throw new AuthError("discovery_failed", `${url} answered HTTP ${answer.status}, expected 200 or 404`);
    }
    // Sites that answer every path with a page have no metadata either.
    const json = answer.status === 200 ? await jsonObject(answer) : undefined;
    if (json !== undefined) return judgeResourceMetadata(json, { server, from: new URL(url) });
  }
  return undefined;
}

export interface MetadataOrigin {
  readonly server: URL;
  /** Where the document came from. */
  readonly from: URL;
}

/** @throws AuthError `resource_mismatch` where it is about another resource, `discovery_failed` where it is incomplete. */
export function judgeResourceMetadata(
  json: Readonly<Record<string, unknown>>,
  { server, from }: MetadataOrigin,
): ResourceMetadata {
  const { resource, authorization_servers: servers, scopes_supported: scopes } = json;
  if (typeof resource !== "string" || !URL.canParse(resource) || resource.includes("#")) {
    throw incomplete("resource to be an absolute URL without a fragment", resource);
  }
  if (!isResourceOf(resource, server, from)) {
    throw new AuthError(
      "resource_mismatch",
      `The protected resource metadata at ${from.origin}${from.pathname} is about ${JSON.stringify(resource)}, and the server is ${JSON.stringify(resourceOf(server))}: a token for the one must not be asked for on behalf of the other`,
    );
  }
  if (!Array.isArray(servers) || servers.length === 0 || !servers.every((one) => typeof one === "string")) {
    throw incomplete("authorization_servers to be a list with at least one URL", servers);
  }
  return {
    resource,
    authorizationServers: servers as string[],
    scopesSupported: Array.isArray(scopes) ? scopes.filter(isScope) : undefined,
    requiresDpop: json["dpop_bound_access_tokens_required"] === true,
  };
}

/**
 * Whether a server is the resource (RFC 9728, section 3.3), or stands below it: the same scheme, host and port, and a
 * path that begins with all segments of the resource's. For what is above, only the origin itself may speak, by a
 * document in its well-known space: on a shared host, one path must not get tokens for all. Nothing that is sent is
 * changed for the comparison.
 */
export function isResourceOf(resource: string, server: URL, from: URL): boolean {
  const { origin, pathname, search } = new URL(resource);
  if (origin !== server.origin || (search !== "" && search !== server.search)) return false;
  const base = pathname.replace(/\/$/, "");
  const path = server.pathname.replace(/\/$/, "");
  if (path === base) return true;
  const speaksForOrigin = from.origin === origin && from.pathname.startsWith(PROTECTED_RESOURCE);
  return speaksForOrigin && path.startsWith(`${base}/`);
}

/** The canonical URI of a server that has no metadata: without the slash that a URL has at an empty path. */
export function resourceOf({ origin, pathname, search }: URL): string {
  return `${origin}${pathname === "/" ? "" : pathname}${search}`;
}

function incomplete(expected: string, got: unknown): AuthError {
  const message = `Protected resource metadata: expected ${expected}, got ${JSON.stringify(got) ?? "nothing"}`;
  return new AuthError("discovery_failed", message);
}
