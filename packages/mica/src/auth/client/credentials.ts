/**
 * Credentials for requests, whatever the grant: which token goes with a request, when it is replaced, and what a
 * challenge leads to. What is known of one server is never used for another.
 */
import type { AuthorizedRequest, HttpAuth } from "../../http/client-auth.js";
import { answerForbidden, answerUnauthorized, newProgress, type Progress } from "./answer-challenge.js";
import { AuthError } from "./auth-error.js";
import { type TokenChallenge, tokenChallenge } from "./challenge.js";
import { createNonces } from "./dpop.js";
import { grantKey, isDue, isOver } from "./grant.js";
import type { GrantSource, Need } from "./grant-source.js";
import type { AuthClientLimits } from "./limits.js";
import { createMetadataCache } from "./metadata-cache.js";
import { createServerCredentials, type ServerCredentials } from "./server-credentials.js";
import type { OnAuthStep } from "./step.js";
import type { AuthStore } from "./store.js";

export interface CredentialsOptions {
  readonly store: AuthStore;
  readonly source: GrantSource;
  readonly limits: AuthClientLimits;
  readonly onStep: OnAuthStep | undefined;
  readonly extensions?: HttpAuth["extensions"];
}

export interface Credentials extends HttpAuth {
  of(server: URL): ServerCredentials;
}

/** How much sooner than here a token may end by the clock of a server, which also counts in whole seconds. */
const CLOCKS_DIFFER_MS = 5_000;

interface Known {
  readonly credentials: ServerCredentials;
  /** The last one, by which a token that ends can be replaced. */
  challenge: TokenChallenge | undefined;
}

export function createCredentials(options: CredentialsOptions): Credentials {
  const { source, limits } = options;
  const nonces = createNonces();
  const context = { ...options, nonces, metadata: createMetadataCache(limits.metadataAgeMs) };
  const servers = new Map<string, Known>();
  const progresses = new WeakMap<AuthorizedRequest, Progress>();

  function knownOf(server: URL): Known {
    const key = grantKey(server);
    let known = servers.get(key);
    if (known === undefined) {
      known = { credentials: createServerCredentials(server, context), challenge: undefined };
      servers.set(key, known);
    }
    return known;
  }

  function progressOf(request: AuthorizedRequest): Progress {
    let progress = progresses.get(request);
    if (progress === undefined) {
      progress = newProgress();
      progresses.set(request, progress);
    }
    return progress;
  }

  /** Replaces a token that is about to end, where that takes nobody. */
  async function replaceDue({ credentials, challenge }: Known, request: AuthorizedRequest): Promise<void> {
    const { tokens } = credentials.grant!;
    const rejected = tokens!.accessToken;
    const need: Need = { rejected, scopes: [], challenge, mayRefresh: true, isChallenged: false };
    try {
      await credentials.renew(need, request);
    } catch (error) {
      request.signal?.throwIfAborted();
      if (error instanceof AuthError && error.reason === "sign_in_needed") return;
      // It is good for a little while yet, and there may be a better moment.
      if (isOver(tokens!)) throw error;
    }
  }

  return {
    extensions: options.extensions,
    of: (server) => knownOf(server).credentials,
    async authorize(request) {
      const known = knownOf(request.server);
      const { credentials } = known;
      const grant = await credentials.load();
      if (grant?.tokens && isDue(grant.tokens, limits) && source.canReplace(grant)) {
        await replaceDue(known, request);
      }
      const progress = progressOf(request);
      const tokens = credentials.grant?.tokens;
      const token = tokens?.accessToken;
      // A token is for the server that it was issued for, and never travels to another origin.
      if (token === undefined || request.url.origin !== request.server.origin) {
        delete progress.sent;
        return {};
      }
      progress.sent = token;
      progress.sentUntil = tokens?.expiresAt;
      return credentials.headersFor(request);
    },
    hasEnded(request) {
      const until = progresses.get(request)?.sentUntil;
      return until !== undefined && Date.now() >= until - CLOCKS_DIFFER_MS;
    },
    onAnswer({ url }, headers) {
      nonces.take(url, headers["dpop-nonce"]);
    },
    async onChallenge(request, { status, wwwAuthenticate }) {
      const challenge = tokenChallenge(wwwAuthenticate);
      // Other schemes are nothing that can be answered here.
      if (challenge === null) return false;
      const known = knownOf(request.server);
      known.challenge = challenge ?? known.challenge;
      const progress = progressOf(request);
      const { credentials } = known;
      if (status === 401) {
        const hasNonce = nonces.get(request.url) !== undefined;
        return answerUnauthorized(credentials, request, challenge, progress, hasNonce);
      }
      return challenge !== undefined && answerForbidden(credentials, request, challenge, progress, limits);
    },
  };
}
