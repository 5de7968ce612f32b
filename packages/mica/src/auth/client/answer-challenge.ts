/** What a challenge leads to, and how often one request may lead to it (authorization, Error Handling). */
import type { AuthorizedRequest } from "../../http/client-auth.js";
import { AuthError } from "./auth-error.js";
import type { TokenChallenge } from "./challenge.js";
import { grantedScopes, holds } from "./grant.js";
import type { How } from "./grant-source.js";
import type { AuthClientLimits } from "./limits.js";
import type { ServerCredentials } from "./server-credentials.js";

/** What has been done for one request so far. */
export interface Progress {
  /** The access token that went with it the last time. */
  sent?: string;
  /** When that token ends, in milliseconds since the epoch, where it is known. */
  sentUntil?: number | undefined;
  nonces: number;
  renewals: number;
  stepUps: number;
  last?: How;
}

export const newProgress = (): Progress => ({ nonces: 0, renewals: 0, stepUps: 0 });

/** Renewals that one refused request causes at most: by the refresh token, and by signing in. */
const MAX_RENEWALS = 2;
/** Nonces that one request may be sent again for. */
const MAX_NONCES = 2;

/**
 * A 401: there is no token, or it is none that the server takes.
 *
 * @param hasNonce Whether the server has given a nonce.
 * @returns Whether to send the request again.
 * @throws AuthError `token_rejected` where it was issued just now, and what renewing throws.
 */
export async function answerUnauthorized(
  credentials: ServerCredentials,
  request: AuthorizedRequest,
  challenge: TokenChallenge | undefined,
  progress: Progress,
  hasNonce: boolean,
): Promise<boolean> {
  if (challenge?.error === "use_dpop_nonce" && progress.sent !== undefined) {
    progress.nonces += 1;
    return progress.nonces <= MAX_NONCES && hasNonce;
  }
  if (progress.last === "issued" || progress.renewals >= MAX_RENEWALS) {
    const said = challenge?.description ?? challenge?.error;
    throw new AuthError(
      "token_rejected",
      `${credentials.name} refuses a token that ${credentials.grant?.issuer} has issued for it just now${said === undefined ? "" : `: ${said}`}`,
    );
  }
  progress.renewals += 1;
  const mayRefresh = progress.last !== "refreshed";
  const need = { rejected: progress.sent, scopes: [], challenge, mayRefresh, isChallenged: true };
  progress.last = (await credentials.renew(need, request)).how;
  return true;
}

/**
 * A 403 for want of scopes: a token with more of them, unless that was tried before (Step-Up Authorization Flow).
 *
 * @returns Whether to send the request again.
 * @throws AuthError `scope_refused`, and what renewing throws.
 */
export async function answerForbidden(
  credentials: ServerCredentials,
  request: AuthorizedRequest,
  challenge: TokenChallenge,
  progress: Progress,
  { maxStepUps }: AuthClientLimits,
): Promise<boolean> {
  const { error, scopes } = challenge;
  const { grant, name } = credentials;
  if (error !== "insufficient_scope" || scopes.length === 0) return false;
  if (progress.sent === undefined || grant === undefined) return false;
  const asks = `${name} asks for the scopes ${scopes.join(" ")}`;
  if (grant.tokens?.accessToken === progress.sent && holds(grant.requested, scopes)) {
    const why = holds(grantedScopes(grant), scopes)
      ? "although the token has them"
      : `which ${grant.issuer} was asked for before and did not grant`;
    throw new AuthError("scope_refused", `${asks}, ${why}`);
  }
  progress.stepUps += 1;
  if (progress.stepUps > maxStepUps) {
    throw new AuthError(
      "scope_refused",
      `${asks}, and has asked for others ${maxStepUps} times (maxStepUps)`,
    );
  }
  const need = { rejected: progress.sent, scopes, challenge, mayRefresh: false, isChallenged: true };
  await credentials.renew(need, request);
  return true;
}
