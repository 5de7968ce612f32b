/** State that is sealed as it should be is accepted from its own request alone, and the audit finds nothing. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { audit } from "../../../../src/engine/audit/audit.js";
import { bundle } from "../../../build-command.js";

let directory: string;
let program: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "mica-audit-"));
  program = await bundle("./fixtures/asking-stdio.ts", directory);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const RULES = ["request-state-forged", "request-state-replayed"];

async function auditState(allowWrites: readonly string[]) {
  const target = {
    kind: "command",
    command: process.execPath,
    args: [program],
    env: {},
    cwd: undefined,
  } as const;
  const { rules, findings } = await audit(target, {
    signal: AbortSignal.timeout(60_000),
    answerMs: 5_000,
    era: undefined,
    only: RULES,
    skip: [],
    allowWrites,
    tokens: new Map(),
    baseline: undefined,
    writeBaseline: undefined,
    onRule: undefined,
  });
  return {
    findings,
    outcomes: rules.filter(({ rule }) => RULES.includes(rule.id)).map(({ outcome }) => outcome),
  };
}

it("nothing is found in tools of several rounds, with and without arguments", async () => {
  const { findings, outcomes } = await auditState(["book", "event", "two", "page", "where"]);
  expect(findings).toEqual([]);
  expect(outcomes).toEqual(["ran", "ran"]);
});

it("no tool is called that is neither read-only nor allowed", async () => {
  expect((await auditState([])).outcomes).toEqual(["inapplicable", "inapplicable"]);
});
