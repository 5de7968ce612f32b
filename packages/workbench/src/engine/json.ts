/** JSON values: told apart, read, and shown. */

/** Neither null nor an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * What a text is as JSON, in a box because `null` is JSON too; undefined where it is none. A leading byte order mark is
 * ignored (RFC 8259, section 8.1).
 */
export function readJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) };
  } catch {
    return undefined;
  }
}

/** A value as it may stand in a message: JSON, cut where it is long. */
export function shown(value: unknown, most = 80): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > most ? `${text.slice(0, most - 3)}...` : text;
}
