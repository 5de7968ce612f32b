/** Signing a person in to MCP servers, and staying signed in: what `connect` takes as `auth`. */
import type { HttpAuth } from "../../http/client-auth.js";
import { type Account, accountOf } from "./account.js";
import { tokenChallenge } from "./challenge.js";
import { createCredentials } from "./credentials.js";
import { grantedScopes, holds } from "./grant.js";
import { memoryStore } from "./memory-store.js";
import { type OAuthOptions, readOAuthOptions } from "./oauth-options.js";
import { personSource } from "./person-source.js";
import { type SignedOut, signOut } from "./sign-out.js";

export interface SignInOptions {
  /** The `WWW-Authenticate` header of the server, where it is known. */
  readonly wwwAuthenticate?: string | undefined;
  /** Whether to sign in although somebody is signed in. Default false. */
  readonly again?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Credentials of people, for any number of servers. */
export interface OAuth extends HttpAuth {
  /**
   * Signs in before a server asks for it; again, where requests have lacked scopes since that nobody could be asked for.
   *
   * @throws AuthError
   */
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
  const person = readOAuthOptions(options);
  const { store = memoryStore(), onStep } = options;
  const credentials = createCredentials({
    store,
    onStep,
    limits: person.limits,
    source: personSource(person),
  });
  const of = (server: string | URL) => credentials.of(readServer(server));

  return {
    authorize: credentials.authorize,
    onAnswer: credentials.onAnswer!,
    hasEnded: credentials.hasEnded!,
    onChallenge: credentials.onChallenge,
    async signIn(server, { wwwAuthenticate, again = false, signal } = {}) {
      const held = await of(server).read();
      // What requests have lacked since, with nobody there to ask, is asked for now.
      const isDone = !again && (held === undefined || holds(grantedScopes(held), held.wanted ?? []));
      const { grant } = await of(server).renew(
        {
          rejected: isDone ? undefined : held?.tokens?.accessToken,
          scopes: [],
          challenge: tokenChallenge(wwwAuthenticate) ?? undefined,
          mayRefresh: isDone,
          isChallenged: true,
        },
        { signal },
      );
      return accountOf(grant);
    },
    signOut: (server, { signal = new AbortController().signal } = {}) =>
      signOut(of(server), person.client, signal),
    async account(server) {
      const grant = await of(server).read();
      return grant && accountOf(grant);
    },
  };
}

/** @throws TypeError */
function readServer(server: string | URL): URL {
  const url = URL.canParse(String(server)) ? new URL(server) : undefined;
  if (url?.protocol === "https:" || url?.protocol === "http:") return url;
  throw new TypeError(`server: expected an http or https URL, got ${JSON.stringify(String(server))}`);
}
