/** Tokens of a person: refreshed while that goes, and else by signing in (authorization, Authorization Flow Steps). */
import { uniteScopes } from "../shared/scopes.js";
import { AuthError } from "./auth-error.js";
import { type ClientOptions, preregisteredFor } from "./client-options.js";
import { type Discovered, discover } from "./discovery.js";
import { dpopKeyFor } from "./dpop-choice.js";
import { type Grant, knownScopes } from "./grant.js";
import type { GrantSource, Need, RenewalContext, Renewed } from "./grant-source.js";
import type { PersonOptions } from "./oauth-options.js";
import { refreshGrant } from "./refresh.js";
import { selectScopes } from "./scope-selection.js";
import { shownServer } from "./server-credentials.js";
import { offeredScopes } from "./server-metadata.js";
import { signIn } from "./sign-in.js";

export function personSource(options: PersonOptions): GrantSource {
  const { client, redirect, wanted, offlineAccess, dpopMode, assumeEndpoints } = options;

  async function refresh(stored: Grant | undefined, context: RenewalContext): Promise<Renewed | undefined> {
    const grant = stored && (await refreshGrant(stored, context, client));
    return grant && { grant, how: "refreshed" };
  }

  function find({ challenge }: Need, { http, metadata }: RenewalContext, stored: Grant | undefined) {
    // An issuer that this client has something with already, before those that it has nothing with.
    const rank = (issuer: string) =>
      client.preregistered.some((one) => one.issuer === issuer) ? 0 : issuer === stored?.issuer ? 1 : 2;
    return discover(http, challenge, {
      prefer: (issuers) => [...issuers].sort((one, other) => rank(one) - rank(other)),
      assumeEndpoints,
      metadataOf: (issuer) => metadata.of(http, issuer),
    });
  }

  return {
    canReplace: ({ tokens }) => tokens?.refreshToken !== undefined,
    async renew(stored, need, context) {
      const { http, keep } = context;
      if (!need.isChallenged) {
        const renewed = await refresh(stored, context);
        if (renewed !== undefined) return renewed;
        if (stored !== undefined) await keep({ ...stored, tokens: undefined });
        throw signInNeeded(http.server, "what was issued before is over");
      }
      // On every challenge, because it is how a client learns that the authorization server is another one now.
      const discovered = await find(need, context, stored);
      const before = usableWith(discovered, stored, client);
      const isSameIssuer = before?.issuer === discovered.metadata.issuer;
      if (before !== undefined && !isSameIssuer) {
        const about = `the authorization server was ${before.issuer} and is ${discovered.metadata.issuer} now: no credentials of the one go to the other`;
        http.tell({ rung: "server_metadata", about });
      }
      if (isSameIssuer && need.mayRefresh) {
        const renewed = await refresh(before, context);
        if (renewed !== undefined) return renewed;
      }
      if (redirect === undefined) {
        // Whoever signs in next, in whatever process, asks for these as well.
        if (before !== undefined) {
          await keep({ ...before, wanted: uniteScopes(before.wanted ?? [], need.scopes) });
        }
        const why =
          need.scopes.length > 0 ? `it needs the scopes ${need.scopes.join(" ")}` : "nobody is signed in";
        throw signInNeeded(http.server, why);
      }
      const selected = selectScopes({
        challenged: need.challenge?.scopes ?? [],
        wanted,
        supported: discovered.scopesSupported,
        before: before === undefined ? [] : knownScopes(before),
        offered: offeredScopes(discovered.metadata),
        offline: offlineAccess,
      });
      const dpop = await dpopKeyFor(dpopMode, discovered, before);
      const dpopAlways = dpopMode === "always";
      const grant = await signIn({ context, discovered, selected, dpop, dpopAlways, redirect, client });
      return { grant, how: "issued" };
    },
  };
}

/** What is kept, as far as it may be used with what was discovered now (client-registration, Authorization Server Binding). */
function usableWith(
  { resource, metadata: { issuer } }: Discovered,
  stored: Grant | undefined,
  { preregistered }: ClientOptions,
): Grant | undefined {
  if (stored === undefined || stored.resource !== resource) return undefined;
  if (stored.issuer === issuer) return stored;
  if (
    stored.client.source === "preregistered" &&
    preregisteredFor(preregistered, issuer)?.issuer !== issuer
  ) {
    throw new AuthError(
      "issuer_mismatch",
      `The client ${stored.client.clientId} is registered with ${stored.issuer}, and ${resource} names ${issuer} now: register a client there, or sign out of ${resource} first`,
    );
  }
  // What it was allowed to do is the resource's matter, and stays to be asked for.
  return { ...stored, tokens: undefined };
}

function signInNeeded(server: URL, why: string): AuthError {
  return new AuthError("sign_in_needed", `Somebody has to sign in to ${shownServer(server)}: ${why}`);
}
