import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { openSqliteStore } from "../src/sqlite-store.js";
import { stemOf } from "../src/stem.js";
import type { Incident, IncidentQuery } from "../src/store.js";
import { matchExpression } from "../src/terms.js";
import { temporaryFiles } from "./folder.js";

const file = temporaryFiles();
const store = openSqliteStore(file());
afterAll(() => store.close());

async function all(query: Omit<IncidentQuery, "limit" | "before">): Promise<Incident[]> {
  const found: Incident[] = [];
  for (let before: number | undefined; ; ) {
    const { incidents, more } = await store.of("").search({ ...query, before, limit: 100 });
    found.push(...incidents);
    if (!more) return found;
    before = incidents.at(-1)!.number;
  }
}

const numbers = async (text: string): Promise<number[]> => (await all({ text })).map(({ number }) => number);
const open = async (title: string, description?: string): Promise<number> =>
  (await store.of("").open({ title, severity: "sev3", description })).number;

describe("search by text", () => {
  it.each([
    ["Checkout is slow", "checkout"],
    ["Checkout is slow", "SLOW checkout"],
    ["Workers timed out", "worker"],
    ["Worker timeout", "timeouts"],
    ["Queries failed", "query failing"],
    ["Caches were poisoned", "cache caching cached"],
    ["Node db-prod-7.example.com is gone", "db-prod-7.example.com"],
    ["connection_reset by peer", "connection_reset"],
    ["Authentication broke", "auth*"],
    ["Running out of disk", "runn*"],
    ["Running out of disk", "run"],
    ["db-production is down", "db-prod*"],
    ["Disk at 100%", "100%"],
    ["Disk at 100%", "%"],
    ["It's on fire 🔥", "🔥"],
    ["no space🔥left", "🔥"],
    ["no space🔥left", "space"],
    ["Café déjà vu", "cafe deja"],
    ["Cafe down", "café"],
    ["Straße gesperrt", "straße"],
    ["ОШИБКА базы", "ошибка"],
    ["東京リージョンで障害", "障害"],
    ["東京リージョンで障害", "東京"],
    ["ｆｕｌｌｗｉｄｔｈ", "fullwidth"],
    ["soft\u00adhyphen", "softhyphen"],
    ["🇩🇪 is unreachable", "🇩🇪"],
    ["❤️ beat lost", "❤"],
    ["C++ build", "++"],
    ['Said "no"', '"no"'],
    ["§ and °", "§"],
    ["100 % of ° and § failed", "°"],
  ])("finds %j by %j", async (title, text) => {
    const number = await open(title);
    expect(await numbers(text)).toContain(number);
  });

  it.each([
    ["Checkout is slow", "check"],
    ["Universe", "university"],
    ["Disk is full", "%"],
    ["Plain text", "🔥"],
    ["🇩🇪 is up", "❤️"],
    ["Facets are no words", "§sev3"],
    ["Facets are no words", "open"],
    ["prod 7 db", "db-prod-7"],
    ["大阪", "東京"],
    ["A title", "title*s"],
  ])("does not find %j by %j", async (title, text) => {
    const number = await open(title);
    expect(await numbers(text)).not.toContain(number);
  });

  it("needs every piece, wherever it stands, and lets no phrase reach from one text into another", async () => {
    const number = await open("ends with alpha", "omega begins");
    expect(await numbers("omega alpha")).toContain(number);
    expect(await numbers("alpha missing")).not.toContain(number);
    expect(await numbers("alpha-omega")).not.toContain(number);
  });

  it("finds a handle, and what mentions it", async () => {
    const number = await open("The first of two");
    const other = await open(`The same as inc-${number} again`);
    expect(await numbers(`INC-${number}`)).toEqual([other, number]);
    expect(await numbers(`inc-${number} again`)).toEqual([other]);
  });

  it("finds the words of a cause once it is recorded, and by the state of now", async () => {
    const number = await open("Zebra crossing blocked");
    expect((await all({ text: "zebra", state: "open" })).map((one) => one.number)).toEqual([number]);
    expect(await numbers("giraffe")).toEqual([]);
    await store.of("").resolve(number, "A giraffe stood in the way");
    expect(await numbers("giraffe zebra")).toEqual([number]);
    expect(await all({ text: "zebra", state: "open" })).toEqual([]);
    expect(await all({ text: "zebra", state: "resolved", severity: "sev3" })).toHaveLength(1);
    expect(await all({ text: "zebra", state: "resolved", severity: "sev1" })).toEqual([]);
  });

  it("takes text without anything to look for as no text", async () => {
    const everything = (await all({})).length;
    for (const text of ["", "   ", "\u200b", "\0\0", "\ufe0f"])
      expect(await numbers(text)).toHaveLength(everything);
  });

  const hostile = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: "grapheme" }),
    fc.string(),
    fc.stringMatching(/^["'*^(){}:+\-~%_\\ ]{0,20}$/),
    fc.constantFrom(
      "NEAR(a b)",
      "a OR b",
      "NOT",
      "AND AND",
      "terms: x",
      '"',
      '""',
      "'); DROP TABLE incidents;--",
      "a*b*",
    ),
    fc
      .array(fc.constantFrom("a", "b*", "-", '"', "NEAR", "(", "^x", "%", "_", "🔥", "\0", "\ud800"), {
        maxLength: 100,
      })
      .map((parts) => parts.join(" ")),
  );

  it("never fails, whatever the text", async () => {
    await fc.assert(
      fc.asyncProperty(hostile, async (text) => {
        await store.of("").search({ text, limit: 5 });
      }),
      { numRuns: 500 },
    );
  });

  it("finds every incident by every piece of its texts", async () => {
    const fresh = openSqliteStore(file());
    try {
      await fc.assert(
        fc.asyncProperty(hostile, hostile, hostile, async (title, description, cause) => {
          const { number } = await fresh.of("").open({ title, severity: "sev2", description });
          await fresh.of("").resolve(number, cause);
          for (const text of [title, description, cause]) {
            for (const piece of [text, ...text.split(/\s+/)]) {
              const { incidents } = await fresh.of("").search({
                text: piece,
                severity: "sev2",
                state: "resolved",
                limit: 1,
              });
              expect(incidents[0]?.number, JSON.stringify(piece)).toBe(number);
            }
          }
        }),
        { numRuns: 300 },
      );
    } finally {
      await fresh.close();
    }
  });
});

describe("matchExpression", () => {
  it("holds nothing but quoted terms and its own operators", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const expression = matchExpression(text, { tenant: "", severity: "sev1", state: "open" }) ?? "";
        expect(expression.replace(/"[^"]*"/g, "")).toMatch(/^(?:[ ()*]|AND|OR)*$/);
      }),
    );
  });
});

describe("stemOf", () => {
  it.each([
    ["timeouts", "timeout"],
    ["queries", "query"],
    ["retries", "retry"],
    ["retried", "retry"],
    ["retrying", "retry"],
    ["crashes", "crash"],
    ["crashed", "crash"],
    ["stopped", "stop"],
    ["caches", "cache"],
    ["cached", "cache"],
    ["caching", "cache"],
    ["databases", "database"],
    ["failing", "fails"],
  ])("brings %s and %s together", (a, b) => {
    expect(stemOf(a)).toBe(stemOf(b));
  });

  it.each(["status", "redis", "dns", "aws", "class", "string", "red", "сервера", "v2s", ""])(
    "leaves %j alone",
    (word) => {
      expect(stemOf(word)).toBe(word);
    },
  );
});
