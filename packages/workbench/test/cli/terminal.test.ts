import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { paint } from "../../src/cli/paint.js";
import { table } from "../../src/cli/table.js";
import { columnsOf, cut, safeJson, visible, visibleLine } from "../../src/cli/terminal.js";

describe("text for a terminal", () => {
  it.each([
    ["plain text\twith a tab\n", "plain text\twith a tab\n"],
    ["\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"],
    ["\x9b31m", "\\x9b31m"],
    ["windows\r\nlines", "windows\nlines"],
    ["over\rwritten", "over\\rwritten"],
    ["back\b\x7f", "back\\x08\\x7f"],
    ["\u202edesrever\u2066", "\\u202edesrever\\u2066"],
    ["zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"],
    ["hidden\u{e0041}\u{e0042}", "hidden\\u{e0041}\\u{e0042}"],
    ["half \ud83d a pair", "half \\ud83d a pair"],
    ["نص عربي, 漢字, 👩‍👩‍👧, क्‍ष", "نص عربي, 漢字, 👩‍👩‍👧, क्‍ष"],
  ])("shows %j as %j", (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it("shows newlines and tabs too where there is one line only", () => {
    expect(visibleLine("a\nb\tc\r\n")).toBe("a\\nb\\tc\\n");
  });

  it("never holds anything that steers", () => {
    const anything = fc.string({ unit: "binary" });
    const steering = fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 })
      .map((units) => String.fromCharCode(...units));
    fc.assert(
      fc.property(fc.oneof(anything, steering), (text) => {
        const shown = visibleLine(text);
        expect(shown).not.toMatch(/[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029\ufeff\u{e0000}-\u{e007f}]/u);
        // Made visible once, it stays as it is.
        expect(visibleLine(shown)).toBe(shown);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("JSON for a terminal", () => {
  it("is safe, and the same JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ unit: "binary" }), (value, text) => {
        const given = { value, text: `${text}\x9b\u202e\u{e0041}\x7f` };
        const safe = safeJson(JSON.stringify(given));
        expect(safe).not.toMatch(/[\x7f-\x9f\u202e\u{e0041}]/u);
        expect(JSON.parse(safe)).toStrictEqual(JSON.parse(JSON.stringify(given)));
      }),
    );
  });
});

describe("columns", () => {
  it.each([
    ["abc", 3],
    ["漢字", 4],
    ["e\u0301", 1],
    ["👍", 2],
    ["\x1b[1mbold\x1b[22m", 4],
  ])("counts %j as %i", (text, columns) => {
    expect(columnsOf(text)).toBe(columns);
  });

  it("are cut with an ellipsis, and never overrun", () => {
    expect(cut("abcdef", 6)).toBe("abcdef");
    expect(cut("abcdef", 5)).toBe("abcd…");
    expect(cut("漢字漢字", 5)).toBe("漢字…");
    expect(cut("漢字漢字", 4)).toBe("漢…");
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 20 }), (text, columns) => {
        expect(columnsOf(cut(text, columns))).toBeLessThanOrEqual(columns);
      }),
    );
  });
});

describe("tables", () => {
  const columns = [
    { cells: ["a", "long name"], paint: paint(true).bold },
    { cells: ["", ""] },
    { cells: ["first description", "second"], least: 8 },
    { cells: ["x: string", "y"] },
  ];

  it("align their columns, leave out empty ones and end no line with spaces", () => {
    const plain = columns.map(({ cells, least }) => (least === undefined ? { cells } : { cells, least }));
    expect(table(plain)).toStrictEqual([
      "a          first description  x: string",
      "long name  second             y",
    ]);
  });

  it("are cut where they may be, to the width of the terminal", () => {
    const lines = table(columns, 34);
    expect(lines).toStrictEqual([
      "\x1b[1ma\x1b[22m          first descr…  x: string",
      "\x1b[1mlong name\x1b[22m  second        y",
    ]);
    expect(Math.max(...table(columns, 10).map(columnsOf))).toBe(9 + 2 + 8 + 2 + 9);
  });
});
