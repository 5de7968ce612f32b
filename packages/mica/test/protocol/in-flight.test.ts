import { describe, expect, it } from "vitest";
import { InFlightMap, InFlightSet } from "../../src/protocol/in-flight.js";

describe("InFlightSet", () => {
  it("gives slots again, and takes out no other item that has one since", () => {
    const all = new InFlightSet<{ name: string }>();
    const [a, b, c] = [{ name: "a" }, { name: "b" }, { name: "c" }];
    const slot = all.add(a);
    all.add(b);
    all.delete(slot, a);
    expect(all.add(c)).toBe(slot);
    all.delete(slot, a);
    expect([...all]).toEqual([c, b]);
    expect(all.size).toBe(2);
  });

  it("visits what was there at the start, whatever comes and goes meanwhile", () => {
    const all = new InFlightSet<{ slot: number }>();
    const items = Array.from({ length: 5 }, () => ({ slot: -1 }));
    for (const item of items) item.slot = all.add(item);
    const seen = [];
    for (const item of all) {
      seen.push(item);
      all.delete(item.slot, item);
      all.add({ slot: -1 });
    }
    expect(seen).toEqual(items);
    expect(all.size).toBe(5);
  });
});

describe("InFlightMap", () => {
  it('tells 1 from "1", and holds what is falsy as an id', () => {
    const all = new InFlightMap<unknown, { n: number }>();
    for (const [n, id] of [1, "1", 0, "", "__proto__"].entries()) all.add(id, { n });
    expect([1, "1", 0, "", "__proto__", 2, "constructor"].map((id) => all.get(id)?.n)).toEqual([
      0,
      1,
      2,
      3,
      4,
      undefined,
      undefined,
    ]);
    expect(all.size).toBe(5);
    all.delete("1");
    all.delete("1");
    expect([all.has(1), all.has("1"), all.size]).toEqual([true, false, 4]);
    expect([...all].map(({ n }) => n)).toEqual([0, 2, 3, 4]);
  });

  it("refuses an id that is taken", () => {
    const all = new InFlightMap<unknown, object>();
    all.add("a", {});
    expect(() => all.add("a", {})).toThrow(new TypeError('id "a" is in flight already'));
  });
});
