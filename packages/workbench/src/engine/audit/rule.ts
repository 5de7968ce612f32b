/** What a rule of the audit is. Rules stand in rules/, a file per topic, and in the table of rules.ts. */
import type { Audited, Era } from "./audited.js";
import type { Severity } from "./finding.js";

/** What a rule saw. The rule says which rule it is, and where that is written. */
export interface Found {
  /** What is wrong, naming the thing; without values that differ from run to run, which belong into the evidence. */
  readonly message: string;
  /** The exact bytes or values that were seen. */
  readonly evidence: string;
  readonly fix: string;
  /** Default: that of the rule. */
  readonly severity?: Severity;
}

export interface Rule {
  /** Lower case with dashes; stable, because baselines and suppressions name it. */
  readonly id: string;
  readonly severity: Severity;
  /** A section of the specification (`transports/stdio`), or of an RFC. */
  readonly section: string;
  /** What holds where nothing is found, as a sentence: `Standard output carries messages only`. */
  readonly title: string;
  /** The binding that it is about; both where it is absent. */
  readonly applies?: "stdio" | "http";
  /** The era that a server must speak for it; either where it is absent. A server may speak both. */
  readonly era?: Era;
  /** Whether it also runs against a server that wants a token and was given none. */
  readonly unsigned?: true;
  /**
   * Looks at the server.
   *
   * @throws Inapplicable where there is nothing to look at. Any other error means that the rule could not run, and is
   * reported as that.
   */
  run(audited: Audited): Promise<readonly Found[]> | readonly Found[];
}

/** There is nothing in this server that the rule could look at. */
export class Inapplicable extends Error {
  override readonly name = "Inapplicable";
}
