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

/**
 * Misuse of the client that is what somebody typed, as a failure of theirs: its messages begin with the name of
 * what is wrong. Any other error stays what it is.
 */
export function asUsageError(error: unknown): unknown {
  const path = error instanceof TypeError ? /^([\w.[\]-]+): /.exec(error.message)?.[1] : undefined;
  if (path === undefined) return error;
  const { message } = error as TypeError;
  return new UsageError(message, [{ path, message }]);
}
