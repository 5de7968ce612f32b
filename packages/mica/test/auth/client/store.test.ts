/** Where credentials are kept: compare-and-swap, turns, modes, and processes that die. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withLockFile } from "../../../src/auth/client/lock-file.js";
import { type AuthStore, fileStore, memoryStore } from "../../../src/entry/auth/client.js";
import { buildFixtures, folder, start } from "./processes.js";

const { signal } = new AbortController();
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe.each<[string, () => AuthStore]>([
  ["memory", () => memoryStore()],
  ["a file", () => fileStore(join(folder(), "deep", "er", "credentials.json"))],
])("%s", (_what, make) => {
  it("keeps, replaces and removes what is still the version that was seen", async () => {
    const store = make();
    expect(await store.read("a")).toBeUndefined();
    expect(await store.write("a", { n: 1 }, undefined)).toBe(true);
    expect(await store.write("a", { n: 2 }, undefined)).toBe(false);
    const first = (await store.read("a"))!;
    expect(first.value).toEqual({ n: 1 });
    expect(await store.write("a", { n: 2 }, first.version)).toBe(true);
    expect(await store.write("a", { n: 3 }, first.version)).toBe(false);
    expect(await store.write("a", undefined, first.version)).toBe(false);
    const second = (await store.read("a"))!;
    expect(second.value).toEqual({ n: 2 });
    expect(await store.write("b", { other: true }, undefined)).toBe(true);
    expect(await store.write("a", undefined, second.version)).toBe(true);
    expect(await store.read("a")).toBeUndefined();
    expect((await store.read("b"))!.value).toEqual({ other: true });
    // A version never comes again.
    expect(await store.write("a", { n: 1 }, undefined)).toBe(true);
    expect(await store.write("a", { n: 9 }, first.version)).toBe(false);
  });

  it("takes keys that are names of things that every object has", async () => {
    const store = make();
    for (const key of ["__proto__", "constructor", "toString", ""]) {
      expect(await store.read(key)).toBeUndefined();
      expect(await store.write(key, { key }, undefined)).toBe(true);
      expect((await store.read(key))!.value).toEqual({ key });
    }
  });

  it("hands out copies", async () => {
    const store = make();
    const given = { n: 1 };
    await store.write("a", given, undefined);
    given.n = 2;
    ((await store.read("a"))!.value as { n: number }).n = 3;
    expect((await store.read("a"))!.value).toEqual({ n: 1 });
  });

  it("lets one through after the other, by key, whatever comes of it", async () => {
    const store = make();
    const log: string[] = [];
    const work = (key: string, name: string, fails = false) =>
      store.exclusively(
        key,
        async () => {
          log.push(`${name} in`);
          await new Promise((resolve) => setTimeout(resolve, 20));
          log.push(`${name} out`);
          if (fails) throw new Error(name);
          return name;
        },
        signal,
      );
    const all = await Promise.allSettled([
      work("a", "1"),
      work("a", "2", true),
      work("a", "3"),
      work("b", "4"),
    ]);
    expect(all.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
    expect(log.filter((line) => !line.startsWith("4"))).toEqual([
      "1 in",
      "1 out",
      "2 in",
      "2 out",
      "3 in",
      "3 out",
    ]);
    expect(log.indexOf("4 in")).toBeLessThan(log.indexOf("3 in"));
  });

  it("is not waited for any longer than wanted, and whoever waits behind still gets a turn", async () => {
    const store = make();
    let release = () => {};
    let first: Promise<void> = Promise.resolve();
    await new Promise<void>((started) => {
      const work = () =>
        new Promise<void>((resolve) => {
          release = resolve;
          started();
        });
      first = store.exclusively("a", work, signal);
    });
    const giveUp = new AbortController();
    let ran = false;
    const second = store.exclusively(
      "a",
      async () => {
        ran = true;
      },
      giveUp.signal,
    );
    const third = store.exclusively("a", async () => "third", signal);
    giveUp.abort(new Error("enough"));
    await expect(second).rejects.toThrow("enough");
    release();
    await first;
    expect(await third).toBe("third");
    expect(ran).toBe(false);
  });
});

describe("the file", () => {
  it("is for its owner only, and so is the folder that is made for it", async () => {
    const base = folder();
    const path = join(base, "mica", "credentials.json");
    await fileStore(path).write("a", { secret: 1 }, undefined);
    expect(mode(path)).toBe("600");
    expect(mode(join(base, "mica"))).toBe("700");
    // Nothing else is left.
    expect(readdirSync(join(base, "mica"))).toEqual(["credentials.json"]);
    await fileStore(path).exclusively(
      "a",
      async () => expect(readdirSync(join(base, "mica"))).toHaveLength(2),
      signal,
    );
    expect(readdirSync(join(base, "mica"))).toEqual(["credentials.json"]);
  });

  it.skipIf(process.platform === "win32")(
    "that others can read is refused, and says how to mend it",
    async () => {
      const path = join(folder(), "credentials.json");
      const store = fileStore(path);
      await store.write("a", { secret: 1 }, undefined);
      chmodSync(path, 0o644);
      const refused = { code: "connect_failed", reason: "store_failed" };
      await expect(store.read("a")).rejects.toMatchObject(refused);
      await expect(store.read("a")).rejects.toThrow(/its mode is 0644, expected 0600; chmod 600 mends that/);
      await expect(store.write("b", {}, undefined)).rejects.toMatchObject(refused);
      chmodSync(path, 0o600);
      expect((await store.read("a"))!.value).toEqual({ secret: 1 });
    },
  );

  it.each([
    ["is no JSON", "{", /are not JSON/],
    ["is something else", '{"name":"package"}', /not in a file of Mica/],
    ["is a list", "[]", /not in a file of Mica/],
    ["is of a later form", '{"mica":2,"records":{}}', /expected 1, got 2/],
  ])("that %s is refused, and left as it is", async (_what, text, message) => {
    const path = join(folder(), "credentials.json");
    writeFileSync(path, text, { mode: 0o600 });
    const store = fileStore(path);
    await expect(store.read("a")).rejects.toThrow(message);
    await expect(store.write("a", {}, undefined)).rejects.toThrow(message);
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  it("that cannot be written is an error that names it", async () => {
    const base = folder();
    writeFileSync(join(base, "file"), "");
    const store = fileStore(join(base, "file", "credentials.json"));
    await expect(store.write("a", {}, undefined)).rejects.toMatchObject({
      reason: "store_failed",
      message: expect.stringContaining(join(base, "file", "credentials.json")),
    });
  });

  it.runIf(process.platform === "linux")(
    "that cannot be anywhere is an error, and not waited for",
    async () => {
      const store = fileStore("/proc/nowhere/at/all/credentials.json");
      const failed = expect.objectContaining({
        reason: "store_failed",
        message: expect.stringContaining("ENOENT"),
      });
      await expect(store.write("a", {}, undefined)).rejects.toEqual(failed);
    },
  );

  it("has an absolute path", () => {
    for (const path of ["credentials.json", "./a", "", undefined]) {
      expect(() => fileStore(path as string)).toThrow(/^fileStore: expected an absolute path/);
    }
  });
});

describe("a lock", () => {
  it("of a holder that is gone for longer than it may be silent is taken away by one", async () => {
    const path = join(folder(), "lock");
    writeFileSync(path, JSON.stringify({ id: "gone", pid: 1, host: "another machine" }));
    const long = new Date(Date.now() - 120_000);
    utimesSync(path, long, long);
    let inside = 0;
    let most = 0;
    const work = async () => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 10 }, () => withLockFile(path, work, signal)));
    expect(most).toBe(1);
    expect(existsSync(path)).toBe(false);
  });

  it("is not taken away from the next holder by one who looked at it before", async () => {
    const path = join(folder(), "lock");
    const gone = "11111111-gone";
    const old = new Date(Date.now() - 120_000);
    writeFileSync(path, JSON.stringify({ id: gone, pid: 1, host: "another machine" }));
    utimesSync(path, old, old);
    const me = { pid: process.pid, host: hostname() };
    // Somebody else is about to take it away, and does.
    const guard = `${path}.${gone.slice(0, 8)}`;
    writeFileSync(guard, JSON.stringify({ id: "guard", ...me }));
    let isIn = false;
    const waiting = withLockFile(
      path,
      async () => {
        isIn = true;
      },
      signal,
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    writeFileSync(path, JSON.stringify({ id: "next", ...me }));
    unlinkSync(guard);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(isIn).toBe(false);
    expect(JSON.parse(readFileSync(path, "utf8")).id).toBe("next");
    unlinkSync(path);
    await waiting;
    expect(isIn).toBe(true);
  });

  it("that was created and never written is taken away when it is old enough", async () => {
    const path = join(folder(), "lock");
    writeFileSync(path, "");
    expect(await withLockFile(path, async () => "mine", signal, { staleMs: 100, pollMs: 5 })).toBe("mine");
  });

  it("that is held gives signs of life, however long that takes", async () => {
    const path = join(folder(), "lock");
    const times = { staleMs: 200, pollMs: 5 };
    let isHeld = false;
    const first = withLockFile(
      path,
      async () => {
        isHeld = true;
        await new Promise((resolve) => setTimeout(resolve, 800));
        isHeld = false;
      },
      signal,
      times,
    );
    while (!existsSync(path)) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(await withLockFile(path, async () => isHeld, signal, times)).toBe(false);
    await first;
  });

  it("that another one has by now is left to it", async () => {
    const path = join(folder(), "lock");
    await withLockFile(path, async () => writeFileSync(path, '{"id":"another"}'), signal);
    expect(readFileSync(path, "utf8")).toBe('{"id":"another"}');
  });

  it("that was lost says so to whoever works under it", async () => {
    const path = join(folder(), "lock");
    const seen: boolean[] = [];
    const work = async (isHeld: () => Promise<boolean>) => {
      seen.push(await isHeld());
      writeFileSync(path, '{"id":"another"}');
      seen.push(await isHeld());
      rmSync(path);
      seen.push(await isHeld());
    };
    await withLockFile(path, work, signal);
    expect(seen).toEqual([true, false, false]);
  });

  it("is waited for as long as wanted", async () => {
    const path = join(folder(), "lock");
    writeFileSync(path, JSON.stringify({ id: "held", pid: process.pid, host: hostname() }));
    const soon = AbortSignal.timeout(50);
    await expect(withLockFile(path, async () => {}, soon)).rejects.toThrow(/timeout/);
    expect(existsSync(path)).toBe(true);
  });

  it("in a folder that is not there is an error, and no wait for ever", async () => {
    await expect(withLockFile(join(folder(), "none", "lock"), async () => {}, signal)).rejects.toThrow(
      /ENOENT/,
    );
    const base = folder();
    mkdirSync(join(base, "lock"));
    const soon = AbortSignal.timeout(200);
    await expect(withLockFile(join(base, "lock"), async () => {}, soon)).rejects.toThrow();
  });

  describe("among processes", () => {
    let fixtures: Awaited<ReturnType<typeof buildFixtures>>;
    beforeAll(async () => {
      fixtures = await buildFixtures("counter", "lock-holder");
    });
    afterAll(() => fixtures.remove());

    it("of one that was killed is taken away at once", async () => {
      const path = join(folder(), "lock");
      const holder = await start(fixtures.at("lock-holder"), path);
      await expect(withLockFile(path, async () => {}, AbortSignal.timeout(100))).rejects.toThrow();
      const next = withLockFile(path, async () => "mine", signal);
      holder.child.kill("SIGKILL");
      expect(await next).toBe("mine");
    });

    it.each(["alone", "by compare-and-swap"])("counts right in five at once, %s", async (how) => {
      const path = join(folder(), "credentials.json");
      const counters = await Promise.all(
        [1, 2, 3, 4, 5].map(() => start(fixtures.at("counter"), path, "20", how)),
      );
      for (const { go } of counters) go();
      const lost = (await Promise.all(counters.map(({ next }) => next()))) as { lost: number }[];
      expect((await fileStore(path).read("number"))!.value).toEqual({ number: 100 });
      if (how === "alone") expect(lost.map((one) => one.lost)).toEqual([0, 0, 0, 0, 0]);
    });
  });
});
