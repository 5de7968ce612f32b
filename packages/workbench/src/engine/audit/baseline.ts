/** A baseline: findings that are known and accepted, so that only new ones fail. */
import { readFile, writeFile } from "node:fs/promises";
import { isObject, readJson } from "../json.js";
import { UsageError } from "../usage-error.js";
import type { Finding } from "./finding.js";

/** What makes a finding the same in the next run: the rule, and the message. */
export interface KnownFinding {
  readonly rule: string;
  readonly message: string;
}

const VERSION = 1;

/** @throws UsageError where it cannot be read, or is no baseline. */
export async function readBaseline(path: string): Promise<KnownFinding[]> {
  const text = await readFile(path, "utf8").catch((error: Error) => {
    throw new UsageError(`--baseline: cannot read ${path}: ${error.message}`);
  });
  const value = readJson(text)?.value;
  const findings = isObject(value) && value["baseline"] === VERSION ? value["findings"] : undefined;
  if (!Array.isArray(findings) || !findings.every(isKnown)) {
    throw new UsageError(
      `--baseline: ${path} is no baseline; expected { "baseline": ${VERSION}, "findings": [{ "rule", "message" }] }, as --write-baseline writes it`,
    );
  }
  return findings;
}

/** @throws UsageError where it cannot be written. */
export async function writeBaseline(path: string, findings: readonly Finding[]): Promise<void> {
  const known = findings.map(({ rule, message }) => ({ rule, message }));
  const text = `${JSON.stringify({ baseline: VERSION, findings: known }, null, 2)}\n`;
  await writeFile(path, text).catch((error: Error) => {
    throw new UsageError(`--write-baseline: cannot write ${path}: ${error.message}`);
  });
}

/** Parts findings into those that are new, those that are known, and what is known and was not found any more. */
export function compareWithBaseline(
  findings: readonly Finding[],
  baseline: readonly KnownFinding[],
): { fresh: Finding[]; known: Finding[]; gone: KnownFinding[] } {
  const keys = new Set(baseline.map(keyOf));
  const found = new Set(findings.map(keyOf));
  return {
    fresh: findings.filter((finding) => !keys.has(keyOf(finding))),
    known: findings.filter((finding) => keys.has(keyOf(finding))),
    gone: baseline.filter((known) => !found.has(keyOf(known))),
  };
}

function keyOf({ rule, message }: KnownFinding): string {
  return `${rule}\0${message}`;
}

function isKnown(value: unknown): value is KnownFinding {
  return isObject(value) && typeof value["rule"] === "string" && typeof value["message"] === "string";
}
