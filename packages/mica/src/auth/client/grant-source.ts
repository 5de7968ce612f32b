/** The seam between keeping credentials and getting them: one source for each kind of grant. */
import type { AuthHttp } from "./auth-http.js";
import type { TokenChallenge } from "./challenge.js";
import type { Nonces } from "./dpop.js";
import type { Grant } from "./grant.js";
import type { MetadataCache } from "./metadata-cache.js";
import type { AuthStore } from "./store.js";

/** Why a grant has to be renewed. */
export interface Need {
  /** An access token that will not do. */
  readonly rejected: string | undefined;
  /** Scopes that the new one must have. */
  readonly scopes: readonly string[];
  /** What the server said last, as far as it said anything. */
  readonly challenge: TokenChallenge | undefined;
  /** Whether the refresh token may be tried. */
  readonly mayRefresh: boolean;
  /** Whether the server, or the person, asks for it; otherwise a token is replaced before it ends. */
  readonly isChallenged: boolean;
}

export interface SourceContext {
  readonly http: AuthHttp;
  readonly store: AuthStore;
  readonly nonces: Nonces;
  readonly metadata: MetadataCache;
}

export interface RenewalContext extends SourceContext {
  /** Keeps something of a grant although nothing new came of it. */
  readonly keep: (grant: Grant) => Promise<void>;
}

/** `adopted`: somebody else who uses the store has renewed it. */
export type How = "adopted" | "refreshed" | "issued";

export interface Renewed {
  readonly grant: Grant;
  readonly how: How;
}

/** One way to get tokens. */
export interface GrantSource {
  /**
   * Called by one at a time for each server.
   *
   * @throws AuthError, `sign_in_needed` where it takes a person and there is none.
   */
  renew(stored: Grant | undefined, need: Need, context: RenewalContext): Promise<Renewed>;
  /** Whether a grant can be renewed without a challenge and without a person. */
  canReplace(grant: Grant): boolean;
}
