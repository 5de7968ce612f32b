/** One stream by itself: what is written where, and what waits. */
import { describe, expect, it } from "vitest";
import type { Outlet } from "../../src/http/exchange.js";
import { memoryEventStore } from "../../src/legacy/event-store.js";
import { createEventStream, eventId, readEventId } from "../../src/legacy/event-stream.js";

interface Connection extends Outlet {
  readonly data: string[];
  ended: boolean;
  /** Set to make the reader fall behind. */
  behind: Promise<void> | undefined;
}

function connection(): Connection {
  const made: Connection = {
    data: [],
    ended: false,
    behind: undefined,
    document: () => {},
    answer: () => {},
    open: () => {},
    ready: () => made.behind,
    event(text) {
      const found = /^data: (.+)$/m.exec(text);
      if (found) made.data.push(found[1]!);
    },
    end() {
      made.ended = true;
    },
  };
  return made;
}

function stream(options: { coalesces?: boolean } = {}) {
  const over: string[] = [];
  const made = createEventStream({
    id: "s",
    session: "session",
    store: memoryEventStore(),
    primed: false,
    ...options,
    onOver: () => void over.push("over"),
    onProblem: (text) => {
      throw new Error(text);
    },
  });
  return { ...made, made, over };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("an event stream", () => {
  it("keeps for the next connection what no connection has had", async () => {
    const { made } = stream();
    made.send("1");
    const first = connection();
    made.connect(first);
    await settle();
    made.send("2");
    made.disconnect(first);
    made.send("3");
    const second = connection();
    made.connect(second);
    await settle();
    expect([first.data, second.data]).toEqual([["1", "2"], ["3"]]);
  });

  it("says once what would be said twice to nobody, and again to whoever came and went", async () => {
    const { made } = stream({ coalesces: true });
    for (const data of ["a", "b", "a", "a"]) made.send(data);
    const first = connection();
    made.connect(first);
    await settle();
    expect(first.data).toEqual(["a", "b"]);
    made.send("a");
    made.send("a");
    expect(first.data).toEqual(["a", "b", "a", "a"]);
    made.disconnect(first);
    made.send("a");
    made.send("a");
    const second = connection();
    made.connect(second);
    await settle();
    expect(second.data).toEqual(["a"]);
  });

  it("waits for a reader that falls behind, and keeps the order", async () => {
    const { made, over } = stream();
    const reader = connection();
    made.connect(reader);
    made.send("1");
    let catchUp = (): void => {};
    reader.behind = new Promise((resolve) => {
      catchUp = resolve;
    });
    for (const data of ["2", "3", "4"]) made.send(data);
    made.end();
    await settle();
    expect(reader.data).toEqual(["1"]);
    expect(reader.ended).toBe(false);
    reader.behind = undefined;
    catchUp();
    await settle();
    expect(reader.data).toEqual(["1", "2", "3", "4"]);
    expect(reader.ended).toBe(true);
    expect(over).toEqual(["over"]);
  });

  it("stops writing to a reader that another has replaced", async () => {
    const { made } = stream();
    const [first, second] = [connection(), connection()];
    made.connect(first);
    let catchUp = (): void => {};
    first.behind = new Promise((resolve) => {
      catchUp = resolve;
    });
    made.send("1");
    made.send("2");
    await settle();
    made.connect(second);
    expect(first.ended).toBe(true);
    catchUp();
    await settle();
    expect([first.data, second.data]).toEqual([[], ["1", "2"]]);
    made.disconnect(first);
    made.send("3");
    expect(second.data).toEqual(["1", "2", "3"]);
  });

  it("takes nothing after its end", async () => {
    const { made, over } = stream();
    const reader = connection();
    made.connect(reader);
    made.end();
    made.end();
    made.send("late");
    await settle();
    expect(reader).toMatchObject({ data: [], ended: true });
    expect(over).toEqual(["over"]);
  });
});

it.each(["", "s", "s-", "-1", "s-01", "s-1.0", "S-1", "s-1-1", " s-1", "s-9999999999999999"])(
  "the id %j is none of an event",
  (id) => expect(readEventId(id)).toBeUndefined(),
);

it("an event's id says where it stands", () => {
  expect(readEventId(eventId("1z", 0))).toEqual({ stream: "1z", position: 0 });
  expect(readEventId(eventId("a", 123))).toEqual({ stream: "a", position: 123 });
});
