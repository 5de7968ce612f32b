/** Latencies, every one of them: percentiles are exact. */

export interface Latencies {
  readonly count: number;
  /** All in milliseconds. */
  readonly min: number;
  readonly mean: number;
  readonly p50: number;
  readonly p75: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

export interface LatencyRecord {
  add(ms: number): void;
  /** Null where none was added. */
  summary(): Latencies | null;
}

/** Keeps eight bytes for each. */
export function recordLatencies(): LatencyRecord {
  let values = new Float64Array(4_096);
  let count = 0;
  return {
    add(ms) {
      if (count === values.length) {
        const more = new Float64Array(2 * count);
        more.set(values);
        values = more;
      }
      values[count++] = ms;
    },
    summary() {
      if (count === 0) return null;
      const sorted = values.slice(0, count).sort();
      // The least value that is not below so large a part of them all.
      const at = (part: number) => rounded(sorted[Math.max(0, Math.ceil(part * count) - 1)] as number);
      return {
        count,
        min: at(0),
        mean: rounded(sorted.reduce((sum, each) => sum + each, 0) / count),
        p50: at(0.5),
        p75: at(0.75),
        p90: at(0.9),
        p95: at(0.95),
        p99: at(0.99),
        p999: at(0.999),
        max: at(1),
      };
    },
  };
}

/** To a microsecond. */
function rounded(ms: number): number {
  return Math.round(1_000 * ms) / 1_000;
}
