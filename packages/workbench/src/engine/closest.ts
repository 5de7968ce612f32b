/** Finding the name that somebody probably meant. */

/** The closest of the known names, where one is close enough to be a slip of the keyboard. */
export function closest(name: string, known: readonly string[]): string | undefined {
  const allowed = Math.max(1, Math.floor(name.length / 3));
  let best: string | undefined;
  let least = allowed + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= least) continue;
    const steps = distance(name.toLowerCase(), candidate.toLowerCase());
    if (steps < least) {
      best = candidate;
      least = steps;
    }
  }
  return best;
}

/** The end of a message about an unknown name: `. Did you mean "open"?`, or nothing. */
export function suggestion(name: string, known: readonly string[]): string {
  const meant = closest(name, known);
  return meant === undefined ? "" : `. Did you mean ${JSON.stringify(meant)}?`;
}

/** Insertions, deletions and replacements between two words (Levenshtein). */
function distance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = (above[column - 1] as number) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (above[column] as number) + 1, (current[column - 1] as number) + 1));
    }
    above = current;
  }
  return above[b.length] as number;
}
