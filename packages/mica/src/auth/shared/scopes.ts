/** Scopes: those that claims grant, sets of them, and hierarchies in which a broad one implies narrower ones. */
import { isScope } from "../../protocol/scopes.js";

/** Broad scopes and the narrower ones that each implies, directly or through others. */
export type ScopeHierarchy = Readonly<Record<string, readonly string[]>>;

/**
 * The scopes that claims grant: `scope` as text separated by spaces (RFC 6749, RFC 9068), or the list and the `scp`
 * that some servers issue instead.
 */
export function grantedScopes(claims: Readonly<Record<string, unknown>>): string[] {
  return uniteScopes(scopesOf(claims["scope"]), scopesOf(claims["scp"]));
}

function scopesOf(value: unknown): string[] {
  const parts =
    typeof value === "string" ? value.split(" ") : Array.isArray(value) ? (value as unknown[]) : [];
  return parts.filter(isScope);
}

/** Every scope of every list once, in the order of the alphabet: the same set always reads the same. */
export function uniteScopes(...lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())].sort();
}

/** The scopes, and all that they imply (authorization, Step-Up Authorization Flow: hierarchies count). */
export function withImplied(scopes: readonly string[], hierarchy: ScopeHierarchy): string[] {
  const all = new Set(scopes);
  // A set visits what is added to it while it is walked, and nothing twice.
  for (const scope of all) {
    if (!Object.hasOwn(hierarchy, scope)) continue;
    for (const implied of hierarchy[scope]!) all.add(implied);
  }
  return [...all].sort();
}
