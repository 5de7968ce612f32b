/** Which scopes to ask for (authorization, Scope Selection Strategy; Step-Up Authorization Flow). */
import { uniteScopes } from "../shared/scopes.js";

export interface ScopeSources {
  /** What the challenge names. */
  readonly challenged: readonly string[];
  /** What the author of the client wants in any case. */
  readonly wanted: readonly string[] | undefined;
  /** `scopes_supported` of the protected resource metadata; undefined where it is not there. */
  readonly supported: readonly string[] | undefined;
  /** What was asked for or granted before at this server. */
  readonly before: readonly string[];
  /** `scopes_supported` of the authorization server. */
  readonly offered: readonly string[] | undefined;
  /** Whether a refresh token is wanted. */
  readonly offline: boolean;
}

export interface SelectedScopes {
  /** Empty: the parameter is left out. */
  readonly scopes: readonly string[];
  /** Where they come from, in words. */
  readonly from: string;
}

const OFFLINE = "offline_access";

/**
 * The scopes of the challenge, or else all that the resource names, or else none; always united with what the author
 * wants and with what was asked for before, so that nothing that was granted is lost.
 */
export function selectScopes(sources: ScopeSources): SelectedScopes {
  const { challenged, wanted = [], supported, before, offered, offline } = sources;
  const base =
    challenged.length > 0
      ? { scopes: challenged, from: "the challenge" }
      : wanted.length > 0
        ? { scopes: wanted, from: "the options" }
        : supported !== undefined && supported.length > 0
          ? { scopes: supported, from: "scopes_supported of the resource" }
          : { scopes: [], from: "nowhere: the parameter is left out" };
  const scopes = uniteScopes(base.scopes, wanted, before);
  const from = before.some((scope) => !base.scopes.includes(scope))
    ? `${base.scopes.length > 0 ? `${base.from}, united with ` : ""}what was asked for before`
    : base.from;
  // Alone it would take the place of the scopes that a server gives by default.
  const asksOffline = offline && scopes.length > 0 && offered?.includes(OFFLINE) === true;
  return { scopes: asksOffline ? uniteScopes(scopes, [OFFLINE]) : scopes, from };
}

/** Whether a person is to be asked again, as OpenID Connect demands for access while they are away. */
export function wantsConsent(scopes: readonly string[]): boolean {
  return scopes.includes(OFFLINE);
}
