/** Lines of stdout are the same in whatever pieces they come. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { createLines, type Line } from "../../../../src/engine/audit/wire/lines.js";

const shown = ({ number, offset, text, ended }: Line) => ({ number, offset, text, ended });

it("counts lines and bytes, and reads the objects of each", () => {
  const lines = createLines();
  lines.feed(Buffer.from('é\n\n{"a":1}\n[{"b":2},3]\nrest'));
  expect(lines.ended.map(shown)).toEqual([
    { number: 1, offset: 0, text: "é", ended: true },
    { number: 2, offset: 3, text: "", ended: true },
    { number: 3, offset: 4, text: '{"a":1}', ended: true },
    { number: 4, offset: 12, text: '[{"b":2},3]', ended: true },
  ]);
  expect(lines.ended.map(({ messages }) => messages)).toEqual([[], [], [{ a: 1 }], [{ b: 2 }]]);
  expect(lines.rest()).toMatchObject({ number: 5, offset: 24, text: "rest", ended: false });
  expect(lines.length).toBe(28);
});

it("has no rest after a newline", () => {
  const lines = createLines();
  expect(lines.rest()).toBeUndefined();
  lines.feed(Buffer.from("a\n"));
  expect(lines.rest()).toBeUndefined();
});

it("cuts the same lines however the bytes arrive", () => {
  const pieces = fc.array(fc.stringMatching(/^[aé\n]{0,8}$/));
  fc.assert(
    fc.property(pieces, fc.nat(), (texts, seed) => {
      const bytes = Buffer.from(texts.join(""));
      const whole = createLines();
      whole.feed(bytes);
      const cut = createLines();
      for (let from = 0, size = seed % 5; from < bytes.length; size = (size * 7 + 3) % 5) {
        cut.feed(bytes.subarray(from, from + size));
        from += size;
      }
      expect(cut.ended.map(shown)).toEqual(whole.ended.map(shown));
      expect(cut.rest() && shown(cut.rest() as Line)).toEqual(whole.rest() && shown(whole.rest() as Line));
      expect(cut.length).toBe(bytes.length);
    }),
  );
});
