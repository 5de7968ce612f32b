/** A definition with a key that nobody reads is a mistake: it would be dropped, or advertised, without a word. */

/** What other libraries call a key of ours. */
const RENAMED: Record<string, string> = {
  inputSchema: "input",
  outputSchema: "output",
  argsSchema: "input",
  arguments: "input",
  completions: "complete",
};

/** @throws TypeError naming `what`, the key, and those that there are. */
export function checkKeys(definition: unknown, known: readonly string[], what: string): void {
  if (typeof definition !== "object" || definition === null) {
    throw new TypeError(
      `${what}: the definition must be an object, got ${definition === null ? "null" : typeof definition}`,
    );
  }
  for (const key of Object.keys(definition)) {
    if (known.includes(key)) continue;
    const meant =
      Object.hasOwn(RENAMED, key) && known.includes(RENAMED[key]!)
        ? `did you mean ${RENAMED[key]}?`
        : `expected ${known.join(", ")}`;
    throw new TypeError(`${what}: ${key} is no part of a definition; ${meant}`);
  }
}
