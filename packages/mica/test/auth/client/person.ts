/** A person with a browser: follows the page, and comes back to wherever it sends them. */
import { loopback } from "../../../src/auth/client/loopback.js";
import type { OAuthOptions } from "../../../src/auth/client/oauth-options.js";
import type { Redirect } from "../../../src/auth/client/redirect.js";

export interface Person {
  readonly redirect: Redirect;
  /** Pages that were shown. */
  readonly pages: URL[];
  /** What the person read in the end, each time. */
  readonly read: string[];
}

/** Comes back to a real listener on this machine. */
export function person(options: { host?: string; port?: number; onPage?: (url: URL) => void } = {}): Person {
  const pages: URL[] = [];
  const read: string[] = [];
  const redirect = loopback({
    ...(options.host !== undefined && { host: options.host }),
    ...(options.port !== undefined && { port: options.port }),
    open(url) {
      const page = new URL(url);
      pages.push(page);
      options.onPage?.(page);
      fetch(url)
        .then(async (answer) => read.push(await answer.text()))
        // A browser that nobody answers any more.
        .catch(() => {});
    },
  });
  return { redirect, pages, read };
}

/** Nobody there: a test that shows a page has gone wrong. */
export const nobody: Redirect = {
  applicationType: "native",
  listen: () => Promise.reject(new Error("nobody was to be asked")),
};

export function someone(options: Partial<OAuthOptions> = {}): Person & { options: OAuthOptions } {
  const one = person();
  return { ...one, options: { clientName: "Test", redirect: one.redirect, ...options } };
}
