/** What a scope looks like (RFC 6749, section 3.3), for those who declare them and those who judge them. */

/** `NQCHAR`: neither space nor quote nor backslash, so that a scope is safe within a quoted string, too. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

export function isScope(value: unknown): value is string {
  return typeof value === "string" && SCOPE.test(value);
}

/**
 * Checks a list of scopes that an author gave, and copies it.
 *
 * @throws TypeError naming `what`, where it is no list or an entry is no scope.
 * @example const scopes = checkScopes(definition.scopes ?? [], `tool "close": scopes`);
 */
export function checkScopes(value: unknown, what: string): readonly string[] {
  if (!Array.isArray(value)) throw new TypeError(`${what} must be a list of scopes, got ${quote(value)}`);
  for (const scope of value as unknown[]) {
    if (isScope(scope)) continue;
    throw new TypeError(
      `${what} must hold scopes without spaces, quotes or backslashes, got ${quote(scope)}`,
    );
  }
  return [...(value as string[])];
}

/** Those of the scopes needed that are not among the ones held. */
export function missingScopes(held: readonly string[], needed: readonly string[]): string[] {
  return needed.filter((scope) => !held.includes(scope));
}

function quote(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
