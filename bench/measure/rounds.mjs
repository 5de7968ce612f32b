/** Contenders taking turns, and what becomes of their samples: medians, spreads, ratios to the floor. */
import { median, spread } from "./table.mjs";

/**
 * Runs every contender once per round, after one round that is thrown away. A contender that fails is left out with
 * a line on stderr, unless it is the floor or `required`.
 *
 * @param {Array<{ name: string, required?: boolean }>} contenders the first is the floor
 * @param {(contender: object) => Promise<Record<string, number | undefined>>} sample figures by unit
 * @returns {Promise<Map<string, Record<string, number>[]>>} samples by contender
 */
export async function takeTurns(contenders, rounds, sample, { warmUp = true } = {}) {
  const samples = new Map(contenders.map(({ name }) => [name, []]));
  for (let round = warmUp ? -1 : 0; round < rounds; round++) {
    // Each round in the opposite order: whoever comes first meets what the last one left behind.
    const order = round % 2 === 0 ? contenders : [...contenders].reverse();
    for (const each of order) {
      const found = samples.get(each.name);
      if (found === undefined) continue;
      try {
        const figures = await sample(each);
        if (round >= 0) found.push(figures);
      } catch (error) {
        if (each === contenders[0] || each.required) throw error;
        process.stderr.write(`bench: ${each.name} is left out: ${error.message}\n`);
        samples.delete(each.name);
      }
    }
  }
  return samples;
}

/** One row per contender and unit, each with its ratio to the first contender. */
export function rowsOf(name, samples) {
  const [floor] = samples.values();
  const rows = [];
  for (const [contender, found] of samples) {
    for (const unit of Object.keys(found[0] ?? {})) {
      const values = found.map((figures) => figures[unit]).filter((value) => value !== undefined);
      const base = floor.map((figures) => figures[unit]).filter((value) => value !== undefined);
      if (values.length === 0) continue;
      const value = median(values);
      rows.push({
        case: name,
        contender,
        value,
        unit,
        ratio: base.length === 0 ? null : value / median(base),
        spread: values.length > 1 ? spread(values) : 0,
      });
    }
  }
  return rows;
}
