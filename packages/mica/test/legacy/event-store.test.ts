/** The store that events wait in unless another is given: what it keeps, and what it lets go. */
import { describe, expect, it } from "vitest";
import { memoryEventStore } from "../../src/legacy/event-store.js";

const event = (position: number, data = `event ${position}`) => ({ position, data });

describe("memoryEventStore", () => {
  it("gives back what came behind a position, of one stream of one session", () => {
    const store = memoryEventStore();
    for (let position = 1; position <= 3; position++) store.append("s", "a", event(position));
    store.append("s", "b", event(1, "other stream"));
    store.append("t", "a", event(1, "other session"));
    expect(store.after("s", "a", 0)).toEqual([event(1), event(2), event(3)]);
    expect(store.after("s", "a", 2)).toEqual([event(3)]);
    expect(store.after("s", "a", 3)).toEqual([]);
    expect(store.after("s", "c", 0)).toBeUndefined();
    expect(store.after("u", "a", 0)).toBeUndefined();
  });

  it.each(["__proto__", "constructor", ""])("takes %j for a name like any other", (name) => {
    const store = memoryEventStore();
    expect(store.after(name, name, 0)).toBeUndefined();
    store.append(name, name, event(1));
    expect(store.after(name, name, 0)).toEqual([event(1)]);
  });

  it("forgets the oldest of all sessions first, and never holds more than it may", () => {
    const store = memoryEventStore(10_000);
    for (let position = 1; position <= 100; position++) {
      store.append(position % 2 ? "odd" : "even", "a", event(position, "x".repeat(300)));
      expect(store.size).toBeLessThanOrEqual(10_000);
    }
    // 500 each, so twenty are left.
    const positions = (session: string) => store.after(session, "a", 0)?.map(({ position }) => position);
    expect(positions("odd")).toEqual([81, 83, 85, 87, 89, 91, 93, 95, 97, 99]);
    expect(positions("even")).toEqual([82, 84, 86, 88, 90, 92, 94, 96, 98, 100]);
  });

  it("keeps nothing that is larger than all it may hold", () => {
    const store = memoryEventStore(1_000);
    store.append("s", "a", event(1, "x".repeat(2_000)));
    expect(store.after("s", "a", 0)).toBeUndefined();
    expect(store.size).toBe(0);
  });

  it("drops a session whole, and comes back to nothing", () => {
    const store = memoryEventStore();
    store.append("s", "a", event(1));
    store.append("t", "a", event(1));
    store.append("s", "b", event(1));
    store.drop("s");
    store.drop("s");
    expect(store.after("s", "a", 0)).toBeUndefined();
    expect(store.after("t", "a", 0)).toEqual([event(1)]);
    store.drop("t");
    expect(store.size).toBe(0);
  });
});
