/** Subscriptions: who is told of which week, whichever process wrote, and that nothing runs for nobody. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, connect, type Subscription } from "mica-mcp/client";
import { memoryTransport } from "mica-mcp/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { calendarBus } from "../src/changes.js";
import { createCalendar } from "../src/server.js";
import { type EventStore, openStore } from "../src/store.js";

let folder: string;
let mine: EventStore;
let theirs: EventStore;
let now: number;
let client: Client;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "calendar-"));
  mine = openStore(join(folder, "calendar.sqlite"));
  theirs = openStore(join(folder, "calendar.sqlite"));
  now = Date.parse("2026-09-07T10:00:00Z");
  const server = createCalendar({ store: mine, version: "1.0.0", now: () => now, pollMs: 5 });
  client = await connect({ transport: memoryTransport(server) }, { name: "test", version: "1.0.0" });
});
afterEach(async () => {
  await client.close();
  mine.close();
  theirs.close();
  rmSync(folder, { recursive: true, force: true });
});

async function listen(...uris: string[]): Promise<Subscription> {
  const subscription = client.listen({ resourceSubscriptions: uris });
  expect(await subscription.acknowledged).toEqual({ resourceSubscriptions: uris });
  return subscription;
}

/** The next URIs that a subscription is told of. */
async function take(subscription: Subscription, count: number): Promise<string[]> {
  const uris: string[] = [];
  while (uris.length < count) {
    const { value } = await subscription.next();
    if (value?.type === "resourceUpdated") uris.push(value.uri);
  }
  return uris;
}

const create = (title: string, startsAt: string) => client.callTool("create_event", { title, startsAt });

describe("a subscriber", () => {
  it("is told of an event of this process by every URI of its week, this week's too", async () => {
    const uris = ["calendar://week", "calendar://week/2026-09-07", "calendar://week/2026-09-13"];
    const subscription = await listen(...uris, "calendar://week/2026-09-14");
    await create("Dentist", "2026-09-10T08:30:00Z");
    expect((await take(subscription, 3)).sort()).toEqual(uris);
    await create("Next week", "2026-09-20T08:30:00Z");
    expect(await take(subscription, 1)).toEqual(["calendar://week/2026-09-14"]);
    await subscription.close();
  });

  it("is told of what another process adds", async () => {
    const subscription = await listen("calendar://week", "calendar://week/2026-12-24");
    theirs.insert({ title: "Dinner", startsAt: "2026-12-24T18:00:00Z" });
    expect(await take(subscription, 1)).toEqual(["calendar://week/2026-12-24"]);
    theirs.insert({ title: "Dentist", startsAt: "2026-09-10T08:30:00Z" });
    expect(await take(subscription, 1)).toEqual(["calendar://week"]);
    await subscription.close();
  });

  it("misses nothing where both write", async () => {
    const subscription = await listen("calendar://week/2026-10-05", "calendar://week/2026-11-02");
    theirs.insert({ title: "Theirs", startsAt: "2026-10-05T08:30:00Z" });
    await create("Mine", "2026-11-02T08:30:00Z");
    expect((await take(subscription, 2)).sort()).toEqual([
      "calendar://week/2026-10-05",
      "calendar://week/2026-11-02",
    ]);
    await subscription.close();
  });

  it("is told when another week begins", async () => {
    const subscription = await listen("calendar://week");
    now = Date.parse("2026-09-14T00:00:00Z");
    expect(await take(subscription, 1)).toEqual(["calendar://week"]);
    await subscription.close();
  });

  it("has an event once, however often the last round arrives", async () => {
    const published: string[] = [];
    const bus = calendarBus(mine, { now: () => now });
    bus.subscribe((event) => event.kind === "resource" && published.push(event.uri));
    mine.insert({ title: "Dentist", startsAt: "2026-09-10T08:30:00Z" }, "call:insert");
    bus.publishNew();
    mine.insert({ title: "Dentist", startsAt: "2026-09-10T08:30:00Z" }, "call:insert");
    bus.publishNew();
    expect(published).toHaveLength(8);
    expect(new Set(published).size).toBe(8);
  });
});

describe("the bus", () => {
  afterEach(() => void vi.useRealTimers());

  it("looks at the file only while somebody listens", () => {
    vi.useFakeTimers();
    const bus = calendarBus(mine, { now: () => now, pollMs: 100 });
    expect(vi.getTimerCount()).toBe(0);
    const leave = [bus.subscribe(() => {}), bus.subscribe(() => {})];
    expect(vi.getTimerCount()).toBe(1);
    leave[0]!();
    leave[0]!();
    expect(vi.getTimerCount()).toBe(1);
    leave[1]!();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("tells late rather than never of what was added while nobody listened", () => {
    vi.useFakeTimers();
    const bus = calendarBus(mine, { now: () => now, pollMs: 100 });
    theirs.insert({ title: "Dentist", startsAt: "2026-09-10T08:30:00Z" });
    const told: string[] = [];
    const leave = bus.subscribe((event) => event.kind === "resource" && told.push(event.uri));
    vi.advanceTimersByTime(100);
    expect(told).toContain("calendar://week");
    vi.advanceTimersByTime(1000);
    expect(told).toHaveLength(8);
    leave();
  });

  it("reports a file that cannot be read once, and goes on", () => {
    vi.useFakeTimers();
    const errors: unknown[] = [];
    let broken = false;
    const store: EventStore = {
      ...mine,
      dataVersion() {
        if (broken) throw new Error("gone");
        return mine.dataVersion();
      },
    };
    const bus = calendarBus(store, { now: () => now, pollMs: 100, onError: (error) => errors.push(error) });
    const told: string[] = [];
    const leave = bus.subscribe((event) => event.kind === "resource" && told.push(event.uri));
    broken = true;
    theirs.insert({ title: "Dentist", startsAt: "2026-09-10T08:30:00Z" });
    vi.advanceTimersByTime(500);
    expect(errors).toHaveLength(1);
    expect(told).toEqual([]);
    broken = false;
    vi.advanceTimersByTime(100);
    expect(told).toContain("calendar://week");
    leave();
  });
});
