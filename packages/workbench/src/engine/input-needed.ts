/** The failure of a call that cannot go on: the server asks for what was not given, or was given wrongly. */
import type { UsageProblem } from "./usage-error.js";

/** `message` is for people, on several lines; the rest is for scripts. */
export class InputNeeded extends Error {
  override readonly name = "InputNeeded";
  /** What the server asks for, by key, as it sent it. */
  readonly inputRequests: Readonly<Record<string, unknown>>;
  /** Each names the question, and the field where it is about one: `when.startsAt`. */
  readonly problems: readonly UsageProblem[];

  constructor(
    message: string,
    inputRequests: Readonly<Record<string, unknown>>,
    problems: readonly UsageProblem[],
  ) {
    super(message);
    this.inputRequests = inputRequests;
    this.problems = problems;
  }
}
