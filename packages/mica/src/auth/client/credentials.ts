/**
 * Credentials for requests, whatever the grant: which token goes with a request, when it is replaced, and what a
 * challenge leads to. One renewal at a time for each server, in this process and in all that share the store.
 */
import type { AuthChallenge, AuthorizedRequest, HttpAuth } from "../../http/client-auth.js";
import { AuthError } from "./auth-error.js";
import { type AuthHttp, authHttp } from "./auth-http.js";
import { type TokenChallenge, tokenChallenge } from "./challenge.js";
import { createNonces, type DpopKey, loadDpopKey, type Nonces } from "./dpop.js";
import {
  type Grant,
  grantedScopes,
  grantKey,
  holds,
  isDue,
  isOver,
  readGrant,
  storedGrant,
} from "./grant.js";
import type { AuthClientLimits } from "./limits.js";
import { createMetadataCache, type MetadataCache } from "./metadata-cache.js";
import { createShared, type Shared } from "./shared-work.js";
import type { OnAuthStep } from "./step.js";
import type { AuthStore } from "./store.js";

/** Why a grant has to be renewed. */
export interface Need {
  /** An access token that will not do. */
  readonly rejected: string | undefined;
  /** Scopes that the new one must have. */
  readonly scopes: readonly string[];
  /** What the server said; undefined where a token is replaced before it ends. */
  readonly challenge: TokenChallenge | undefined;
  /** Whether the refresh token may be tried. */
  readonly mayRefresh: boolean;
  /** Whether it is the server that asked. */
  readonly isChallenged: boolean;
}

export interface RenewalContext {
  readonly http: AuthHttp;
  readonly store: AuthStore;
  readonly nonces: Nonces;
  readonly metadata: MetadataCache;
  /** Keeps something of a grant although nothing new came of it. */
  readonly keep: (grant: Grant) => Promise<void>;
}

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

export interface CredentialsOptions {
  readonly store: AuthStore;
  readonly source: GrantSource;
  readonly limits: AuthClientLimits;
  readonly onStep: OnAuthStep | undefined;
  readonly extensions?: HttpAuth["extensions"];
}

export interface Credentials extends HttpAuth {
  /** What is kept for a server. */
  held(server: URL): Promise<Grant | undefined>;
  renew(server: URL, need: Need, signal: AbortSignal | undefined): Promise<Renewed>;
  /** Does something with what is kept while nobody else does; undefined removes it. */
  change(
    server: URL,
    signal: AbortSignal | undefined,
    work: (grant: Grant | undefined, context: Omit<RenewalContext, "keep">) => Promise<Grant | undefined>,
  ): Promise<void>;
}

interface ServerState {
  readonly server: URL;
  readonly key: string;
  grant: Grant | undefined;
  loading: Promise<void> | undefined;
  challenge: TokenChallenge | undefined;
  dpop: { readonly jwk: Grant["dpop"]; readonly key: Promise<DpopKey> } | undefined;
  readonly shared: Shared<Need, Renewed>;
}

/** What has been done for one request so far. */
interface Progress {
  sent?: string;
  nonces: number;
  renewals: number;
  stepUps: number;
  last?: How;
}

/** Renewals that one refused request causes at most: by the refresh token, and by signing in. */
const MAX_RENEWALS = 2;
/** Nonces that one request may be sent again for. */
const MAX_NONCES = 2;

export function createCredentials(options: CredentialsOptions): Credentials {
  const { store, source, limits, onStep } = options;
  const states = new Map<string, ServerState>();
  const progresses = new WeakMap<AuthorizedRequest, Progress>();
  const nonces = createNonces();
  const metadata = createMetadataCache(limits.metadataAgeMs);

  function stateOf(server: URL): ServerState {
    const key = grantKey(server);
    let state = states.get(key);
    if (state === undefined) {
      const fresh: ServerState = {
        server,
        key,
        grant: undefined,
        loading: undefined,
        challenge: undefined,
        dpop: undefined,
        shared: createShared((need, signal) => renewAlone(fresh, need, signal)),
      };
      state = fresh;
      states.set(key, state);
    }
    return state;
  }

  function progressOf(request: AuthorizedRequest): Progress {
    const known = progresses.get(request);
    if (known !== undefined) return known;
    const progress: Progress = { nonces: 0, renewals: 0, stepUps: 0 };
    progresses.set(request, progress);
    return progress;
  }

  async function read({ key }: ServerState): Promise<{ grant: Grant; version: string } | undefined> {
    const record = await store.read(key);
    return record && { grant: readGrant(record.value), version: record.version };
  }

  async function load(state: ServerState): Promise<void> {
    state.loading ??= read(state).then(
      (stored) => {
        state.grant ??= stored?.grant;
      },
      (error: unknown) => {
        state.loading = undefined;
        throw error;
      },
    );
    await state.loading;
  }

  /** Whether a grant is what is needed, by whoever it was renewed. */
  function suffices(grant: Grant | undefined, { rejected, scopes }: Need): grant is Grant {
    const { tokens } = grant ?? {};
    if (grant === undefined || tokens === undefined || tokens.accessToken === rejected) return false;
    return !isOver(tokens) && holds(grantedScopes(grant), scopes);
  }

  async function renewAlone(state: ServerState, need: Need, signal: AbortSignal): Promise<Renewed> {
    const http = authHttp({ server: state.server, signal, limits, onStep });
    return store.exclusively(
      state.key,
      async () => {
        const stored = await read(state);
        // Another process may have been faster.
        if (suffices(stored?.grant, need)) {
          state.grant = stored!.grant;
          return { grant: state.grant, how: "adopted" };
        }
        let version = stored?.version;
        const keep = async (grant: Grant) => {
          if (!(await store.write(state.key, storedGrant(grant), version))) throw changedMeanwhile(state);
          version = (await store.read(state.key))?.version;
          state.grant = grant;
        };
        const renewed = await source.renew(stored?.grant, need, { http, store, nonces, metadata, keep });
        await keep(renewed.grant);
        const missing = need.scopes.filter((scope) => !grantedScopes(renewed.grant).includes(scope));
        if (missing.length > 0) {
          throw new AuthError(
            "scope_refused",
            `The authorization server ${renewed.grant.issuer} did not grant ${missing.join(" ")}, which ${shownServer(state.server)} needs for this`,
          );
        }
        return renewed;
      },
      signal,
    );
  }

  async function renew(
    state: ServerState,
    need: Need,
    { signal, hold }: Pick<AuthorizedRequest, "signal" | "hold">,
  ): Promise<Renewed> {
    const release = hold?.();
    try {
      return await state.shared(need, signal, (renewed) => suffices(renewed.grant, need));
    } finally {
      release?.();
    }
  }

  async function headersFor(state: ServerState, request: AuthorizedRequest): Promise<Record<string, string>> {
    const { tokens, dpop } = state.grant!;
    const { accessToken, tokenType } = tokens!;
    if (tokenType === "Bearer") return { authorization: `Bearer ${accessToken}` };
    if (state.dpop === undefined || state.dpop.jwk !== dpop) {
      state.dpop = { jwk: dpop, key: loadDpopKey(dpop ?? {}) };
    }
    const key = await state.dpop.key;
    const proof = await key.prove(request.method, request.url, nonces.get(request.url), accessToken);
    return { authorization: `DPoP ${accessToken}`, dpop: proof };
  }

  /** Replaces a token that is about to end, where that takes nobody. */
  async function replaceDue(state: ServerState, request: AuthorizedRequest): Promise<void> {
    const { tokens } = state.grant!;
    const need: Need = {
      rejected: tokens!.accessToken,
      scopes: [],
      challenge: state.challenge,
      mayRefresh: true,
      isChallenged: false,
    };
    try {
      state.grant = (await renew(state, need, request)).grant;
    } catch (error) {
      request.signal?.throwIfAborted();
      if (error instanceof AuthError && error.reason === "sign_in_needed") return;
      // It is good for a little while yet, and there may be a better moment.
      if (isOver(tokens!)) throw error;
    }
  }

  async function answerUnauthorized(
    state: ServerState,
    request: AuthorizedRequest,
    challenge: TokenChallenge | undefined,
  ): Promise<boolean> {
    const progress = progressOf(request);
    if (challenge?.error === "use_dpop_nonce" && progress.sent !== undefined) {
      progress.nonces += 1;
      return progress.nonces <= MAX_NONCES && nonces.get(request.url) !== undefined;
    }
    if (progress.last === "issued" || progress.renewals >= MAX_RENEWALS) {
      const said = challenge?.description ?? challenge?.error;
      throw new AuthError(
        "token_rejected",
        `${shownServer(state.server)} refuses a token that ${state.grant?.issuer} has issued for it just now${said === undefined ? "" : `: ${said}`}`,
      );
    }
    progress.renewals += 1;
    const { how, grant } = await renew(
      state,
      {
        rejected: progress.sent,
        scopes: [],
        challenge,
        mayRefresh: progress.last !== "refreshed",
        isChallenged: true,
      },
      request,
    );
    progress.last = how;
    state.grant = grant;
    return true;
  }

  async function answerForbidden(
    state: ServerState,
    request: AuthorizedRequest,
    challenge: TokenChallenge,
  ): Promise<boolean> {
    const progress = progressOf(request);
    const { scopes } = challenge;
    const { grant } = state;
    if (challenge.error !== "insufficient_scope" || scopes.length === 0) return false;
    if (progress.sent === undefined || grant === undefined) return false;
    const asks = `${shownServer(state.server)} asks for the scopes ${scopes.join(" ")}`;
    if (grant.tokens?.accessToken === progress.sent && holds(grant.requested, scopes)) {
      const why = holds(grantedScopes(grant), scopes)
        ? "although the token has them"
        : `which ${grant.issuer} was asked for before and did not grant`;
      throw new AuthError("scope_refused", `${asks}, ${why}`);
    }
    progress.stepUps += 1;
    if (progress.stepUps > limits.maxStepUps) {
      throw new AuthError(
        "scope_refused",
        `${asks}, and has asked for others ${limits.maxStepUps} times already`,
      );
    }
    const need = { rejected: progress.sent, scopes, challenge, mayRefresh: false, isChallenged: true };
    const renewed = await renew(state, need, request);
    state.grant = renewed.grant;
    return true;
  }

  return {
    extensions: options.extensions,
    async authorize(request) {
      const state = stateOf(request.server);
      await load(state);
      if (state.grant?.tokens && isDue(state.grant.tokens, limits) && source.canReplace(state.grant)) {
        await replaceDue(state, request);
      }
      const progress = progressOf(request);
      // A token is for the server that it was issued for, and never travels to another origin.
      if (state.grant?.tokens === undefined || request.url.origin !== request.server.origin) {
        delete progress.sent;
        return {};
      }
      progress.sent = state.grant.tokens.accessToken;
      return headersFor(state, request);
    },
    onAnswer({ url }, headers) {
      nonces.take(url, headers["dpop-nonce"]);
    },
    async onChallenge(request, { status, wwwAuthenticate }: AuthChallenge) {
      const challenge = tokenChallenge(wwwAuthenticate);
      // Other schemes are nothing that can be answered here.
      if (challenge === null) return false;
      const state = stateOf(request.server);
      state.challenge = challenge ?? state.challenge;
      if (status === 401) return answerUnauthorized(state, request, challenge);
      return challenge !== undefined && answerForbidden(state, request, challenge);
    },
    async held(server) {
      return (await read(stateOf(server)))?.grant;
    },
    async renew(server, need, signal) {
      const state = stateOf(server);
      const renewed = await renew(state, need, { signal });
      state.grant = renewed.grant;
      return renewed;
    },
    async change(server, signal = new AbortController().signal, work) {
      const state = stateOf(server);
      const http = authHttp({ server, signal, limits, onStep });
      await store.exclusively(
        state.key,
        async () => {
          const stored = await read(state);
          const grant = await work(stored?.grant, { http, store, nonces, metadata });
          if (grant === undefined && stored === undefined) return;
          const value = grant && storedGrant(grant);
          if (!(await store.write(state.key, value, stored?.version))) throw changedMeanwhile(state);
          state.grant = grant;
        },
        signal,
      );
    },
  };
}

function changedMeanwhile({ server }: ServerState): AuthError {
  return new AuthError(
    "store_failed",
    `The credentials for ${shownServer(server)} were changed by somebody else meanwhile, and are left as they are now`,
  );
}

/** Without a query, which may be a secret. */
export function shownServer({ origin, pathname }: URL): string {
  return `${origin}${pathname === "/" ? "" : pathname}`;
}
