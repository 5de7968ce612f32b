/** Text of a stranger, made fit for a terminal and an error message. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const ESCAPES = /\u001b\[[0-9;?]*[ -/]*[@-~]|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Without control characters and colours, and not longer than `maxChars`. */
export function printable(text: string, maxChars: number): string {
  const plain = text.slice(0, 2 * maxChars).replace(ESCAPES, "");
  if (plain.length <= maxChars && text.length <= 2 * maxChars) return plain;
  return `${plain.slice(0, maxChars)}... (${text.length} characters)`;
}
