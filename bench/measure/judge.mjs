/** Whether rows meet their targets, and whether they are near enough not to be a step back. */
import { figure } from "./table.mjs";

/** A run on a busy machine may miss a target and still be no step back: that begins at two thirds of it. */
const NEAR = 2 / 3;

/**
 * @returns one verdict for each target that was measured, with its area: `meets` the target itself, `passes` two thirds of it
 */
export function judge(targets, rows) {
  return targets.flatMap((target) => {
    const value = measured(target, rows);
    if (value === undefined) return [];
    const { min, max } = target;
    const meets = min === undefined ? value <= max : value >= min;
    const passes = min === undefined ? value <= max / NEAR : value >= min * NEAR;
    const bound = min === undefined ? `at most ${max}` : `at least ${min}`;
    return [{ area: target.area, meets, passes, text: `${nameOf(target)}: ${figure(value)}, ${bound}` }];
  });
}

function nameOf({ area, case: name, contender = "mica", unit, of, beside, where }) {
  const other = beside ?? "the floor";
  const at = where === undefined ? "" : `, where that takes ${where}`;
  const what = { value: unit, ratio: `${unit} as a ratio to ${other}`, over: `${unit} over ${other}${at}` };
  return `${area}, ${name}, ${contender === "mica" ? "" : `${contender}, `}${what[of]}`;
}

/**
 * The figure that a target speaks of: the value itself, its ratio to another contender, or what it is over it, scaled to
 * `where` that other one takes so much.
 */
function measured({ area, case: name, contender = "mica", unit, of, beside, where }, rows) {
  const find = (who) =>
    rows.find((row) => row.area === area && row.case === name && row.unit === unit && who(row));
  const own = find((row) => row.contender === contender);
  if (own === undefined) return undefined;
  if (of === "value") return own.value;
  if (of === "ratio" && beside === undefined) return own.ratio ?? undefined;
  // The floor is the first of its case.
  const other = find((row) => beside === undefined || row.contender === beside);
  if (other === undefined) return undefined;
  if (of === "ratio") return own.value / other.value;
  const over = own.value - other.value;
  return where === undefined ? over : (over / other.value) * where;
}

export function printVerdicts(verdicts) {
  if (verdicts.length === 0) return;
  process.stdout.write("\nTargets (bench/targets.mjs)\n");
  for (const { meets, passes, text } of verdicts) {
    process.stdout.write(`${meets ? "met     " : passes ? "near    " : "missed  "}${text}\n`);
  }
}
