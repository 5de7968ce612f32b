/** Every bound of the stdio binding, in one place. */

/** The bounds of {@link DEFAULT_STDIO_LIMITS}; both sides take any of theirs as options. */
export interface StdioLimits {
  /** Longest message, either way, in bytes without its newline. */
  readonly maxMessageBytes: number;
  /** Server: requests being worked on at once, subscriptions included. */
  readonly maxInFlight: number;
  /** Server: what may wait for a client that does not read, in characters, before progress and log messages are left out. */
  readonly maxQueuedChars: number;
  /** Server: milliseconds that work in flight may still take once the input has ended. */
  readonly drainMs: number;
  /** Client: milliseconds between closing the server's stdin and SIGTERM. */
  readonly closeMs: number;
  /** Client: milliseconds between SIGTERM and SIGKILL. */
  readonly killMs: number;
  /** Client: starts of a new process, in place of one that ended, within `restartWindowMs`. */
  readonly maxRestarts: number;
  /** Client: see `maxRestarts`, in milliseconds. */
  readonly restartWindowMs: number;
  /** Client: lines of stderr that are kept to explain the end of a process. */
  readonly stderrLines: number;
  /** Client: characters of each line of stderr that are kept. */
  readonly stderrLineChars: number;
}

/**
 * The defaults.
 *
 * - `maxMessageBytes` 16 MiB: room for an image or a document in base64, too little to exhaust a process.
 * - `maxInFlight` 1024: far above what one client asks at once, so reaching it means that something runs away.
 * - `maxQueuedChars` 8 Mi: seconds of output for a client that is busy, not the whole life of one that hangs.
 * - `drainMs` 2000, `closeMs` 2000, `killMs` 2000: a process that was asked to end is gone within four seconds.
 * - `maxRestarts` 5 in `restartWindowMs` 60 000: a crash now and then is healed, a crash at every start is reported.
 * - `stderrLines` 20 of `stderrLineChars` 1000: a stack trace fits.
 */
export const DEFAULT_STDIO_LIMITS: StdioLimits = Object.freeze({
  maxMessageBytes: 16 * 1024 * 1024,
  maxInFlight: 1024,
  maxQueuedChars: 8 * 1024 * 1024,
  drainMs: 2000,
  closeMs: 2000,
  killMs: 2000,
  maxRestarts: 5,
  restartWindowMs: 60_000,
  stderrLines: 20,
  stderrLineChars: 1000,
});

/** The defaults, with what the caller gave in their place. */
export function stdioLimits(given: Partial<StdioLimits>): StdioLimits {
  const limits: { -readonly [Name in keyof StdioLimits]: number } = { ...DEFAULT_STDIO_LIMITS };
  for (const name of Object.keys(limits) as (keyof StdioLimits)[]) {
    const value = given[name];
    if (value === undefined) continue;
    if (!Number.isSafeInteger(value) || value < 0) {
      throw new TypeError(`${name} must be an integer of 0 or more; got ${String(value)}`);
    }
    limits[name] = value;
  }
  return limits;
}
