/** Signing a person in to MCP servers, and staying signed in: what `connect` takes as `auth`. */
import type { HttpAuth } from "../../http/client-auth.js";
import { checkScopes } from "../../protocol/scopes.js";
import { uniteScopes } from "../shared/scopes.js";
import { type Account, accountOf } from "./account.js";
import { AuthError } from "./auth-error.js";
import { tokenChallenge } from "./challenge.js";
import {
  createCredentials,
  type GrantSource,
  type Need,
  type RenewalContext,
  type Renewed,
  shownServer,
} from "./credentials.js";
import { type Discovered, discover } from "./discovery.js";
import type { DpopMode } from "./dpop.js";
import { dpopKeyFor, readDpopMode } from "./dpop-choice.js";
import { type Grant, knownScopes } from "./grant.js";
import { type AuthClientLimits, readAuthLimits } from "./limits.js";
import { memoryStore } from "./memory-store.js";
import type { Redirect } from "./redirect.js";
import { refreshGrant } from "./refresh.js";
import {
  type ClientOptions,
  checkDocument,
  type MetadataDocumentClient,
  type PreregisteredClient,
  preregisteredFor,
  type RegistrationMetadata,
  readPreregistered,
} from "./registration.js";
import { selectScopes } from "./scope-selection.js";
import { offeredScopes } from "./server-metadata.js";
import { signIn } from "./sign-in.js";
import { type SignedOut, signOut } from "./sign-out.js";
import type { OnAuthStep } from "./step.js";
import type { AuthStore } from "./store.js";

export interface OAuthOptions {
  /** What a person reads on the page that asks for consent. */
  readonly clientName: string;
  /** How the person gets to that page and back. Without it nobody is asked: what is kept is used, and refreshed. */
  readonly redirect?: Redirect | undefined;
  /** Where credentials are kept. Default: in memory. */
  readonly store?: AuthStore | undefined;
  /** Client ids that were got beforehand, each for its issuer. They come first. */
  readonly preregistered?: PreregisteredClient | readonly PreregisteredClient[] | undefined;
  /** An https URL with a document that describes the client: its id at servers that take such documents. */
  readonly clientMetadata?: MetadataDocumentClient | undefined;
  /** What else to say of the client where it has to register. */
  readonly registration?: RegistrationMetadata | undefined;
  /** Scopes to ask for in any case. Default: what the server asks for. */
  readonly scopes?: readonly string[] | undefined;
  /** Whether to ask for access while the person is away (`offline_access`), where it is offered. Default true. */
  readonly offlineAccess?: boolean | undefined;
  /** Whether tokens are bound to a key. Default `auto`: where the server demands it. */
  readonly dpop?: DpopMode | undefined;
  /**
   * Whether a server of revision 2025-03-26 without any metadata is taken to have `/authorize`, `/token` and
   * `/register` at its origin. Then nothing says that it supports PKCE. Default false.
   */
  readonly assumeEndpoints?: boolean | undefined;
  /** Overrides of {@link DEFAULT_AUTH_CLIENT_LIMITS}. */
  readonly limits?: Partial<AuthClientLimits> | undefined;
  /** Told of every step, with secrets left out. */
  readonly onStep?: OnAuthStep | undefined;
}

export interface SignInOptions {
  /** The `WWW-Authenticate` header of the server, where it is known. */
  readonly wwwAuthenticate?: string | undefined;
  /** Whether to sign in although somebody is signed in. Default false. */
  readonly again?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Credentials of people, for any number of servers. */
export interface OAuth extends HttpAuth {
  /** Signs in before a server asks for it. @throws AuthError */
  signIn(server: string | URL, options?: SignInOptions): Promise<Account>;
  /** Revokes what was issued for a server, and forgets it. Undefined where there is nothing. @throws AuthError */
  signOut(server: string | URL, options?: { readonly signal?: AbortSignal }): Promise<SignedOut | undefined>;
  /** What is kept of a server, without the tokens. @throws AuthError */
  account(server: string | URL): Promise<Account | undefined>;
}

/**
 * Signs a person in, where and as far as a server asks for it: discovery, registration, the authorization code grant
 * with PKCE, more scopes when more are needed, refreshing. Any number of connections may share one.
 *
 * @throws TypeError naming the option that is wrong.
 * @example
 * const auth = oauth({ clientName: "Example", redirect: loopback({ open }), store: fileStore(path) });
 * const client = await connect("https://example.com/mcp", { name: "example", version: "1.0.0", auth });
 */
export function oauth(options: OAuthOptions): OAuth {
  const { clientName, redirect, offlineAccess = true, assumeEndpoints = false } = options;
  if (typeof clientName !== "string" || clientName === "") {
    throw new TypeError(`clientName: expected a non-empty string, got ${JSON.stringify(clientName)}`);
  }
  if (redirect !== undefined && typeof redirect?.listen !== "function") {
    throw new TypeError("redirect: expected what loopback() returns, or a Redirect of your own");
  }
  checkDocument(options.clientMetadata);
  const wanted = options.scopes && checkScopes(options.scopes, "scopes:");
  const dpopMode = readDpopMode(options.dpop);
  const limits = readAuthLimits(options.limits);
  const client: ClientOptions = {
    clientName,
    applicationType: redirect?.applicationType ?? "native",
    preregistered: readPreregistered(options.preregistered),
    document: options.clientMetadata,
    registration: options.registration,
  };

  async function find(need: Need, context: RenewalContext, stored: Grant | undefined): Promise<Discovered> {
    const { http, metadata } = context;
    return discover(http, need.challenge, {
      // An issuer that this client has something with already, before those that it has nothing with.
      prefer: (issuers) => {
        const rank = (issuer: string) =>
          client.preregistered.some((one) => one.issuer === issuer) ? 0 : issuer === stored?.issuer ? 1 : 2;
        return [...issuers].sort((one, other) => rank(one) - rank(other));
      },
      assumeEndpoints,
      metadataOf: (issuer) => metadata.of(http, issuer),
    });
  }

  const source: GrantSource = {
    canReplace: ({ tokens }) => tokens?.refreshToken !== undefined,
    async renew(stored, need, context) {
      const { http, keep } = context;
      const refresh = async (): Promise<Renewed | undefined> => {
        const grant = stored && (await refreshGrant(stored, context, client));
        return grant && { grant, how: "refreshed" };
      };
      if (!need.isChallenged) {
        const renewed = await refresh();
        if (renewed !== undefined) return renewed;
        if (stored !== undefined) await keep({ ...stored, tokens: undefined });
        throw signInNeeded(http.server, "what was issued before is over");
      }
      const discovered = await find(need, context, stored);
      const before = comparable(stored, discovered, client, (about) =>
        http.tell({ rung: "server_metadata", about }),
      );
      if (before?.issuer === discovered.metadata.issuer && need.mayRefresh) {
        const renewed = await refresh();
        if (renewed !== undefined) return renewed;
      }
      const { scopes, from } = selectScopes({
        challenged: need.challenge?.scopes ?? [],
        wanted,
        supported: discovered.scopesSupported,
        before: before === undefined ? [] : knownScopes(before),
        offered: offeredScopes(discovered.metadata),
        offline: offlineAccess,
      });
      if (redirect === undefined) {
        // Whoever signs in next, in whatever process, asks for these as well.
        if (before !== undefined) {
          await keep({ ...before, wanted: uniteScopes(before.wanted ?? [], need.scopes) });
        }
        const why =
          need.scopes.length > 0 ? `it needs the scopes ${need.scopes.join(" ")}` : "nobody is signed in";
        throw signInNeeded(http.server, why);
      }
      http.tell({ rung: "authorization", about: `scopes: ${scopes.join(" ") || "none"}, from ${from}` });
      const dpop = await dpopKeyFor(dpopMode, discovered, before);
      const dpopAlways = dpopMode === "always";
      const grant = await signIn({ context, discovered, scopes, dpop, dpopAlways, redirect, client });
      return { grant, how: "issued" };
    },
  };

  const { store = memoryStore(), onStep } = options;
  const credentials = createCredentials({ store, source, limits, onStep });

  return {
    authorize: credentials.authorize,
    onAnswer: credentials.onAnswer!,
    onChallenge: credentials.onChallenge,
    async signIn(server, { wwwAuthenticate, again = false, signal } = {}) {
      const url = readServer(server);
      const held = again ? await credentials.held(url) : undefined;
      const need: Need = {
        rejected: held?.tokens?.accessToken,
        scopes: [],
        challenge: tokenChallenge(wwwAuthenticate) ?? undefined,
        mayRefresh: !again,
        isChallenged: true,
      };
      const { grant } = await credentials.renew(url, need, signal);
      return accountOf(grant);
    },
    signOut: (server, { signal } = {}) => signOut(credentials, readServer(server), client, signal),
    async account(server) {
      const grant = await credentials.held(readServer(server));
      return grant && accountOf(grant);
    },
  };
}

/** What is kept, as far as it may be used with what was discovered now (client-registration, Authorization Server Binding). */
function comparable(
  stored: Grant | undefined,
  { resource, metadata: { issuer } }: Discovered,
  { preregistered }: ClientOptions,
  tell: (about: string) => void,
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
  tell(
    `the authorization server was ${stored.issuer} and is ${issuer} now: no credentials of the one go to the other`,
  );
  // What it is allowed to do is the resource's matter, and stays.
  return { ...stored, tokens: undefined };
}

function signInNeeded(server: URL, why: string): AuthError {
  return new AuthError("sign_in_needed", `Somebody has to sign in to ${shownServer(server)}: ${why}`);
}

/** @throws TypeError */
export function readServer(server: string | URL): URL {
  const url = URL.canParse(String(server)) ? new URL(server) : undefined;
  if (url?.protocol === "https:" || url?.protocol === "http:") return url;
  throw new TypeError(`server: expected an http or https URL, got ${JSON.stringify(String(server))}`);
}
