/** Keeps a token out of whatever is written or handed on. */

/** Shorter ones are only looked for whole: they might stand in any text by chance. */
const LEAST_LENGTH = 16;
const INSTEAD = "[token]";
/** How deep claims are searched: deeper than any that are issued. */
const MAX_DEPTH = 8;

function holds(text: string, token: string): boolean {
  return text === token || (token.length >= LEAST_LENGTH && text.includes(token));
}

/** The text of an error, with `INSTEAD` for the token, and for what came with it neither cause nor members. */
export function redactError(error: unknown, token: string): Error {
  const clean = (text: string): string => (holds(text, token) ? text.replaceAll(token, INSTEAD) : text);
  const redacted = new Error(clean(error instanceof Error ? error.message : String(error)));
  if (error instanceof Error) {
    redacted.name = error.name;
    if (error.stack !== undefined) redacted.stack = clean(error.stack);
  }
  return redacted;
}

/** The claims, without those in which the token stands. Another verifier may have put it there. */
export function withoutToken(
  claims: Readonly<Record<string, unknown>>,
  token: string,
): Record<string, unknown> {
  // Defined, not assigned: a claim named `__proto__` would give claims that nobody made.
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => !contains(value, token, MAX_DEPTH)));
}

function contains(value: unknown, token: string, depth: number): boolean {
  if (typeof value === "string") return holds(value, token);
  if (typeof value !== "object" || value === null || depth === 0) return false;
  return Object.values(value).some((member) => contains(member, token, depth - 1));
}
