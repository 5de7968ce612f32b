/** Where metadata stands: the well-known URLs of a protected resource (RFC 9728) and of an issuer (RFC 8414, OpenID Connect). */

export const PROTECTED_RESOURCE = "/.well-known/oauth-protected-resource";

/**
 * The URLs of the metadata of a protected resource: at its path first, then at the root
 * (authorization-server-discovery, Protected Resource Metadata Discovery Requirements). One where it has no path.
 *
 * @example protectedResourceMetadataUrls("https://example.com/mcp")[0]; // ".../.well-known/oauth-protected-resource/mcp"
 */
export function protectedResourceMetadataUrls(resource: string): string[] {
  const { origin, pathname, search } = new URL(resource);
  const root = `${origin}${PROTECTED_RESOURCE}`;
  const own = `${root}${pathname === "/" ? "" : pathname}${search}`;
  return own === root ? [root] : [own, root];
}

/**
 * The URLs to try for the metadata of an authorization server, in order (authorization-server-discovery,
 * Authorization Server Metadata Discovery).
 */
export function authorizationServerMetadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const inserted = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
  ];
  return path === "" ? inserted : [...inserted, `${origin}${path}/.well-known/openid-configuration`];
}
