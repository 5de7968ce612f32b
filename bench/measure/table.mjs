/** Medians, spreads and the table that people read. */

/** @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Half the distance between the quartiles, as a share of the median. */
export function spread(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  const middle = median(values);
  return middle === 0 ? 0 : (at(0.75) - at(0.25)) / 2 / Math.abs(middle);
}

/** The value at a share of sorted values: `0.99` for the 99th percentile. */
export function percentile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

/** One line for each case and contender; its units side by side, each with its ratio to the floor. */
export function printTable(title, rows) {
  const units = [...new Set(rows.map(({ unit }) => unit))];
  const header = ["case", "contender", ...units.flatMap((unit) => [unit, "±", "ratio"])];
  const lines = new Map();
  for (const row of rows) {
    const key = `${row.case}\n${row.contender}`;
    const line = lines.get(key) ?? [row.case, row.contender, ...units.flatMap(() => ["", "", ""])];
    const at = 2 + 3 * units.indexOf(row.unit);
    line[at] = figure(row.value);
    line[at + 1] = row.spread ? `${(row.spread * 100).toFixed(0)} %` : "";
    line[at + 2] = row.ratio === null ? "" : row.ratio.toFixed(2);
    lines.set(key, line);
  }
  const all = [header, ...lines.values()];
  const widths = header.map((_, column) => Math.max(...all.map((line) => line[column].length)));
  process.stdout.write(`\n${title}\n`);
  let last;
  for (const line of all) {
    const [name, ...cells] = line;
    const first = name === last ? "" : name;
    last = name;
    const padded = cells.map((cell, at) =>
      at === 0 ? cell.padEnd(widths[1]) : cell.padStart(widths[at + 1]),
    );
    process.stdout.write(`${[first.padEnd(widths[0]), ...padded].join("  ").trimEnd()}\n`);
  }
}

export function figure(value) {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en-US");
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return value.toFixed(Math.abs(value) >= 10 || value === 0 ? 1 : 2);
}
