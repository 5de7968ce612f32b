/**
 * Measures Mica beside the floor (the same work by hand) and other SDKs: all contenders of an area in one run,
 * taking turns, medians with spread, each as a ratio to the floor.
 *
 *   npm run bench -- [--only AREA[,AREA]] [--quick] [--check] [--json]
 *
 * Absolute figures drift with the machine; the ratios within a run are what counts.
 */
import { loadavg } from "node:os";
import { parseArgs } from "node:util";

const AREAS = [
  "cold-start",
  "command-start",
  "http",
  "stdio",
  "memory",
  "client",
  "state",
  "catalogue",
  "install",
  "growth",
  "types",
];
const USAGE = `npm run bench -- [options]

  --only AREA[,AREA]  ${AREAS.join(", ")}
  --quick             fewer contenders, cases and rounds: under three minutes
  --check             fail where Mica is below two thirds of a target
  --json              rows of area, case, contender, value, unit, ratio to the floor, spread
`;

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    quick: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const only = values.only?.split(",");
const unknown = only?.find((name) => !AREAS.includes(name));
if (unknown !== undefined) {
  process.stderr.write(`bench: unknown area ${JSON.stringify(unknown)}; expected ${AREAS.join(", ")}\n`);
  process.exit(2);
}

// Where it is set, it adds some 40 ms to every start of Node 20, whoever is measured.
delete process.env.NODE_EXTRA_CA_CERTS;

const { cores, pinned } = await import("./measure/processes.mjs");
const { printTable } = await import("./measure/table.mjs");
const { judge, printVerdicts } = await import("./measure/judge.mjs");
const { TARGETS } = await import("./targets.mjs");

const quick = values.quick;
if (!quick) (await import("./measure/peers.mjs")).installPeers();

const current = {
  name: `Node ${process.versions.node.split(".")[0]}`,
  binary: process.execPath,
  isCurrent: true,
};
const nodes = [current];
if (!quick && current.name !== "Node 24") {
  const { node24 } = await import("../scripts/node24.mjs");
  nodes.push({ name: "Node 24", binary: node24(), isCurrent: false });
}

const say = values.json ? () => {} : (line) => process.stdout.write(`${line}\n`);
say(`Node ${process.versions.node}, ${cores} cores, load ${loadavg()[0].toFixed(1)} before the run`);
say(pinned ? "Servers and load have a core each." : "Servers and load share the cores.");

const rows = [];
for (const area of AREAS) if (only === undefined || only.includes(area)) rows.push(...(await measure(area)));

let verdicts = judge(TARGETS, rows);
if (values.json) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
else printVerdicts(verdicts);
if (values.check) {
  // A busy machine spoils a run; a step back spoils every run.
  const again = new Set(verdicts.filter(({ passes }) => !passes).map(({ area }) => area));
  for (const area of again) {
    process.stderr.write(`[bench] ${area} was below two thirds of a target, and is measured once more.\n`);
    const kept = verdicts.filter((verdict) => verdict.area !== area);
    verdicts = [...kept, ...judge(TARGETS, await measure(area))];
  }
  const failed = verdicts.filter(({ passes }) => !passes);
  for (const { text } of failed) process.stderr.write(`bench: below two thirds of its target: ${text}\n`);
  process.exit(failed.length > 0 ? 1 : 0);
}
process.exit(0);

async function measure(area) {
  const { title, run } = await import(`./areas/${area}.mjs`);
  const began = performance.now();
  const found = (await run({ quick, nodes })).map((row) => ({ area, ...row }));
  if (!values.json) printTable(`${title} (npm run bench -- --only ${area})`, found);
  process.stderr.write(`[bench] ${area}: ${((performance.now() - began) / 1000).toFixed(0)} s\n`);
  return found;
}
