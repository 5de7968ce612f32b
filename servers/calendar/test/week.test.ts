/** Weeks in UTC: every date is in exactly one, whatever the year. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dateAt, FIRST_DATE, isDate, LAST_DATE, mondayAfter, toInstant, weekOf } from "../src/week.js";

const FIRST = Date.parse(`${FIRST_DATE}T00:00:00Z`);
const LAST = Date.parse(`${LAST_DATE}T00:00:00Z`);
const DAY = 86_400_000;
const anyDate = fc.integer({ min: 0, max: (LAST - FIRST) / DAY }).map((days) => dateAt(FIRST + days * DAY));

describe("a week", () => {
  it("runs from Monday to Sunday, and every date is in exactly one", () => {
    fc.assert(
      fc.property(anyDate, (date) => {
        const { monday, dates, from, to } = weekOf(date);
        expect(new Date(`${monday}T00:00:00Z`).getUTCDay()).toBe(1);
        expect(dates).toContain(date);
        expect(new Set(dates).size).toBe(dates.length);
        expect(dates.every((day) => weekOf(day).monday === monday)).toBe(true);
        expect(from <= `${date}T00:00:00Z` && `${date}T23:59:59Z` <= to).toBe(true);
        const next = mondayAfter(monday, 1);
        if (next === undefined) expect(to).toBe("9999-12-31T23:59:59Z");
        else {
          expect(dates).toHaveLength(7);
          expect(Date.parse(weekOf(next).from) - Date.parse(to)).toBe(1000);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ["2026-09-07", "2026-09-07", "2026-09-13"],
    ["2026-09-13", "2026-09-07", "2026-09-13"],
    ["2024-02-29", "2024-02-26", "2024-03-03"],
    ["2027-01-01", "2026-12-28", "2027-01-03"],
    ["2000-02-29", "2000-02-28", "2000-03-05"],
    ["0001-01-01", "0001-01-01", "0001-01-07"],
    ["0099-12-31", "0099-12-28", "0100-01-03"],
    ["9999-12-31", "9999-12-27", "9999-12-31"],
  ])("of %s is %s to %s", (date, monday, last) => {
    expect(weekOf(date)).toMatchObject({ monday, from: `${monday}T00:00:00Z`, to: `${last}T23:59:59Z` });
  });

  it("has neighbours as far as the calendar reaches", () => {
    expect(mondayAfter("2026-12-28", 1)).toBe("2027-01-04");
    expect(mondayAfter("2026-12-28", -1)).toBe("2026-12-21");
    expect(mondayAfter("0001-01-01", -1)).toBeUndefined();
    expect(mondayAfter("9999-12-27", 1)).toBeUndefined();
  });
});

describe("a date", () => {
  it.each([
    "2026-02-29",
    "2100-02-29",
    "2026-13-01",
    "2026-00-10",
    "2026-01-00",
    "2026-04-31",
    "0000-12-31",
    "2026-9-7",
  ])("is not %s", (text) => {
    expect(isDate(text)).toBe(false);
    expect(() => weekOf(text)).toThrow(TypeError);
  });

  it.each([
    "",
    "today",
    "2026-09-07T00:00:00Z",
    "2026-09-07\n",
    " 2026-09-07",
    "+2026-09-07",
    "٢٠٢٦-09-07",
    "10000-01-01",
  ])("is not %j either", (text) => {
    expect(isDate(text)).toBe(false);
  });
});

describe("an instant", () => {
  it.each([
    ["2026-09-10T08:30:00Z", "2026-09-10T08:30:00Z"],
    ["2026-09-10T10:30:00.999+02:00", "2026-09-10T08:30:00Z"],
    ["1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59Z"],
    ["2026-12-31T23:30:00-01:00", "2027-01-01T00:30:00Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"],
    ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"],
    ["0001-01-01T00:00:00+00:01", undefined],
    ["9999-12-31T23:59:59-00:01", undefined],
    ["0000-06-01T00:00:00Z", undefined],
    ["soon", undefined],
  ])("%s is %s", (text, instant) => {
    expect(toInstant(text)).toBe(instant);
  });

  it("sorts as text as it sorts in time", () => {
    const anyInstant = fc
      .integer({ min: FIRST, max: LAST })
      .map((ms) => toInstant(new Date(ms).toISOString()) as string);
    fc.assert(
      fc.property(anyInstant, anyInstant, (a, b) => {
        expect(a < b).toBe(Date.parse(a) < Date.parse(b));
      }),
    );
  });
});
