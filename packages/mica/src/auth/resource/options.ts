/** What a protection is told, and the checks of it. */
import { checkScopes } from "../../protocol/scopes.js";
import type { ScopeHierarchy } from "../shared/scopes.js";
import { readSecureUrl } from "../shared/secure-url.js";
import { type AuthLimits, authLimits } from "./limits.js";
import type { UpstreamOptions } from "./upstream.js";
import type { TokenVerifier } from "./verifier.js";

export interface ProtectionOptions {
  /**
   * Identifies this server to authorization servers: the URL of its endpoint as clients reach it. Served and compared
   * exactly as it is given; best without a slash at the end (authorization, Canonical Server URI).
   */
  readonly resource: string;
  /** The issuers whose tokens are accepted, at least one, exactly as their metadata names them. */
  readonly authorizationServers: readonly string[];
  /** What every request needs, and what clients are told to begin with. Default: none. */
  readonly scopes?: readonly string[];
  /** What judges tokens. Default: `jwtVerifier()`. */
  readonly verify?: TokenVerifier;
  /** Audiences that tokens may name. Default: `resource` alone. */
  readonly audience?: string | readonly string[];
  /**
   * Broad scopes and the narrower ones that each includes.
   *
   * @example { "incidents": ["incidents:read", "incidents:write"], "incidents:write": ["incidents:read"] }
   */
  readonly scopeHierarchy?: ScopeHierarchy;
  /** `scopes_supported` of the metadata. Default: `scopes`. */
  readonly scopesSupported?: readonly string[];
  /** More members of the metadata, such as `resource_name` or `resource_documentation` (RFC 9728, section 2). */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** APIs that handlers call for the caller, by the names that `upstreamToken` takes. */
  readonly upstream?: Readonly<Record<string, UpstreamOptions>>;
  /** Each one left out keeps its default ({@link DEFAULT_AUTH_LIMITS}). */
  readonly limits?: Partial<AuthLimits>;
  /** Receives what kept a token from being judged, without the token; default: stderr. */
  readonly onError?: (error: Error) => void;
}

export interface ReadOptions {
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly audiences: readonly string[];
  readonly scopes: readonly string[];
  readonly scopesSupported: readonly string[];
  readonly hierarchy: ScopeHierarchy;
  readonly limits: AuthLimits;
}

/** @throws TypeError naming the option that is wrong. */
export function readOptions(options: ProtectionOptions): ReadOptions {
  const { resource, scopeHierarchy = {} } = options;
  const scopes = readScopes(options.scopes ?? [], "scopes");
  for (const [scope, implied] of Object.entries(scopeHierarchy)) {
    checkScopes([scope], "scopeHierarchy");
    checkScopes(implied, `scopeHierarchy[${JSON.stringify(scope)}]`);
  }
  return {
    resource: readResource(resource),
    authorizationServers: readIssuers(options.authorizationServers),
    audiences: readAudiences(options.audience ?? resource),
    scopes,
    scopesSupported:
      options.scopesSupported === undefined ? scopes : readScopes(options.scopesSupported, "scopesSupported"),
    hierarchy: scopeHierarchy,
    limits: authLimits(options.limits),
  };
}

/** RFC 8707, section 2: an absolute URI without a fragment. */
function readResource(resource: unknown): string {
  const url = readSecureUrl(resource, "resource");
  if (String(resource).includes("#")) {
    throw new TypeError(`resource must have no fragment, got ${JSON.stringify(resource)}`);
  }
  if (url.username !== "" || url.password !== "") throw new TypeError("resource must hold no credentials");
  return String(resource);
}

/** RFC 8414, section 2: an issuer has neither query nor fragment. */
function readIssuers(given: unknown): string[] {
  if (!Array.isArray(given) || given.length === 0) {
    throw new TypeError(
      `authorizationServers must list at least one issuer, got ${JSON.stringify(given) ?? String(given)}`,
    );
  }
  return given.map((issuer: unknown) => {
    readSecureUrl(issuer, "authorizationServers");
    if (/[?#]/.test(String(issuer))) {
      throw new TypeError(
        `authorizationServers must hold issuers without query and fragment, got ${JSON.stringify(issuer)}`,
      );
    }
    return String(issuer);
  });
}

function readAudiences(given: unknown): string[] {
  const list = Array.isArray(given) ? (given as unknown[]) : [given];
  if (list.length === 0 || list.some((audience) => typeof audience !== "string" || audience === "")) {
    throw new TypeError(
      `audience must be a non-empty string or a list of them, got ${JSON.stringify(given)}`,
    );
  }
  return list as string[];
}

function readScopes(given: unknown, what: string): readonly string[] {
  const scopes = checkScopes(given, what);
  // "Refresh tokens are not a resource requirement" (authorization, Refresh Tokens).
  if (!scopes.includes("offline_access")) return scopes;
  throw new TypeError(`${what} must not hold offline_access: it is for clients to ask for`);
}
