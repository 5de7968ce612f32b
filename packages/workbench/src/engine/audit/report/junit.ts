/** An audit as JUnit XML, for continuous integration: a rule is a test. */
import type { Audit } from "../audit.js";
import type { Finding } from "../finding.js";
import type { RuleReport } from "../run.js";

/** @param strict Whether warnings fail. */
export function junitReport({ target, rules, findings }: Audit, strict: boolean): string {
  const of = ({ rule }: RuleReport) => findings.filter((finding) => finding.rule === rule.id);
  const fails = (finding: Finding) =>
    finding.severity === "error" || (strict && finding.severity === "warning");
  const count = (test: (report: RuleReport) => boolean) => rules.filter(test).length;
  const isSkipped = ({ outcome }: RuleReport) => outcome === "inapplicable" || outcome === "skipped";
  const totals = [
    `tests="${rules.length}"`,
    `failures="${count((report) => of(report).some(fails))}"`,
    `errors="${count(({ outcome }) => outcome === "not_run")}"`,
    `skipped="${count(isSkipped)}"`,
  ].join(" ");
  const time = (ms: number) => (ms / 1000).toFixed(3);
  const total = time(rules.reduce((sum, { ms }) => sum + ms, 0));
  const cases = rules.map((report) => {
    const { rule, outcome, reason, ms } = report;
    const found = of(report);
    const bad = found.filter(fails);
    const other = found.filter((finding) => !fails(finding));
    const inner = [
      ...(outcome === "not_run" ? [`      <error message="${xml(reason ?? "")}"/>`] : []),
      ...(isSkipped(report) ? [`      <skipped message="${xml(reason ?? "not asked for")}"/>`] : []),
      ...(bad.length > 0
        ? [
            `      <failure type="${rule.severity}" message="${xml(bad.map((one) => one.message).join("; "))}">${xml(bad.map(text).join("\n\n"))}</failure>`,
          ]
        : []),
      ...(other.length > 0 ? [`      <system-out>${xml(other.map(text).join("\n\n"))}</system-out>`] : []),
    ];
    const head = `    <testcase name="${xml(`${rule.id}: ${rule.title}`)}" classname="mica.audit.${rule.id}" time="${time(ms)}"`;
    return inner.length > 0 ? [`${head}>`, ...inner, "    </testcase>"].join("\n") : `${head}/>`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="mica audit" ${totals} time="${total}">`,
    `  <testsuite name="${xml(target)}" ${totals} time="${total}">`,
    ...cases,
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function text({ severity, section, message, evidence, fix }: Finding): string {
  return `${severity}: ${message}\nsection: ${section}\nseen: ${evidence}\nfix: ${fix}`;
}

/** Text for XML 1.0, which has no way at all to hold most control characters (section 2.2): those are shown. */
function xml(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is what this is for
      .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Surrogate}/gu, (character) => {
        return `\\u${(character.codePointAt(0) as number).toString(16).padStart(4, "0")}`;
      })
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      .replaceAll('"', "&quot;")
  );
}
