/** An audit for people: each finding with what was seen and what to do, then one line that sums up. */
import { type Audit, countBy } from "../audit.js";
import type { Finding, Severity } from "../finding.js";
import { notRunByReason } from "../run.js";

/** How parts are shown: made safe, coloured. */
export interface TextStyle {
  bold(text: string): string;
  dim(text: string): string;
  severity(severity: Severity, text: string): string;
  /** Text that came from a server, made safe for a terminal. */
  safe(text: string): string;
}

export interface TextOptions {
  /** Lines about rules that did not apply or were skipped. */
  readonly verbose: boolean;
}

/** Rules of one line that could not run: more are counted, unless everything is wanted. */
const MOST_NAMED = 5;

export function textReport(audit: Audit, style: TextStyle, { verbose }: TextOptions): string {
  const { target, era, revision, rules, findings, known, gone } = audit;
  const { bold, dim, safe } = style;
  const about = era === undefined ? "it lets nobody in without a token" : `${era}, ${safe(String(revision))}`;
  const lines = [`${bold(safe(target))} ${dim(`(${about})`)}`, ""];
  for (const finding of findings) lines.push(...findingLines(finding, style), "");
  const ran = rules.filter(({ outcome }) => outcome === "ran");
  const notRun = rules.filter(({ outcome }) => outcome === "not_run");
  const rest = rules.filter(({ outcome }) => outcome === "inapplicable" || outcome === "skipped");
  for (const { reason, rules: ids } of notRunByReason(rules)) {
    const which = verbose || ids.length <= MOST_NAMED ? ids.join(", ") : `${ids.length} rules`;
    lines.push(`${bold("not run")}  ${which}: ${safe(reason)}`);
  }
  if (verbose) {
    for (const { rule, outcome, reason } of rest) {
      lines.push(
        dim(
          `${outcome === "skipped" ? "skipped" : "does not apply"}  ${rule.id}${reason ? `: ${safe(reason)}` : ""}`,
        ),
      );
    }
  }
  if (notRun.length > 0 || (verbose && rest.length > 0)) lines.push("");
  for (const { rule, message } of gone) lines.push(dim(`no longer found  ${rule}: ${safe(message)}`));
  const counts = countBy(findings);
  lines.push(
    [
      bold(
        `${counted(counts.error, "error")}, ${counted(counts.warning, "warning")}, ${counted(counts.note, "note")}`,
      ),
      ...(known.length > 0 ? [`${known.length} in the baseline`] : []),
      `${counted(ran.length, "rule")} ran`,
      ...(notRun.length > 0 ? [`${notRun.length} could not run`] : []),
      ...partsOf(rest),
    ].join("; "),
  );
  return `${lines.join("\n")}\n`;
}

/** Rules that were not looked at, by why. */
function partsOf(rest: Audit["rules"]): string[] {
  const skipped = rest.filter(({ outcome }) => outcome === "skipped").length;
  const inapplicable = rest.length - skipped;
  return [
    ...(inapplicable > 0 ? [`${inapplicable} did not apply`] : []),
    ...(skipped > 0 ? [`${skipped} left out`] : []),
  ];
}

function findingLines(
  { rule, severity, section, message, evidence, fix }: Finding,
  style: TextStyle,
): string[] {
  const { bold, dim, safe } = style;
  const [first = "", ...more] = safe(evidence).split("\n");
  return [
    `${style.severity(severity, severity)}  ${bold(rule)}  ${safe(message)}`,
    `  ${dim("section")}  ${section}`,
    `  ${dim("seen")}     ${first}`,
    ...more.map((line) => `           ${line}`),
    `  ${dim("fix")}      ${safe(fix)}`,
  ];
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
