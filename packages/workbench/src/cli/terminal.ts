/**
 * Text from a server, made safe for a terminal: what would steer the terminal, or hide from whoever reads it,
 * is shown instead of obeyed.
 */

/**
 * Everything but ordinary text, newlines and tabs: control characters of ASCII and of Latin-1 (ESC begins a
 * sequence, CR overwrites a line, U+009B is ESC [ in one), characters that reorder or hide text, tags, surrogates
 * without a partner. The joiners U+200C and U+200D stay: scripts and emoji need them.
 */
const STEERING =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is what this is for
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]|\p{Surrogate}/gu;

/** Text for a terminal, on as many lines as it has. @example visible("\x1b[2J") === "\\x1b[2J" */
export function visible(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(STEERING, escaped);
}

/** Text for one line of a terminal: newlines and tabs are shown as well. */
export function visibleLine(text: string): string {
  return visible(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

function escaped(character: string): string {
  const code = character.codePointAt(0) as number;
  if (code === 0x0d) return "\\r";
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** JSON text that is safe to show on a terminal, and still the same JSON: JSON itself escapes only U+0000 to U+001F. */
export function safeJson(json: string): string {
  return json.replace(STEERING, jsonEscaped);
}

/** By code unit, as JSON does it (RFC 8259, section 7). */
function jsonEscaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

/** Characters that take two columns of a terminal (Unicode Standard Annex 11, W and F), and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const NO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of them
const COLOUR = /\x1b\[[0-9;]*m/g;

/** Columns that a text takes; colours take none. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text.replace(COLOUR, "")) {
    if (character <= "~") columns += 1;
    else if (!NO_WIDTH.test(character)) columns += WIDE.test(character) ? 2 : 1;
  }
  return columns;
}

/** Uncoloured text cut to a number of columns, with an ellipsis where something is missing. */
export function cut(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  let taken = "";
  let used = 0;
  for (const character of text) {
    used += columnsOf(character);
    if (used > columns - 1) break;
    taken += character;
  }
  return `${taken}…`;
}
