/**
 * Measures Mica beside the floor (the same work by hand) and other SDKs: all contenders of an area in one run,
 * taking turns, medians with spread, each as a ratio to the floor.
 *
 *   npm run bench -- [--only AREA] [--quick] [--json]
 *
 * Absolute figures drift with the machine; the ratios within a run are what counts.
 */
import { parseArgs } from "node:util";
import { printTable } from "./table.mjs";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    quick: { type: "boolean" },
    json: { type: "boolean" },
    help: { type: "boolean" },
  },
});
const areas = {
  "cold-start": () => import("./areas/cold-start.mjs"),
  http: () => import("./areas/http.mjs"),
  state: () => import("./areas/state.mjs"),
};

if (values.help) {
  console.log(`npm run bench -- [--only ${Object.keys(areas).join("|")}] [--quick] [--json]`);
  process.exit(0);
}
if (values.only !== undefined && areas[values.only] === undefined) {
  console.error(
    `bench: unknown area ${JSON.stringify(values.only)}; expected ${Object.keys(areas).join(", ")}`,
  );
  process.exit(2);
}

// Where it is set, it adds some 40 ms to every start of Node 20, whoever is measured.
delete process.env.NODE_EXTRA_CA_CERTS;

const rows = [];
for (const [name, load] of Object.entries(areas)) {
  if (values.only !== undefined && values.only !== name) continue;
  const { title, run } = await load();
  const found = await run({ quick: values.quick ?? false });
  rows.push(...found.map((row) => ({ area: name, ...row })));
  if (!values.json) printTable(title, found);
}
if (values.json) console.log(JSON.stringify(rows, null, 2));
