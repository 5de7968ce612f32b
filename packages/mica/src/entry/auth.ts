/** `mica-mcp/auth`: protecting a server with OAuth 2.1 (the resource server). Loads `jose` with the first token. */

export { type IntrospectionOptions, introspectionVerifier } from "../auth/resource/introspection.js";
export { DEFAULT_ALGORITHMS, type JwtVerifierOptions, jwtVerifier } from "../auth/resource/jwt.js";
export { type AuthLimits, DEFAULT_AUTH_LIMITS } from "../auth/resource/limits.js";
export { metadataHandler, metadataResponse } from "../auth/resource/metadata.js";
export type { ProtectionOptions } from "../auth/resource/options.js";
export { createProtection, type ProtectedHandler, protect } from "../auth/resource/protection.js";
export { type UpstreamOptions, upstreamToken } from "../auth/resource/upstream.js";
export {
  type Claims,
  InvalidTokenError,
  type TokenVerifier,
  type VerifierContext,
} from "../auth/resource/verifier.js";
export type {
  ClientAuthentication,
  KeyAuthentication,
  PublicClient,
  SecretAuthentication,
} from "../auth/shared/client-authentication.js";
export type { ScopeHierarchy } from "../auth/shared/scopes.js";
export type { AuthInfo, Protection } from "../transport.js";
