/** Lines and events, cut anywhere on their way, come out as they went in. */
import { Readable } from "node:stream";
import fc from "fast-check";
import { expect, it } from "vitest";
import { readEvents } from "../../src/engine/event-blocks.js";
import { createLineSplitter, textLines } from "../../src/engine/text-lines.js";

const never = new AbortController().signal;
/** A text cut into pieces of bytes, in the middle of characters as well. */
function pieces(text: string, sizes: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text);
  const cut: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] as number;
    cut.push(bytes.subarray(at, at + size));
    at += size;
  }
  return cut;
}
const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 });
const text = fc
  .array(fc.constantFrom("a", "\ufeff", "ü", "😀", "\n", "\r", "\r\n", " ", "data: x", ":"))
  .map((parts) => parts.join(""));

it("lines are what stands between newlines", async () => {
  await fc.assert(
    fc.asyncProperty(text, sizes, async (whole, by) => {
      const lines: string[] = [];
      for await (const line of textLines(Readable.from(pieces(whole, by)), never)) lines.push(line);
      const expected = whole.split("\n");
      if (expected.at(-1) === "") expected.pop();
      expect(lines).toEqual(expected);
    }),
  );
});

it("events keep every character", async () => {
  await fc.assert(
    fc.asyncProperty(text, sizes, async (whole, by) => {
      const blocks: string[] = [];
      await readEvents(Readable.from(pieces(whole, by)), 1_000, (block) => blocks.push(block.text));
      expect(blocks.join("")).toBe(whole);
      // Each but the last ends with a blank line, and holds no other.
      for (const block of blocks) expect(block.slice(0, -1)).not.toMatch(/\n\r?\n(?=[^\r\n])/);
    }),
  );
});

it("a long line in small pieces takes time in proportion to its length", () => {
  const piece = "x".repeat(1_000);
  const time = (count: number) => {
    const splitter = createLineSplitter();
    const began = performance.now();
    for (let at = 0; at < count; at += 1) splitter.feed(piece);
    expect(splitter.feed("\n")).toEqual([piece.repeat(count)]);
    return performance.now() - began;
  };
  time(1_000);
  // Work that grows with the square would take a hundred times as long.
  expect(time(20_000)).toBeLessThan(40 * Math.max(time(2_000), 1));
});
