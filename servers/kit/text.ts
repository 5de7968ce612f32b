/** What text from outside may hold, before it is kept and shown to people and models. Pure. */

export interface TextForm {
  /** Whether it may have line breaks and tabs. */
  readonly lines: boolean;
}

/**
 * Control characters, which terminals obey (U+001B begins a sequence that recolours, moves or hides); line and paragraph
 * separators; and the embeddings, overrides and isolates of bidirectional text, which show what follows in another order
 * than it is read in. Text of right-to-left scripts needs none of these: the marks U+200E, U+200F and U+061C are left.
 * They are refused, not taken out: what is kept is what was written.
 */
const REFUSED = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;
const REFUSED_IN_LINES = /(?![\t\n\r\u2028\u2029])[\p{Cc}\u202A-\u202E\u2066-\u2069]/u;
/** Half of a character, which no encoding has: it would be kept as U+FFFD. */
const LONE_SURROGATE = /\p{Cs}/u;

/** Says what is wrong with a text, naming the character and where it stands; undefined where nothing is. */
export function textProblem(text: string, { lines }: TextForm): string | undefined {
  const half = LONE_SURROGATE.exec(text);
  if (half !== null) return `Expected whole characters, got half of one, ${named(half)}`;
  const refused = (lines ? REFUSED_IN_LINES : REFUSED).exec(text);
  if (refused === null) return undefined;
  const kind = lines ? "text" : "one line of text";
  return `Expected ${kind} without control characters or characters that reorder text, got ${named(refused)}`;
}

function named({ 0: character, index }: RegExpExecArray): string {
  const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
  return `U+${code} at character ${index + 1}`;
}
