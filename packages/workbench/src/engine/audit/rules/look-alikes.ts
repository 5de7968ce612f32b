/**
 * Letters of other scripts that look like Latin ones (after UTS #39, section 4, the Cyrillic and Greek part of it).
 * Small Greek letters that stand in formulas and in names of substances ("TNF\u03b1") are left out.
 */

const BY_LATIN: readonly (readonly [latin: string, others: string])[] = [
  ["a", "\u0430"],
  ["c", "\u0441"],
  ["e", "\u0435"],
  ["i", "\u0456"],
  ["j", "\u0458"],
  ["o", "\u043e\u03bf"],
  ["p", "\u0440"],
  ["s", "\u0455"],
  ["x", "\u0445"],
  ["y", "\u0443\u04af"],
  ["h", "\u04bb"],
  ["d", "\u0501"],
  ["q", "\u051b"],
  ["w", "\u051d"],
  ["k", "\u043a"],
  ["A", "\u0410\u0391"],
  ["B", "\u0412\u0392"],
  ["C", "\u0421\u03f9"],
  ["E", "\u0415\u0395"],
  ["H", "\u041d\u0397"],
  ["I", "\u0406\u0399"],
  ["J", "\u0408"],
  ["K", "\u041a\u039a"],
  ["M", "\u041c\u039c"],
  ["N", "\u039d"],
  ["O", "\u041e\u039f"],
  ["P", "\u0420\u03a1"],
  ["S", "\u0405"],
  ["T", "\u0422\u03a4"],
  ["X", "\u0425\u03a7"],
  ["Y", "\u04ae\u03a5"],
  ["Z", "\u0396"],
];

/** From the look-alike to the Latin letter. */
export const LOOK_ALIKES: ReadonlyMap<string, string> = new Map(
  BY_LATIN.flatMap(([latin, others]) => [...others].map((other) => [other, latin] as const)),
);
