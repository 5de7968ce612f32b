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
  return (at(0.75) - at(0.25)) / 2 / median(values);
}

export function printTable(title, rows) {
  const header = ["case", "contender", "value", "±", "unit", "to the floor"];
  const lines = rows.map((row) => [
    row.case,
    row.contender,
    format(row.value),
    row.spread === undefined ? "" : `${(row.spread * 100).toFixed(0)} %`,
    row.unit,
    row.ratio === undefined ? "" : row.ratio,
  ]);
  const widths = header.map((name, column) =>
    Math.max(name.length, ...lines.map((line) => String(line[column]).length)),
  );
  console.log(`\n${title}`);
  for (const line of [header, ...lines]) {
    console.log(
      line
        .map((cell, column) =>
          column === 2 ? String(cell).padStart(widths[2]) : String(cell).padEnd(widths[column]),
        )
        .join("  ")
        .trimEnd(),
    );
  }
}

function format(value) {
  return value >= 1000 ? Math.round(value).toLocaleString("en-US") : value.toFixed(1);
}
