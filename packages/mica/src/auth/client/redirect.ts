/** How a person gets to an authorization server and back: the seam between the flow and whatever opens pages. */
import { isLoopback } from "../../http/guard.js";
import { AuthError } from "./auth-error.js";

/** Where the browser is sent back to. `loopback` makes one for programs on the person's own machine. */
export interface Redirect {
  /** What the client is registered as: `native` for one that the browser comes back to on the same machine. */
  readonly applicationType: "native" | "web";
  /**
   * Gets ready for one response. Called once for each time that somebody signs in.
   *
   * @param registered Redirect URIs that the authorization server knows of this client already: best to use one.
   */
  listen(registered: readonly string[]): Promise<RedirectListener>;
}

export interface RedirectListener {
  /** The redirect URI. */
  readonly uri: string;
  /**
   * Shows the person a page of the authorization server, and resolves with the URL that the browser came back to.
   *
   * @param state What that URL has to hold; anything else is not for this listener.
   * @param signal Aborts when nobody waits any more.
   */
  visit(url: string, state: string, signal: AbortSignal): Promise<string>;
  /** Called once, at the end: tells the person how it went. */
  close(wentWell: boolean): Promise<void>;
}

/** "All redirect URIs MUST be either localhost or use HTTPS" (security-considerations, Communication Security). */
export function checkRedirectUri(uri: string): void {
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname))) return;
  throw new AuthError(
    "forbidden_url",
    `redirect: expected an https URI, or http on this machine, got ${JSON.stringify(uri)}`,
  );
}
