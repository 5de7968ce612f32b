/**
 * `npm run conformance`: the official suite against a server and a client made with Mica, for both revisions, scored
 * and unscored scenarios alike. One line per scenario; the last line has the counts.
 *
 * `--json` prints one document with every check instead. `--only TEXT` runs scenarios with TEXT in
 * "LEG REVISION NAME". `--jobs N` runs so many at a time, each beside a server of its own; default 2.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join, relative } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { node24 } from "../scripts/node24.mjs";
import { NOTES, SKIPPED_BY_SUITE } from "./apart.mjs";
import { judge } from "./judge.mjs";
import { installSuite, listRequirements, listScenarios, runScenario, VERSION } from "./suite.mjs";

const REVISIONS = ["2026-07-28", "2025-11-25"];
const EXTENSION = "extension";
const OUTCOMES = ["passed", "failed", "not run"];

const { values: options } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    jobs: { type: "string", default: "2" },
  },
});
const jobs = Number(options.jobs);
if (!Number.isSafeInteger(jobs) || jobs < 1)
  throw new Error(`--jobs: expected a number from 1, got ${options.jobs}`);
const print = options.json ? () => {} : (line) => console.log(line);

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const node = node24();
installSuite();

const { legs, elsewhere } = planned();
const results = [];
print(`@modelcontextprotocol/conformance ${VERSION}`);
for (const { leg, revision, scenarios } of legs) {
  await runAll(leg, scenarios);
  if (scenarios.length > 0) print(`${leg} ${revision}: ${counts(leg, revision)}\n`);
}
conclude();

/** Runs scenarios, some at a time, and reports them in their order. */
async function runAll(leg, scenarios) {
  const outcomes = scenarios.map(() => undefined);
  let next = 0;
  let reported = 0;
  async function lane() {
    const served = leg === "server" ? await serve() : undefined;
    // The suite takes a command apart at its spaces, so paths are given from the root.
    const target = served
      ? ["--url", served.url]
      : ["--command", [relative(root, node), join("conformance", "everything-client.mjs")].join(" ")];
    while (next < scenarios.length) {
      const at = next++;
      outcomes[at] = { ...scenarios[at], ...(await outcomeOf(scenarios[at], target)) };
      for (; reported < scenarios.length && outcomes[reported] !== undefined; reported++) {
        results.push(outcomes[reported]);
        report(outcomes[reported]);
      }
    }
    await served?.close();
  }
  await Promise.all(Array.from({ length: Math.min(jobs, scenarios.length) }, lane));
}

/** Which scenarios are run, by leg and revision; and which are of no leg. */
function planned() {
  const all = listScenarios(node);
  const elsewhere = new Set(all.map(({ leg, name }) => `${leg} ${name}`));
  const requirements = REVISIONS.map((revision) => ({ revision, ...listRequirements(node, revision) }));
  const required = (key) => requirements.some(({ scored, unscored }) => scored.has(key) || unscored.has(key));
  const legs = requirements.flatMap(({ revision, scored, unscored }) =>
    ["server", "client"].map((leg) => {
      const scenarios = all.filter(({ leg: of, name, revisions }) => {
        const key = `${of} ${name}`;
        if (of !== leg) return false;
        if (scored.has(key) || unscored.has(key) || revisions.includes(revision)) return true;
        // Extensions are of no revision; those that no requirements name run at the current one.
        return revisions.includes(EXTENSION) && revision === REVISIONS[0] && !required(key);
      });
      for (const { name } of scenarios) elsewhere.delete(`${leg} ${name}`);
      return {
        leg,
        revision,
        scenarios: scenarios
          .map(({ name }) => ({ leg, revision, name, scored: scored.has(`${leg} ${name}`) }))
          .filter(({ name }) => `${leg} ${revision} ${name}`.includes(options.only)),
      };
    }),
  );
  return { legs, elsewhere: all.filter(({ leg, name }) => elsewhere.has(`${leg} ${name}`)) };
}

async function outcomeOf(scenario, target) {
  const run = await runScenario(node, scenario, target);
  return { ...judge(run, SKIPPED_BY_SUITE.has(scenario.name)), checks: run.checks };
}

/** Starts the server on the same Node as the suite. */
async function serve() {
  const child = spawn(node, [join(root, "conformance", "everything-server.mjs")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const [url] = await Promise.race([
    once(createInterface(child.stdout), "line"),
    exited.then(([code]) => {
      throw new Error(`The server ended with ${code} before it listened`);
    }),
  ]);
  return {
    url,
    async close() {
      child.stdin.end();
      await exited;
    },
  };
}

function report({ leg, revision, name, scored, outcome, why, warnings, succeeded }) {
  const marks = [`${leg} ${revision}`, scored ? "scored" : "unscored", outcome, name];
  const widths = [17, 8, 9, 0];
  const checked = succeeded > 0 ? ` (${succeeded} ${succeeded === 1 ? "check" : "checks"})` : "";
  print(marks.map((mark, index) => mark.padEnd(widths[index])).join("  ") + checked);
  if (outcome === "failed") for (const line of why) print(`    ${line}`);
  if (outcome === "passed") for (const warning of warnings) print(`    warning, ${warning}`);
}

function counts(leg, revision) {
  const of = results.filter((result) => result.leg === leg && result.revision === revision);
  return OUTCOMES.map((outcome) => [of.filter((result) => result.outcome === outcome).length, outcome])
    .filter(([count], index) => count > 0 || index < 2)
    .map((pair) => pair.join(" "))
    .join(", ");
}

/** What is not among the counts stands apart, with its reason. */
function listApart(heading, outcome) {
  const listed = results.filter((result) => result.outcome === outcome);
  if (listed.length === 0) return;
  print(`${heading}: ${listed.length}`);
  for (const { leg, revision, name, why } of listed)
    print(`    ${leg} ${revision} ${name}: ${why.join("; ")}`);
}

function listNotes() {
  const warned = results.flatMap(({ warnings }) => warnings.map((warning) => warning.split(":", 1)[0]));
  for (const id of new Set(warned)) if (NOTES[id] !== undefined) print(`note on ${id}: ${NOTES[id]}`);
}

function conclude() {
  const count = (outcome) => results.filter((result) => result.outcome === outcome).length;
  const summary = `conformance: ${count("passed")} passed, ${count("failed")} failed`;
  if (options.json) {
    const notRun = count("not run");
    console.log(JSON.stringify({ suite: VERSION, summary, notRun, results, elsewhere }, undefined, 2));
  } else {
    listNotes();
    listApart("not run by the suite itself", "not run");
    const others = elsewhere.map(({ leg, name, revisions }) => `${leg} ${name} (${revisions.join(", ")})`);
    print(`of other legs or revisions, not run here: ${others.join("; ")}`);
    print(summary);
  }
  process.exitCode = count("failed") > 0 ? 1 : 0;
}
