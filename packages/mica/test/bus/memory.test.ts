/** The bus of one process: who hears what, and until when. */
import { describe, expect, it } from "vitest";
import type { ChangeEvent } from "../../src/bus/bus.js";
import { memoryBus } from "../../src/bus/memory.js";

describe("memoryBus", () => {
  it("hands every event to every listener, in the order they came", () => {
    const bus = memoryBus();
    const heard: string[] = [];
    bus.subscribe((event) => heard.push(`a ${event.kind}`));
    bus.subscribe((event) => heard.push(`b ${event.kind}`));
    bus.publish({ kind: "tools" });
    bus.publish({ kind: "resource", uri: "x:a" });
    expect(heard).toEqual(["a tools", "b tools", "a resource", "b resource"]);
  });

  it("stops when told to, once for each subscription", () => {
    const bus = memoryBus();
    const heard: ChangeEvent[] = [];
    const listener = (event: ChangeEvent) => heard.push(event);
    const first = bus.subscribe(listener);
    const second = bus.subscribe(listener);
    bus.publish({ kind: "tools" });
    first();
    first();
    bus.publish({ kind: "prompts" });
    second();
    bus.publish({ kind: "resources" });
    expect(heard.map(({ kind }) => kind)).toEqual(["tools", "tools", "prompts"]);
  });

  it("copes with listeners that come and go while it speaks", () => {
    const bus = memoryBus();
    const heard: string[] = [];
    const leave = bus.subscribe(() => {
      heard.push("first");
      leave();
      bus.subscribe(() => heard.push("late"));
    });
    bus.subscribe(() => heard.push("second"));
    bus.publish({ kind: "tools" });
    expect(heard).toEqual(["first", "second"]);
    bus.publish({ kind: "tools" });
    expect(heard).toEqual(["first", "second", "second", "late"]);
  });

  it("keeps buses apart", () => {
    const heard: string[] = [];
    memoryBus().subscribe(() => heard.push("other"));
    memoryBus().publish({ kind: "tools" });
    expect(heard).toEqual([]);
  });
});
