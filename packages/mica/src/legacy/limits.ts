/** Every bound of one session with an initialize-era client. */

export interface LegacyLimits {
  /** Requests of one session being worked on at once. Default 1024: more than any client asks, so one that does runs away. */
  readonly maxInFlight: number;
  /** Milliseconds that a client has to answer a question. Default 10 minutes: a person may have to read and decide. */
  readonly inputTimeoutMs: number;
  /**
   * Rounds of questions that one request may take. Default 100: the server's own limit (`state.maxRounds`) comes first,
   * and this one stops a handler that has none.
   */
  readonly maxRounds: number;
  /** Messages in one batch. Default 100. */
  readonly maxBatch: number;
}

export const DEFAULT_LEGACY_LIMITS: Readonly<LegacyLimits> = {
  maxInFlight: 1024,
  inputTimeoutMs: 10 * 60_000,
  maxRounds: 100,
  maxBatch: 100,
};
