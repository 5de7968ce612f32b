/** Ending what outlives a request when the credential ends with which it was asked for (authorization, Token Handling). */
import type { AuthInfo } from "../transport.js";

/** Longest delay of a timer, in milliseconds: what ends later is looked at again then. */
const LONGEST_TIMER = 2_147_483_647;

/**
 * Calls back once, when a credential ends; at the next turn where it has. The returned function takes that back. Does
 * nothing where there is no credential, or it does not end.
 *
 * @example const forget = whenExpired(exchange.auth, () => subscription.end());
 */
export function whenExpired(auth: Pick<AuthInfo, "expiresAt"> | undefined, react: () => void): () => void {
  const expiresAt = auth?.expiresAt;
  if (expiresAt === undefined) return () => {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (): void => {
    const left = expiresAt - Date.now();
    timer = setTimeout(left > LONGEST_TIMER ? wait : react, Math.min(Math.max(left, 0), LONGEST_TIMER));
    // No reason for a process to live on.
    (timer as { unref?: () => void }).unref?.();
  };
  wait();
  return () => clearTimeout(timer);
}
