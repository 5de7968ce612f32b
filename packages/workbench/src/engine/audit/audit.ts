/** An audit from beginning to end: opens the target, runs the rules, compares with the baseline. */
import { suggestion } from "../closest.js";
import { type Target, targetName } from "../target.js";
import { UsageError } from "../usage-error.js";
import type { Era } from "./audited.js";
import { compareWithBaseline, type KnownFinding, readBaseline, writeBaseline } from "./baseline.js";
import { type Finding, SEVERITIES, type Severity } from "./finding.js";
import { type AuditSettings, openAudited } from "./open.js";
import type { Rule } from "./rule.js";
import { RULES } from "./rules.js";
import { DEFAULT_BUDGET_MS, DEFAULT_RULE_MS, type RuleReport, type RunSettings, runRules } from "./run.js";

export interface Audit {
  readonly target: string;
  /** What was spoken; undefined where the server let nobody in. */
  readonly era: Era | undefined;
  readonly revision: string | undefined;
  /** Every rule, in order. */
  readonly rules: readonly RuleReport[];
  /** The worst first; without those of the baseline. */
  readonly findings: readonly Finding[];
  /** Those that the baseline knows. */
  readonly known: readonly Finding[];
  /** What the baseline knows and was not found. */
  readonly gone: readonly KnownFinding[];
}

export interface AuditOptions extends AuditSettings, Pick<RunSettings, "only" | "skip" | "onRule"> {
  readonly baseline: string | undefined;
  readonly writeBaseline: string | undefined;
}

/** @throws UsageError, McpError */
export async function audit(
  target: Target,
  options: AuditOptions,
  rules: readonly Rule[] = RULES,
): Promise<Audit> {
  for (const id of [...options.only, ...options.skip]) checkRule(id, rules);
  const baseline = options.baseline === undefined ? [] : await readBaseline(options.baseline);
  const opened = await openAudited(target, options);
  try {
    const { era, speaking, isLocked } = opened.audited;
    const ran = await runRules(rules, opened, {
      ...options,
      ruleMs: DEFAULT_RULE_MS,
      budgetMs: DEFAULT_BUDGET_MS,
    });
    const reports = ran.map((report) => withoutSecrets(report, secretsOf(target, options)));
    const all = reports.flatMap(({ findings }) => findings);
    const { fresh, known, gone } = compareWithBaseline(all, baseline);
    if (options.writeBaseline !== undefined) await writeBaseline(options.writeBaseline, all);
    const findings = options.writeBaseline === undefined ? fresh : [];
    return {
      target: targetName(target),
      era: isLocked ? undefined : era,
      revision: isLocked ? undefined : speaking.revision,
      rules: reports,
      findings: [...findings].sort((a, b) => rank(a) - rank(b)),
      known: options.writeBaseline === undefined ? known : all,
      // A rule that did not run has not found that anything is gone.
      gone: gone.filter(({ rule }) => reports.some((one) => one.rule.id === rule && one.outcome === "ran")),
    };
  } finally {
    await opened.close();
  }
}

/** What a server may have been told and must not be printed, should it say it again. */
function secretsOf(target: Target, { tokens }: AuditOptions): string[] {
  const headers = target.kind === "url" ? Object.entries(target.headers) : [];
  const given = headers.filter(([name]) => /^(authorization|cookie)$|key|token|secret/i.test(name));
  const values = given.map(([, value]) => value.replace(/^\w+ +/, ""));
  return [...tokens.values(), ...values].filter((value) => value !== "");
}

function withoutSecrets(report: RuleReport, secrets: readonly string[]): RuleReport {
  const hidden = (text: string) =>
    secrets.reduce((rest, secret) => rest.replaceAll(secret, "(a token)"), text);
  const findings = report.findings.map((finding) => ({
    ...finding,
    message: hidden(finding.message),
    evidence: hidden(finding.evidence),
  }));
  return { ...report, findings, reason: report.reason && hidden(report.reason) };
}

const rank = ({ severity }: Finding) => SEVERITIES.indexOf(severity);

export function countBy(findings: readonly Finding[]): Record<Severity, number> {
  const count = (severity: Severity) => findings.filter((one) => one.severity === severity).length;
  return { error: count("error"), warning: count("warning"), note: count("note") };
}

function checkRule(id: string, rules: readonly Rule[]): void {
  const ids = rules.map((rule) => rule.id);
  if (!ids.includes(id)) {
    throw new UsageError(
      `there is no rule ${JSON.stringify(id)}${suggestion(id, ids) || "; the README lists them"}`,
    );
  }
}
