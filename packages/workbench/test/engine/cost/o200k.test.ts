/** Tokens of o200k_base, against the library whose table it is. */
import fc from "fast-check";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { beforeAll, describe, expect, it } from "vitest";
import { type CountTokens, loadO200k } from "../../../src/engine/cost/o200k.js";

let count: CountTokens;
beforeAll(async () => {
  count = await loadO200k();
});
const theirs = (text: string) => countTokens(text, { disallowedSpecial: new Set() });

describe("tokens", () => {
  it.each([
    ["", 0],
    ["hello world", 2],
    ['{"name":"echo","description":"Repeat a text."}', 12],
    ["<|endoftext|>", 7],
  ])("of %j", (text, tokens) => {
    expect(count(text)).toBe(tokens);
    expect(theirs(text)).toBe(tokens);
  });

  it("of any text are as many as the library counts", () => {
    const text = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 120 }),
      fc.string({ unit: "binary", maxLength: 120 }),
      fc.json(),
      fc.stringMatching(/^[a-zA-Z_ .'{}":,0-9]{0,120}$/),
      fc
        .array(fc.constantFrom("a", "A", " ", "\n", "'s", "字", "{", '"', "12345"), { maxLength: 60 })
        .map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(text, (each) => {
        expect(count(each)).toBe(theirs(each));
      }),
      { numRuns: 400 },
    );
  });

  it("of half a surrogate pair are those of what stands for it", () => {
    expect(count("a\ud800b")).toBe(count("a\ufffdb"));
  });

  it("of one long word are counted in about the time of as much text", () => {
    for (const letter of ["a", "字", " ", "{", "\u0301", "Aa"]) {
      const began = performance.now();
      expect(count(letter.repeat(200_000))).toBeGreaterThan(0);
      // The library takes minutes.
      expect(performance.now() - began).toBeLessThan(10_000);
    }
  });
});
