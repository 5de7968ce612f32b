/** An audit as SARIF 2.1.0, for whatever shows the results of static analysis. */
import { createHash } from "node:crypto";
import { VERSION } from "../../../version.js";
import type { Audit } from "../audit.js";
import type { Finding, Severity } from "../finding.js";

const LEVELS: Readonly<Record<Severity, string>> = { error: "error", warning: "warning", note: "note" };

export function sarifReport({ target, rules, findings, known }: Audit): object {
  const result = (finding: Finding, isKnown: boolean) => ({
    ruleId: finding.rule,
    ruleIndex: rules.findIndex(({ rule }) => rule.id === finding.rule),
    level: LEVELS[finding.severity],
    message: { text: `${finding.message}\nSeen: ${finding.evidence}\nFix: ${finding.fix}` },
    // There is no file: what is audited is a running server.
    locations: [{ logicalLocations: [{ fullyQualifiedName: target, kind: "module" }] }],
    partialFingerprints: { "micaFinding/v1": fingerprint(finding) },
    properties: { section: finding.section, evidence: finding.evidence, fix: finding.fix },
    ...(isKnown && { suppressions: [{ kind: "external", justification: "in the baseline" }] }),
  });
  const notRun = rules.filter(({ outcome }) => outcome === "not_run");
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "mica audit",
            version: VERSION,
            rules: rules.map(({ rule }) => ({
              id: rule.id,
              shortDescription: { text: rule.title },
              defaultConfiguration: { level: LEVELS[rule.severity] },
              properties: { section: rule.section },
            })),
          },
        },
        invocations: [
          {
            executionSuccessful: notRun.length === 0,
            toolExecutionNotifications: notRun.map(({ rule, reason }) => ({
              level: "error",
              message: { text: `${rule.id} could not run: ${reason}` },
              associatedRule: { id: rule.id, index: rules.findIndex((one) => one.rule === rule) },
            })),
          },
        ],
        results: [
          ...findings.map((finding) => result(finding, false)),
          ...known.map((finding) => result(finding, true)),
        ],
      },
    ],
  };
}

function fingerprint({ rule, message }: Finding): string {
  return createHash("sha256").update(`${rule}\0${message}`).digest("hex").slice(0, 32);
}
