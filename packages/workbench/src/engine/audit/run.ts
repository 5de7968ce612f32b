/** Runs the rules, each within its time, and says of every one what came of it. */
import type { Audited } from "./audited.js";
import type { Finding } from "./finding.js";
import type { Opened } from "./open.js";
import type { Rule } from "./rule.js";

/**
 * `ran`: its findings are all there are. `inapplicable`: the server has nothing that it is about. `skipped`: somebody
 * asked for it. `not_run`: it could not tell, so nothing is known.
 */
export type Outcome = "ran" | "inapplicable" | "skipped" | "not_run";

export interface RuleReport {
  readonly rule: Rule;
  readonly outcome: Outcome;
  /** Why, where it did not run. */
  readonly reason: string | undefined;
  readonly findings: readonly Finding[];
  readonly ms: number;
}

export interface RunSettings {
  readonly signal: AbortSignal;
  /** Only these rules; all where it is empty. */
  readonly only: readonly string[];
  readonly skip: readonly string[];
  /** Milliseconds for one rule. */
  readonly ruleMs: number;
  /** Milliseconds for all of them; those that it does not reach are not run. */
  readonly budgetMs: number;
  readonly onRule?: ((rule: Rule) => void) | undefined;
}

export const DEFAULT_RULE_MS = 60_000;
export const DEFAULT_BUDGET_MS = 600_000;

/** One after the other, so that none sees what another does. @throws what aborts the signal. */
export async function runRules(
  rules: readonly Rule[],
  opened: Opened,
  settings: RunSettings,
): Promise<RuleReport[]> {
  const { signal, only, skip, onRule, budgetMs } = settings;
  const reports: RuleReport[] = [];
  const deadline = performance.now() + budgetMs;
  for (const rule of rules) {
    signal.throwIfAborted();
    const wanted = (only.length === 0 || only.includes(rule.id)) && !skip.includes(rule.id);
    const why = wanted ? whyInapplicable(rule, opened.audited) : undefined;
    if (!wanted) reports.push(report(rule, "skipped", undefined));
    else if (why !== undefined) reports.push(report(rule, "inapplicable", why));
    else if (opened.audited.isLocked && !rule.unsigned)
      reports.push(report(rule, "not_run", "the server wants a token: --token valid=TOKEN, or mica login"));
    else if (performance.now() > deadline)
      reports.push(report(rule, "not_run", `the time of the audit was over (${budgetMs / 1000} s)`));
    else {
      onRule?.(rule);
      reports.push(await runOne(rule, opened, settings));
    }
  }
  return reports;
}

function report(rule: Rule, outcome: Outcome, reason: string | undefined): RuleReport {
  return { rule, outcome, reason, findings: [], ms: 0 };
}

function whyInapplicable({ applies, era }: Rule, audited: Audited): string | undefined {
  if (applies !== undefined && applies !== audited.binding) return `it is about ${applies}`;
  if (era !== undefined && !audited.isLocked && audited[era] === undefined)
    return era === "modern"
      ? "it is about revisions from 2026-07-28 on"
      : "it is about revisions that begin with initialize";
  return undefined;
}

async function runOne(rule: Rule, opened: Opened, { signal, ruleMs }: RunSettings): Promise<RuleReport> {
  const began = performance.now();
  const time = new AbortController();
  const timer = setTimeout(() => time.abort(new Error(`it took longer than ${ruleMs / 1000} s`)), ruleMs);
  const either = AbortSignal.any([signal, time.signal]);
  const { audited, end } = opened.forRule(either);
  const over = new Promise<never>((_, reject) => {
    either.addEventListener("abort", () => reject(either.reason), { once: true });
  });
  over.catch(() => {});
  const done = (outcome: Outcome, reason?: string, findings: readonly Finding[] = []): RuleReport => ({
    rule,
    outcome,
    reason,
    findings,
    ms: Math.round(performance.now() - began),
  });
  try {
    const found = await Promise.race([Promise.resolve().then(() => rule.run(audited)), over]);
    return done(
      "ran",
      undefined,
      found.map(({ message, evidence, fix, severity = rule.severity }) => ({
        rule: rule.id,
        severity,
        section: rule.section,
        message,
        evidence,
        fix,
      })),
    );
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    if (error instanceof Error && error.name === "Inapplicable") return done("inapplicable", reason);
    return done("not_run", reason);
  } finally {
    clearTimeout(timer);
    await end();
  }
}

/** Rules that could not run, by why. */
export function notRunByReason(
  reports: readonly RuleReport[],
): { reason: string; rules: readonly string[] }[] {
  const reasons = new Map<string, string[]>();
  for (const { rule, outcome, reason = "" } of reports) {
    if (outcome === "not_run") reasons.set(reason, [...(reasons.get(reason) ?? []), rule.id]);
  }
  return [...reasons].map(([reason, rules]) => ({ reason, rules }));
}
