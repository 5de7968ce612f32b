/** Every planted defect is found, by its rule alone; the clean twins have none; all at once all are found. */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Audit, audit } from "../../../src/engine/audit/audit.js";
import { RULES } from "../../../src/engine/audit/rules.js";
import type { Target } from "../../../src/engine/target.js";
import { bundle } from "../../build-command.js";
import { DEFECTS, type Defect, WIRE_DEFECTS } from "../../fixtures/audit/defects.js";

let directory: string;
let program: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "mica-audit-"));
  program = await bundle("./fixtures/audit/planted.ts", directory);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function withTarget<T>(
  binding: "stdio" | "http",
  words: readonly string[],
  use: (target: Target) => Promise<T>,
): Promise<T> {
  const args = [program, ...words];
  if (binding === "stdio")
    return use({ kind: "command", command: process.execPath, args, env: {}, cwd: undefined });
  const child = spawn(process.execPath, [...args, "--http"], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString("utf8").trim()));
      child.once("exit", (code) => reject(new Error(`the fixture ended with ${code}`)));
    });
    return await use({ kind: "url", url, headers: {} });
  } finally {
    child.kill("SIGKILL");
  }
}

const TOKENS = {
  valid: "valid-token",
  expired: "expired-token",
  "wrong-audience": "other-audience-token",
  "no-scope": "no-scope-token",
};

/** @param only Rules to run; all where it is absent. */
function audited(
  binding: "stdio" | "http",
  words: readonly string[],
  only: readonly string[] = [],
): Promise<Audit> {
  return withTarget(binding, words, (target) =>
    audit(target, {
      signal: AbortSignal.timeout(120_000),
      answerMs: 1_500,
      era: undefined,
      only,
      skip: [],
      allowWrites: [],
      tokens: new Map(words.includes("--protected") ? Object.entries(TOKENS) : []),
      baseline: undefined,
      writeBaseline: undefined,
      onRule: undefined,
    }),
  );
}

const switches = ({ era, weaken }: Defect) => [
  ...(era === "legacy" ? ["--legacy"] : []),
  ...(weaken ? ["--protected"] : []),
];
const bindingsOf = ({ binding, weaken }: Defect) =>
  weaken ? (["http"] as const) : binding ? [binding] : (["stdio", "http"] as const);
// What shows over both is looked at over HTTP, where it takes a tenth of the time, and over stdio all at once; the
// handshake of earlier revisions over both.
const cases = DEFECTS.flatMap((defect) =>
  bindingsOf(defect)
    .filter((binding, _, all) => binding === "http" || all.length === 1 || defect.era === "legacy")
    .map((binding) => [defect.name, binding, defect] as const),
);
const rulesOf = ({ findings }: Audit) => [...new Set(findings.map(({ rule }) => rule))].sort();

describe("each defect alone", () => {
  it.concurrent.for(cases)("%s over %s", { timeout: 120_000 }, async ([name, binding, defect]) => {
    const found = await audited(binding, [name, ...switches(defect)]);
    expect(found.rules.filter(({ outcome }) => outcome === "not_run")).toEqual([]);
    expect(rulesOf(found), JSON.stringify(found.findings, null, 2)).toEqual([...defect.finds].sort());
    for (const { evidence, fix, section, message } of found.findings) {
      expect(evidence.length * fix.length * section.length * message.length).toBeGreaterThan(0);
    }
  });
});

describe("the clean twins", () => {
  it.concurrent.for([
    ["modern", "stdio", []],
    ["modern", "http", []],
    ["legacy", "stdio", ["--legacy"]],
    ["legacy", "http", ["--legacy"]],
    ["protected", "http", ["--protected"]],
    ["with a mirrored argument", "http", ["--mirrors"]],
  ] as const)("%s over %s", { timeout: 120_000 }, async ([, binding, words]) => {
    const found = await audited(binding, words);
    expect(found.findings).toEqual([]);
    expect(found.rules.filter(({ outcome }) => outcome === "not_run")).toEqual([]);
  });
});

describe("all of the wire at once", () => {
  it.concurrent.for([
    ["modern", "stdio"],
    ["modern", "http"],
    ["legacy", "stdio"],
    ["legacy", "http"],
    ["protected", "http"],
  ] as const)("%s over %s", { timeout: 120_000 }, async ([kind, binding]) => {
    const planted = WIRE_DEFECTS.filter(
      (defect) =>
        defect.alone === undefined &&
        bindingsOf(defect).some((one) => one === binding) &&
        (kind === "legacy") === (defect.era === "legacy") &&
        (defect.weaken === undefined || kind === "protected"),
    );
    const words = kind === "modern" ? [] : [`--${kind}`];
    const found = await audited(binding, ["--all", ...words]);
    const missed = planted.filter(({ finds }) => finds.some((rule) => !rulesOf(found).includes(rule)));
    expect(missed.map(({ name, finds }) => `${name}: ${finds.join(", ")}`)).toEqual([]);
  });
});

it("every rule has a defect that it finds", () => {
  const found = new Set(DEFECTS.flatMap(({ finds }) => finds));
  expect(RULES.map(({ id }) => id).filter((id) => !found.has(id))).toEqual([]);
  expect(new Set(RULES.map(({ id }) => id)).size).toBe(RULES.length);
});
