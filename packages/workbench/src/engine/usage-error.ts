/** The failure of whoever typed the command: nothing was sent because of it. */

/** One thing that is wrong with what was given. */
export interface UsageProblem {
  /** What it is about: an argument (`user.name`, `tags[1]`), an option (`--timeout`) or an operand. */
  readonly path: string;
  readonly message: string;
}

/** What was given cannot be used. `message` is for people, several lines where there are several problems. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly problems: readonly UsageProblem[];

  constructor(message: string, problems: readonly UsageProblem[] = []) {
    super(message);
    this.problems = problems;
  }
}

/** `path: message` for each problem, one a line. */
export function usageError(problems: readonly UsageProblem[]): UsageError {
  return new UsageError(problems.map(({ path, message }) => `${path}: ${message}`).join("\n"), problems);
}
