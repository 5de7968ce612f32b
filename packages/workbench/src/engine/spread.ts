/** A few measured values, as one line of a report: the middle, and how far they lie apart. */

export interface Spread {
  readonly median: number;
  readonly min: number;
  /** A quarter of the values lie below. */
  readonly p25: number;
  /** A quarter of the values lie above. */
  readonly p75: number;
  readonly max: number;
}

/** Undefined where there are no values. */
export function spreadOf(values: readonly number[]): Spread | undefined {
  if (values.length === 0) return undefined;
  const sorted = Float64Array.from(values).sort();
  return {
    median: quantile(sorted, 0.5),
    min: quantile(sorted, 0),
    p25: quantile(sorted, 0.25),
    p75: quantile(sorted, 0.75),
    max: quantile(sorted, 1),
  };
}

/** With the values between two neighbours on the line between them; two decimals. */
function quantile(sorted: Float64Array, part: number): number {
  const at = part * (sorted.length - 1);
  const below = sorted[Math.floor(at)] as number;
  const above = sorted[Math.ceil(at)] as number;
  return Math.round(100 * (below + (above - below) * (at - Math.floor(at)))) / 100;
}
