/** What a wrong command line is refused with, and which addresses are those of this machine alone. */

/** The command line was wrong: the message says what, in one line. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export const LOOPBACK = "127.0.0.1";

/** Whether an address is one of this machine alone. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(host);
}
