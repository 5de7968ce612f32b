/** The `WWW-Authenticate` challenge of a protected resource (RFC 6750, section 3; RFC 9728, section 5.1). */

/** Codes of RFC 6750, section 3.1. */
export type ChallengeError = "invalid_request" | "invalid_token" | "insufficient_scope";

export interface Challenge {
  /** Left out where no credentials came: then there is nothing wrong with them. */
  readonly error?: ChallengeError | undefined;
  /** For developers. Says what was expected; holds nothing of the token. */
  readonly description?: string | undefined;
  /** What the request needs; left out where that is nothing. */
  readonly scopes: readonly string[];
  /** The URL of the protected resource metadata. */
  readonly resourceMetadata: string;
}

/**
 * Writes a challenge, in the order in which the specification writes its examples.
 *
 * @example formatChallenge({ scopes: ["a", "b"], resourceMetadata }); // Bearer resource_metadata="...", scope="a b"
 */
export function formatChallenge({ error, description, scopes, resourceMetadata }: Challenge): string {
  const scope: [string, string][] = scopes.length === 0 ? [] : [["scope", scopes.join(" ")]];
  const metadata: [string, string] = ["resource_metadata", resourceMetadata];
  const parameters: [string, string][] =
    error === undefined ? [metadata, ...scope] : [["error", error], ...scope, metadata];
  if (description !== undefined) parameters.push(["error_description", describable(description)]);
  return `Bearer ${parameters.map(([name, value]) => `${name}=${quoted(value)}`).join(", ")}`;
}

/** A `quoted-string` (RFC 9110, section 5.6.4), from which nothing can escape. */
function quoted(text: string): string {
  return `"${text.replace(/[^\x20-\x7e]/g, "?").replace(/["\\]/g, "\\$&")}"`;
}

/** Descriptions may not hold quotes or backslashes, even escaped (RFC 6750, section 3). */
function describable(text: string): string {
  return text.replace(/["\\]/g, "'");
}
