/** Percentiles, exact. */
import { describe, expect, it } from "vitest";
import { recordLatencies } from "../../../src/engine/load/latencies.js";

describe("percentiles", () => {
  it("are the values that so large a part does not exceed", () => {
    const record = recordLatencies();
    for (let ms = 10_000; ms >= 1; ms--) record.add(ms);
    expect(record.summary()).toEqual({
      count: 10_000,
      min: 1,
      mean: 5_000.5,
      p50: 5_000,
      p75: 7_500,
      p90: 9_000,
      p95: 9_500,
      p99: 9_900,
      p999: 9_990,
      max: 10_000,
    });
  });

  it("of one value are that value, and of none there are none", () => {
    const record = recordLatencies();
    expect(record.summary()).toBe(null);
    record.add(1.2345);
    expect(record.summary()).toMatchObject({ count: 1, min: 1.235, p50: 1.235, p999: 1.235, max: 1.235 });
  });
});
