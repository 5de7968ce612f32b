/** How deeply a message is nested: a bound on the stack that reading it takes, and on the time. */

/**
 * Texts of at least this many characters are looked at before they are parsed. Parsing takes about a microsecond for
 * each level, a hundred times what it takes for other text, so that a few megabytes of brackets would take seconds.
 */
const LONG_TEXT = 65_536;

/** Whether a text, were it JSON, would be nested deeper than that. Looks only at texts where it matters. */
export function isTextTooDeep(text: string, levels: number): boolean {
  if (text.length < LONG_TEXT) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x22 /* " */) {
      at = endOfString(text, at);
    } else if (char === 0x5b /* [ */ || char === 0x7b /* { */) {
      if (++depth > levels) return true;
    } else if (char === 0x5d /* ] */ || char === 0x7d /* } */) depth--;
  }
  return false;
}

/** Where the string that begins at `start` ends; the end of the text where it does not. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return quote;
  }
  return text.length;
}

/** Whether a value is nested deeper than that: an object or array is one level itself. */
export function isTooDeep(value: object, levels: number): boolean {
  if (levels <= 0) return true;
  if (Array.isArray(value)) return value.some((inner) => isNested(inner) && isTooDeep(inner, levels - 1));
  for (const key in value) {
    const inner = (value as Record<string, unknown>)[key];
    if (isNested(inner) && isTooDeep(inner, levels - 1)) return true;
  }
  return false;
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
