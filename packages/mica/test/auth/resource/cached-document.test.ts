/** A document that is kept: loaded once for all who wait, again when it may have changed, and used while it cannot be. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { cacheDocument } from "../../../src/auth/shared/cached-document.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());
const pass = (ms: number): void => void vi.setSystemTime(Date.now() + ms);

const TIMES = { maxAgeMs: 1_000, maxStaleMs: 500, retryMs: 50, cooldownMs: 100 };

function counting() {
  let count = 0;
  const state = { fails: false, loads: 0 };
  const document = cacheDocument(async () => {
    state.loads += 1;
    await new Promise((resolve) => setImmediate(resolve));
    if (state.fails) throw new Error(`load ${state.loads} failed`);
    return { version: ++count };
  }, TIMES);
  return { document, state };
}

it("is loaded once, for all who ask, until it is old", async () => {
  const { document, state } = counting();
  const all = await Promise.all([document.current(), document.current(), document.current()]);
  expect(all.map(({ version }) => version)).toEqual([1, 1, 1]);
  pass(999);
  expect(await document.current()).toBe(all[0]);
  pass(1);
  expect(await document.current()).toEqual({ version: 2 });
  expect(state.loads).toBe(2);
});

it("is used while it cannot be loaded, for a while, and tried for again in between", async () => {
  const { document, state } = counting();
  const first = await document.current();
  state.fails = true;
  pass(1_200);
  expect(await document.current()).toBe(first);
  expect(await document.current()).toBe(first);
  expect(state.loads).toBe(2);
  pass(50);
  expect(await document.current()).toBe(first);
  expect(state.loads).toBe(3);
  pass(250);
  await expect(document.current()).rejects.toThrow("load 4 failed");
  // The failure is given to all until the next try.
  await expect(document.current()).rejects.toThrow("load 4 failed");
  state.fails = false;
  pass(50);
  expect(await document.current()).toEqual({ version: 2 });
});

it("is loaded anew for whoever misses something, once per cooldown, and only if nobody did before", async () => {
  const { document, state } = counting();
  const first = await document.current();
  expect(await document.newerThan(first)).toBeUndefined();
  pass(100);
  const both = await Promise.all([document.newerThan(first), document.newerThan(first)]);
  expect(both).toEqual([{ version: 2 }, { version: 2 }]);
  expect(state.loads).toBe(2);
  // Somebody with the first one gets the second without a load.
  expect(await document.newerThan(first)).toEqual({ version: 2 });
  expect(state.loads).toBe(2);
  pass(100);
  state.fails = true;
  expect(await document.newerThan(both[0]!)).toBeUndefined();
  expect(state.loads).toBe(3);
});
