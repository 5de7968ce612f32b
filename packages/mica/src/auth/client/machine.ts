/** What the grants without a person have in common: discovery, scopes, a token for as long as it lasts, then another. */
import type { HttpAuth } from "../../http/client-auth.js";
import { checkScopes } from "../../protocol/scopes.js";
import { AuthError } from "./auth-error.js";
import type { AuthHttp } from "./auth-http.js";
import { createCredentials } from "./credentials.js";
import { type Discovered, discover } from "./discovery.js";
import type { DpopKey, DpopMode, Nonces } from "./dpop.js";
import { dpopKeyFor, readDpopMode } from "./dpop-choice.js";
import { grantTokens, knownScopes } from "./grant.js";
import type { GrantSource } from "./grant-source.js";
import { type AuthClientLimits, readAuthLimits } from "./limits.js";
import { memoryStore } from "./memory-store.js";
import type { MetadataCache } from "./metadata-cache.js";
import { selectScopes } from "./scope-selection.js";
import type { OnAuthStep } from "./step.js";
import type { AuthStore } from "./store.js";
import type { Tokens } from "./token-endpoint.js";

export interface MachineOptions {
  /** Scopes to ask for in any case. Default: what the server asks for. */
  readonly scopes?: readonly string[] | undefined;
  /** Where tokens are kept. Default: in memory. */
  readonly store?: AuthStore | undefined;
  /** Whether tokens are bound to a key. Default `auto`: where the server demands it. */
  readonly dpop?: DpopMode | undefined;
  /** Overrides of {@link DEFAULT_AUTH_CLIENT_LIMITS}. */
  readonly limits?: Partial<AuthClientLimits> | undefined;
  /** Told of every step, with secrets left out. */
  readonly onStep?: OnAuthStep | undefined;
}

/** One request for a token. */
export interface TokenAsk {
  readonly http: AuthHttp;
  readonly discovered: Discovered;
  readonly scopes: readonly string[];
  readonly dpop: DpopKey | undefined;
  readonly nonces: Nonces;
  readonly metadata: MetadataCache;
}

export interface Machine {
  readonly extension: string;
  /** For display. */
  readonly clientId: string;
  /** The only issuer that credentials go to; `any` for whichever the server names. */
  readonly issuer: string;
  readonly options: MachineOptions;
  ask(request: TokenAsk): Promise<Tokens>;
}

/** @throws TypeError naming the option that is wrong. */
export function machineAuth({ extension, clientId, issuer, options, ask }: Machine): HttpAuth {
  const wanted = options.scopes && checkScopes(options.scopes, "scopes:");
  const dpopMode = readDpopMode(options.dpop);
  const limits = readAuthLimits(options.limits);

  const source: GrantSource = {
    // Until a server has said where its tokens come from, there is nothing to replace one with.
    canReplace: () => true,
    async renew(stored, need, { http, nonces, metadata }) {
      const discovered = await discover(http, need.challenge, {
        prefer: (issuers) => only(issuer, issuers, http),
        assumeEndpoints: false,
        metadataOf: (one) => metadata.of(http, one),
      });
      const isSame = stored?.resource === discovered.resource && stored.issuer === discovered.metadata.issuer;
      const before = isSame ? stored : undefined;
      const { scopes, from } = selectScopes({
        challenged: need.challenge?.scopes ?? [],
        wanted,
        supported: discovered.scopesSupported,
        before: before === undefined ? [] : knownScopes(before),
        offered: undefined,
        offline: false,
      });
      http.tell({ rung: "token", about: `scopes: ${scopes.join(" ") || "none"}, from ${from}` });
      const dpop = await dpopKeyFor(dpopMode, discovered, before);
      const tokens = await ask({ http, discovered, scopes, dpop, nonces, metadata });
      return {
        how: "issued",
        grant: {
          resource: discovered.resource,
          issuer: discovered.metadata.issuer,
          client: { source: "preregistered", clientId },
          requested: scopes,
          tokens: { ...grantTokens(tokens), refreshToken: undefined },
          dpop: dpop?.jwk,
        },
      };
    },
  };
  const { store = memoryStore(), onStep } = options;
  return createCredentials({ store, source, limits, onStep, extensions: { [extension]: {} } });
}

/** A secret goes to the issuer that gave it, whatever a server says (client-registration, Authorization Server Binding). */
function only(issuer: string, issuers: readonly string[], http: AuthHttp): readonly string[] {
  if (issuer === "any") return issuers;
  if (issuers.includes(issuer)) return [issuer];
  throw new AuthError(
    "issuer_mismatch",
    `${http.server.origin} takes tokens of ${issuers.join(", ")}, and the credentials are for ${issuer}: they go nowhere else`,
  );
}
