/** From a challenge to an authorization server: the resource, its metadata, and one server that can be used. */
import { AuthError, messageOf } from "./auth-error.js";
import type { AuthHttp } from "./auth-http.js";
import type { TokenChallenge } from "./challenge.js";
import { findResourceMetadata, resourceOf } from "./resource-metadata.js";
import type { ServerMetadata } from "./server-metadata.js";

export interface Discovered {
  /** To be sent as it is. */
  readonly resource: string;
  readonly metadata: ServerMetadata;
  readonly scopesSupported: readonly string[] | undefined;
  readonly requiresDpop: boolean;
}

export interface DiscoveryOptions {
  /** Puts issuers into the order in which they are tried. */
  readonly prefer: (issuers: readonly string[]) => readonly string[];
  /** Whether endpoints of revision 2025-03-26 are assumed where there is no metadata at all. */
  readonly assumeEndpoints: boolean;
  /** Gets metadata, perhaps from memory. */
  readonly metadataOf: (issuer: string) => Promise<ServerMetadata>;
}

/** @throws AuthError */
export async function discover(
  http: AuthHttp,
  challenge: TokenChallenge | undefined,
  options: DiscoveryOptions,
): Promise<Discovered> {
  const found = await findResourceMetadata(http, challenge?.resourceMetadata);
  const requiresDpop = found?.requiresDpop === true || challenge?.scheme === "dpop";
  if (found === undefined) {
    const metadata = await metadataOfOrigin(http, options);
    return { resource: resourceOf(http.server), metadata, scopesSupported: undefined, requiresDpop };
  }
  const { resource, authorizationServers, scopesSupported } = found;
  http.tell({
    rung: "resource_metadata",
    about: `the resource is ${resource}, and is sent as it is written`,
  });
  const problems: unknown[] = [];
  for (const issuer of options.prefer(authorizationServers)) {
    try {
      const metadata = await options.metadataOf(issuer);
      return { resource, metadata, scopesSupported, requiresDpop };
    } catch (error) {
      http.signal.throwIfAborted();
      problems.push(error);
    }
  }
  if (problems.length === 1) throw problems[0];
  throw new AuthError(
    "discovery_failed",
    `None of the authorization servers of ${resource} can be used: ${problems.map(messageOf).join("; ")}`,
  );
}

/**
 * A server of revision 2025-03-26 has no protected resource metadata: it is its own authorization server, at its
 * origin, and says so in metadata there, or has endpoints at fixed paths.
 */
async function metadataOfOrigin(
  http: AuthHttp,
  { metadataOf, assumeEndpoints }: DiscoveryOptions,
): Promise<ServerMetadata> {
  const { origin } = http.server;
  try {
    return await metadataOf(origin);
  } catch (error) {
    http.signal.throwIfAborted();
    if (!(error instanceof AuthError) || error.reason !== "discovery_failed") throw error;
    if (!assumeEndpoints) {
      throw new AuthError(
        "discovery_failed",
        `${resourceOf(http.server)} has no protected resource metadata that would name an authorization server, and its origin is none: ${error.message}`,
        { cause: error },
      );
    }
    http.tell({
      rung: "server_metadata",
      about: "there is none: /authorize, /token and /register are assumed",
    });
    return {
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
      // Revision 2025-03-26 demands it of every server.
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post"],
    };
  }
}
