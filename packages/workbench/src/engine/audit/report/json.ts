/** An audit as data: the member `result` of what `mica audit --json` prints. */
import { type Audit, countBy } from "../audit.js";

export function jsonReport({ target, era, revision, rules, findings, known, gone }: Audit): object {
  return {
    target,
    era: era ?? null,
    revision: revision ?? null,
    counts: countBy(findings),
    findings,
    known,
    gone,
    rules: rules.map(({ rule, outcome, reason, ms }) => ({
      id: rule.id,
      severity: rule.severity,
      section: rule.section,
      title: rule.title,
      outcome,
      ...(reason !== undefined && { reason }),
      ms,
    })),
  };
}
