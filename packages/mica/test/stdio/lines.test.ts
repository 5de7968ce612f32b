import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createLineReader, type LineProblem } from "../../src/stdio/lines.js";
import { idOfOverlong } from "../../src/stdio/overlong.js";

type Seen = string | LineProblem;

function read(chunks: Iterable<Buffer>, maxBytes = 1000, end = true): Seen[] {
  const seen: Seen[] = [];
  const reader = createLineReader({
    maxBytes,
    onLine: (text) => seen.push(text),
    onProblem: (problem) => seen.push(problem),
  });
  for (const chunk of chunks) reader.feed(chunk);
  if (end) reader.end();
  return seen;
}

function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  chunks.push(bytes.subarray(at));
  return chunks;
}

const kinds = (seen: Seen[]) => seen.map((one) => (typeof one === "string" ? one : one.kind));

describe("lines", () => {
  it("are the same however the bytes are cut", () => {
    const line = fc.oneof(
      fc.json(),
      fc.string({ unit: "grapheme", maxLength: 40 }).map((text) => text.replace(/[\r\n]/g, "")),
      fc.constantFrom("", " ", "\ufeff{}", "\ufeff", "x".repeat(61), "\u{1f600}".repeat(30)),
    );
    const ending = fc.constantFrom("\n", "\r\n");
    const property = fc.property(
      fc.array(fc.tuple(line, ending), { maxLength: 20 }),
      fc.array(fc.nat(30), { maxLength: 60 }),
      (lines, sizes) => {
        const bytes = Buffer.from(lines.map(([text, end]) => text + end).join(""));
        const whole = read([bytes], 60);
        expect(read(cut(bytes, sizes), 60)).toEqual(whole);
        expect(read(cut(bytes, Array(bytes.length).fill(1)), 60)).toEqual(whole);
        const expected = lines.flatMap(([text, end]) => {
          if (Buffer.byteLength(text + end) - 1 > 60) return ["too_long"];
          const plain = text.replace(/^\ufeff/, "");
          return plain.trim() === "" ? [] : [plain];
        });
        expect(kinds(whole)).toEqual(expected);
      },
    );
    fc.assert(property, { numRuns: 300 });
  });

  it("end with \\n or \\r\\n, and blank ones are none", () => {
    expect(read([Buffer.from("a\r\n\n  \t\n\r\nb\n")])).toEqual(["a", "b"]);
  });

  it("keep a carriage return that is not at their end", () => {
    expect(read([Buffer.from("a\rb\n")])).toEqual(["a\rb"]);
  });

  it("lose a byte order mark at their beginning, even when it is cut in two", () => {
    const bytes = Buffer.from('\ufeff{"id":1}\n\ufeff{"id":2}\n');
    for (let at = 0; at <= bytes.length; at++)
      expect(read(cut(bytes, [at]))).toEqual(['{"id":1}', '{"id":2}']);
  });

  it("are complete only at their newline, or at the end of the stream", () => {
    expect(read([Buffer.from('{"id":1}')], 1000, false)).toEqual([]);
    expect(read([Buffer.from('{"id":1}')])).toEqual(['{"id":1}']);
  });

  it("are reported when they are not UTF-8, and the next one is read", () => {
    const bytes = Buffer.concat([Buffer.from([0x7b, 0xff, 0xfe, 0x7d, 0x0a]), Buffer.from("next\n")]);
    expect(read([bytes])).toEqual([{ kind: "not_utf8", text: "{\ufffd\ufffd}" }, "next"]);
  });

  it("may hold the replacement character itself", () => {
    expect(read([Buffer.from("\ufffd\n")])).toEqual(["\ufffd"]);
  });

  it("may be exactly as long as the limit; one byte more is reported once, and the next one is read", () => {
    expect(read([Buffer.from(`${"a".repeat(10)}\n`)], 10)).toEqual(["a".repeat(10)]);
    const bytes = Buffer.from(`${"a".repeat(11)}\nnext\n`);
    for (let at = 0; at <= bytes.length; at++) {
      const seen = read(cut(bytes, [at]), 10);
      expect(seen).toEqual([
        { kind: "too_long", bytes: 11, limit: 10, head: "a".repeat(11), tail: "a".repeat(11) },
        "next",
      ]);
    }
  });

  it("are not held when they are too long", () => {
    const reader = createLineReader({ maxBytes: 1000, onLine() {}, onProblem() {} });
    const alloc = vi.spyOn(Buffer, "allocUnsafe");
    const concat = vi.spyOn(Buffer, "concat");
    for (let i = 0; i < 1000; i++) reader.feed(Buffer.alloc(1000, "a"));
    const held = [...alloc.mock.results, ...concat.mock.results].map(({ value }) => (value as Buffer).length);
    expect(Math.max(...held)).toBeLessThan(10_000);
  });

  it("that are too long show both of their ends", () => {
    const text = `{"id":"first",${"x".repeat(5000)},"id":"last"}`;
    const [problem] = read(cut(Buffer.from(`${text}\n`), Array(100).fill(7)), 2000);
    expect(problem).toMatchObject({ kind: "too_long", bytes: text.length });
    const { head, tail } = problem as Extract<LineProblem, { kind: "too_long" }>;
    expect(text.startsWith(head)).toBe(true);
    expect(text.endsWith(tail)).toBe(true);
    expect(Math.min(head.length, tail.length)).toBeGreaterThan(1000);
  });
});

describe("the cost of a line", () => {
  afterEach(() => void vi.restoreAllMocks());

  /** Bytes copied and bytes searched while one message arrives in pieces. */
  function cost(size: number, piece: number): { copied: number; searched: number; lines: number } {
    const message = Buffer.alloc(size, "a");
    message[size - 1] = 10;
    let copied = 0;
    let searched = 0;
    let lines = 0;
    const { copy, indexOf } = Buffer.prototype;
    const { concat } = Buffer;
    vi.spyOn(Buffer.prototype, "copy").mockImplementation(function (this: Buffer, ...args) {
      const count = Reflect.apply(copy, this, args) as number;
      copied += count;
      return count;
    });
    vi.spyOn(Buffer, "concat").mockImplementation((list, total) => {
      const joined = concat(list, total);
      copied += joined.length;
      return joined;
    });
    vi.spyOn(Buffer.prototype, "indexOf").mockImplementation(function (this: Buffer, ...args: unknown[]) {
      searched += this.length - Number(args[1] ?? 0);
      return Reflect.apply(indexOf, this, args) as number;
    });
    const reader = createLineReader({ maxBytes: size, onLine: () => lines++, onProblem: () => lines-- });
    for (let at = 0; at < size; at += piece) reader.feed(message.subarray(at, at + piece));
    vi.restoreAllMocks();
    return { copied, searched, lines };
  }

  it("grows with its length, not with the number of its chunks", () => {
    const size = 8 * 1024 * 1024;
    for (const piece of [64 * 1024, 1000, 16]) {
      const { copied, searched, lines } = cost(size, piece);
      expect(lines).toBe(1);
      expect(searched).toBe(size);
      // Once into the buffer, and at most twice more while the buffer doubles.
      expect(copied).toBeGreaterThanOrEqual(size - 1);
      expect(copied).toBeLessThanOrEqual(3 * size);
    }
  });
});

describe("the id of a message that was too long", () => {
  const long = "x".repeat(10);
  it.each([
    [`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"${long}`, "", 7],
    [`{ "method" : "tools/call", "id" : "a\\"b", "params":`, "", 'a"b'],
    [`{"jsonrpc":"2.0","method":"tools/call","params":{"id":3,`, `${long}"},"id":0}`, 0],
    [`{"params":{`, `${long}"},"id":"","jsonrpc":"2.0","method":"tools/call"}`, ""],
    [`\ufeff{"id":-1,`, "", -1],
    // Not at the top of the message:
    [`{"params":{"id":3,"${long}`, `${long}","id":4}}`, undefined],
    [`{"jsonrpc":"2.0","method":"tools/call","params":{"id":3`, `${long}"}}`, undefined],
    // Not an id:
    [`{"id":1.5,`, "", undefined],
    [`{"id":null,`, "", undefined],
    [`[{"id":1,`, "", undefined],
  ])("of %s ... %s is %j", (head, tail, id) => {
    expect(idOfOverlong(head, tail)).toBe(id);
  });
});
