/** What to do about a server that does not let somebody in. */
import { saysWhoCalls } from "./credentials.js";
import { shellWord, type Target, targetName } from "./target.js";

/** Adds it to the message of a refusal with 401 or 403; any other error stays what it is. */
export function withAuthHint(error: unknown, target: Target): unknown {
  if (!(error instanceof Error) || target.kind !== "url") return error;
  const { reason, cause } = error as { reason?: unknown; cause?: { status?: unknown } };
  const status = reason === undefined ? cause?.status : undefined;
  const isGiven = saysWhoCalls(target.headers);
  const login = `mica login ${shellWord(targetName(target))}`;
  // Whoever is signed in, and lacks something, knows how that goes.
  if (reason === "sign_in_needed") error.message += `; ${login} signs in`;
  else if (status === 401) {
    error.message += isGiven
      ? `; the Authorization that --header gives was not accepted, ${login} signs in instead`
      : `; ${login} signs in, or --header 'Authorization: Bearer TOKEN' gives a token`;
  } else if (status === 403) {
    error.message += isGiven
      ? "; the Authorization that --header gives is not enough for this"
      : `; ${login} signs in (--again as somebody else, or for more), or --header 'Authorization: Bearer TOKEN' gives a token`;
  }
  return error;
}
