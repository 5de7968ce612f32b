/** An option that nobody reads is a mistake: the default would be used in its place without a word. */

/**
 * @param known An object that has a member for every option that there is.
 * @throws TypeError naming `what`, the option, and those that there are. One that is undefined is as one left out.
 */
export function checkOptionNames(options: object, known: object, what: string): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(known, name)) continue;
    throw new TypeError(`${what}: ${name} is no option; expected ${Object.keys(known).join(", ")}`);
  }
}
