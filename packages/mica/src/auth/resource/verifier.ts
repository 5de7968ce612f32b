/** What judges tokens: the seam between the protection and JWT, introspection, or a function of the author's own. */
import type { AuthLimits } from "./limits.js";

/** What is known of a token, named as in a JWT (RFC 7519, RFC 9068) whoever says it: `iss`, `sub`, `aud`, `exp`, `scope`. */
export type Claims = Readonly<Record<string, unknown>>;

export interface VerifierContext {
  /** Identifies this resource, as it was given. */
  readonly resource: string;
  /** Issuers whose tokens are accepted. */
  readonly authorizationServers: readonly string[];
  readonly limits: AuthLimits;
}

/**
 * Says what a token claims. Called once per request, many at a time. `undefined`, or an {@link InvalidTokenError},
 * refuses the token (401); any other error says that it could not be judged (503), and is reported.
 *
 * The answer is judged again afterwards: it must name an audience that is this resource, an expiry that is not over,
 * an issuer that is accepted (which may be left out where there is one), and a subject or client.
 */
export type TokenVerifier = (
  token: string,
  context: VerifierContext,
) => Claims | undefined | Promise<Claims | undefined>;

/**
 * The token is no good. The message goes to the client as `error_description`: it must hold nothing of the token.
 *
 * @example throw new InvalidTokenError("The access token was revoked");
 */
export class InvalidTokenError extends Error {
  override readonly name = "InvalidTokenError";
}
