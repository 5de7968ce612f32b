/** Every limit of signing in, in one place. */

export interface AuthClientLimits {
  /** Milliseconds for one request to an authorization server, or for metadata. */
  requestTimeoutMs: number;
  /** Bytes of one of their answers. */
  maxDocumentBytes: number;
  /** Milliseconds in which a person has to come back from the browser. */
  signInTimeoutMs: number;
  /** Milliseconds before its end at which a token is replaced, at most a tenth of its life. */
  expiryMarginMs: number;
  /** Times that one request may make a client ask for more scopes. */
  maxStepUps: number;
  /** Milliseconds for which the metadata of an authorization server is used without another look. */
  metadataAgeMs: number;
}

export const DEFAULT_AUTH_CLIENT_LIMITS: Readonly<AuthClientLimits> = {
  requestTimeoutMs: 15_000,
  /** Metadata is a few kilobytes. */
  maxDocumentBytes: 262_144,
  /** Long enough for a password, a second factor and a consent. */
  signInTimeoutMs: 300_000,
  /** More than clocks differ and requests last. */
  expiryMarginMs: 60_000,
  /** "no more than a few times" (authorization, Step-Up Authorization Flow). */
  maxStepUps: 2,
  metadataAgeMs: 600_000,
};

/** @throws TypeError naming the limit. */
export function readAuthLimits(overrides: Partial<AuthClientLimits> | undefined): AuthClientLimits {
  const limits = { ...DEFAULT_AUTH_CLIENT_LIMITS };
  for (const [name, value] of Object.entries(overrides ?? {})) {
    if (!Object.hasOwn(limits, name)) throw new TypeError(`limits.${name}: there is no such limit`);
    if (value === undefined) continue;
    if (!Number.isSafeInteger(value) || value < 0) {
      throw new TypeError(`limits.${name}: expected a whole number from 0, got ${JSON.stringify(value)}`);
    }
    limits[name as keyof AuthClientLimits] = value;
  }
  return limits;
}
