/** The credentials of one server: read once, renewed by one at a time in all processes that share the store. */
import type { AuthorizedRequest } from "../../http/client-auth.js";
import { AuthError } from "./auth-error.js";
import { authHttp } from "./auth-http.js";
import { type DpopKey, loadDpopKey, type Nonces } from "./dpop.js";
import { type Grant, grantedScopes, grantKey, holds, isOver, readGrant, storedGrant } from "./grant.js";
import type { GrantSource, Need, Renewed, SourceContext } from "./grant-source.js";
import type { AuthClientLimits } from "./limits.js";
import type { MetadataCache } from "./metadata-cache.js";
import { createShared } from "./shared-work.js";
import type { OnAuthStep } from "./step.js";
import type { AuthStore } from "./store.js";

export interface CredentialsContext {
  readonly store: AuthStore;
  readonly source: GrantSource;
  readonly limits: AuthClientLimits;
  readonly onStep: OnAuthStep | undefined;
  readonly nonces: Nonces;
  readonly metadata: MetadataCache;
}

/** Who waits for a renewal, and how long it may take them. */
export type Waiter = Pick<AuthorizedRequest, "signal" | "hold">;

export interface ServerCredentials {
  /** As it should stand in messages. */
  readonly name: string;
  /** What this process holds; it may be newer in the store. */
  readonly grant: Grant | undefined;
  /** Reads the store, the first time. */
  load(): Promise<Grant | undefined>;
  /** Reads the store. */
  read(): Promise<Grant | undefined>;
  /** @throws AuthError; the signal's reason. The clock of whoever waits is held. */
  renew(need: Need, waiter: Waiter): Promise<Renewed>;
  /** The headers for one request with the tokens that are held. */
  headersFor(request: AuthorizedRequest): Promise<Record<string, string>>;
  /** Does something with what is kept while nobody else does; undefined removes it. */
  change(
    signal: AbortSignal,
    work: (grant: Grant | undefined, context: SourceContext) => Promise<Grant | undefined>,
  ): Promise<void>;
}

export function createServerCredentials(
  server: URL,
  { store, source, limits, onStep, nonces, metadata }: CredentialsContext,
): ServerCredentials {
  const key = grantKey(server);
  const name = shownServer(server);
  let grant: Grant | undefined;
  let loading: Promise<void> | undefined;
  let dpop: { readonly jwk: Grant["dpop"]; readonly key: Promise<DpopKey> } | undefined;

  async function read(): Promise<{ grant: Grant; version: string } | undefined> {
    const record = await store.read(key);
    return record && { grant: readGrant(record.value), version: record.version };
  }

  /** Whether a grant is what is needed, by whoever it was renewed. */
  function suffices(one: Grant | undefined, { rejected, scopes }: Need): one is Grant {
    const tokens = one?.tokens;
    if (one === undefined || tokens === undefined || tokens.accessToken === rejected) return false;
    return !isOver(tokens) && holds(grantedScopes(one), scopes);
  }

  function contextWith(signal: AbortSignal): SourceContext {
    return { http: authHttp({ server, signal, limits, onStep }), store, nonces, metadata };
  }

  async function renewAlone(need: Need, signal: AbortSignal): Promise<Renewed> {
    const stored = await read();
    // Another process may have been faster.
    if (suffices(stored?.grant, need)) {
      grant = stored!.grant;
      return { grant, how: "adopted" };
    }
    let version = stored?.version;
    const keep = async (fresh: Grant) => {
      if (!(await store.write(key, storedGrant(fresh), version))) throw changedMeanwhile();
      version = (await store.read(key))?.version;
      grant = fresh;
    };
    const renewed = await source.renew(stored?.grant, need, { ...contextWith(signal), keep });
    await keep(renewed.grant);
    const missing = need.scopes.filter((scope) => !grantedScopes(renewed.grant).includes(scope));
    if (missing.length === 0) return renewed;
    throw new AuthError(
      "scope_refused",
      `The authorization server ${renewed.grant.issuer} did not grant ${missing.join(" ")}, which ${name} needs for this`,
    );
  }

  const shared = createShared<Need, Renewed>((need, signal) =>
    store.exclusively(key, () => renewAlone(need, signal), signal),
  );

  const changedMeanwhile = () =>
    new AuthError(
      "store_failed",
      `The credentials for ${name} were changed by somebody else meanwhile, and are left as they are now`,
    );

  return {
    name,
    get grant() {
      return grant;
    },
    async load() {
      loading ??= read().then(
        (stored) => {
          grant ??= stored?.grant;
        },
        (error: unknown) => {
          loading = undefined;
          throw error;
        },
      );
      await loading;
      return grant;
    },
    read: async () => (await read())?.grant,
    async renew(need, { signal, hold }) {
      const release = hold?.();
      try {
        const renewed = await shared(need, signal, (one) => suffices(one.grant, need));
        grant = renewed.grant;
        return renewed;
      } finally {
        release?.();
      }
    },
    async headersFor({ method, url }) {
      const { tokens, dpop: jwk } = grant!;
      const { accessToken, tokenType } = tokens!;
      if (tokenType === "Bearer") return { authorization: `Bearer ${accessToken}` };
      if (dpop === undefined || dpop.jwk !== jwk) dpop = { jwk, key: loadDpopKey(jwk ?? {}) };
      const proof = await (await dpop.key).prove(method, url, nonces.get(url), accessToken);
      return { authorization: `DPoP ${accessToken}`, dpop: proof };
    },
    change: (signal, work) =>
      store.exclusively(
        key,
        async () => {
          const stored = await read();
          const fresh = await work(stored?.grant, contextWith(signal));
          if (fresh === undefined && stored === undefined) return;
          if (!(await store.write(key, fresh && storedGrant(fresh), stored?.version)))
            throw changedMeanwhile();
          grant = fresh;
        },
        signal,
      ),
  };
}

/** Without a query, which may be a secret. */
export function shownServer({ origin, pathname }: URL): string {
  return `${origin}${pathname === "/" ? "" : pathname}`;
}
