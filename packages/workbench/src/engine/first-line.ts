/** The beginning of a text of several lines. */

/** The first line that says anything. */
export function firstLine(text: string): string {
  return text.trim().split(/\r?\n/, 1)[0] as string;
}
