/** What an audit found: one thing that is wrong with a server, with the proof and the way out. */

/** `error`: against a MUST of the specification. `warning`: against a SHOULD. `note`: a judgement. */
export type Severity = "error" | "warning" | "note";

export const SEVERITIES: readonly Severity[] = ["error", "warning", "note"];

export interface Finding {
  /** The id of the rule that found it. */
  readonly rule: string;
  readonly severity: Severity;
  /** Where it is written: a section of the specification, or of an RFC. */
  readonly section: string;
  /** What is wrong, naming the thing. The same in every run, so that a baseline knows it again. */
  readonly message: string;
  /** The exact bytes or values that were seen. */
  readonly evidence: string;
  /** What to do about it. */
  readonly fix: string;
}
