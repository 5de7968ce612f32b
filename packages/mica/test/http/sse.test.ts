import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSseParser, KEEP_ALIVE, type SseEvent, sseEvent } from "../../src/http/sse.js";

function parse(pieces: (string | Uint8Array)[], maxEventLength?: number): SseEvent[] {
  const events: SseEvent[] = [];
  const parser = createSseParser((event) => events.push(event), { maxEventLength });
  for (const piece of pieces) parser.push(piece);
  return events;
}

/** The standard, read naively: whole text, split into lines, the unfinished last one dropped. */
function reference(stream: string): SseEvent[] {
  const events: SseEvent[] = [];
  let data: string[] = [];
  let event = "";
  for (const line of stream
    .replace(/^\ufeff/, "")
    .split(/\r\n|\r|\n/)
    .slice(0, -1)) {
    const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!;
    if (line === "") {
      if (data.length > 0) events.push({ event: event || "message", data: data.join("\n") });
      data = [];
      event = "";
    } else if (field === "data") data.push(value);
    else if (field === "event") event = value;
  }
  return events;
}

const message = (data: string, event = "message"): SseEvent => ({ event, data });

describe("createSseParser", () => {
  it.each<[string, string, SseEvent[]]>([
    ["one event", "data: a\n\n", [message("a")]],
    ["an event with a name", "event: ping\ndata: a\n\n", [message("a", "ping")]],
    [
      "the name of one event only",
      "event: ping\ndata: a\n\ndata: b\n\n",
      [message("a", "ping"), message("b")],
    ],
    ["CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", [message("a"), message("b")]],
    ["CR", "data: a\r\rdata: b\r\r", [message("a"), message("b")]],
    ["mixed line ends", "data: a\r\ndata: b\rdata: c\n\r\n", [message("a\nb\nc")]],
    ["several data lines", "data: a\ndata:\ndata: b\n\n", [message("a\n\nb")]],
    ["one space removed, no more", "data:  a\ndata:b\n\n", [message(" a\nb")]],
    ["data without a colon", "data\n\n", [message("")]],
    ["comments", ": hello\n:\n\ndata: a\n:inside\n\n", [message("a")]],
    ["ids and retry times ignored", "id: 7\nretry: 10\ndata: a\n\n", [message("a")]],
    ["unknown fields ignored", "foo: bar\ndatax: b\ndata: a\n\n", [message("a")]],
    ["a name without data", "event: ping\n\ndata: a\n\n", [message("a")]],
    ["a byte order mark at the start", "\ufeffdata: a\n\n", [message("a")]],
    [
      "a byte order mark elsewhere",
      "data: a\n\n\ufeffdata: b\n\ndata: \ufeffc\n\n",
      [message("a"), message("\ufeffc")],
    ],
    ["an unfinished event", "data: a\n\ndata: b\n", [message("a")]],
    ["colons in the value", "data: a: b\n\n", [message("a: b")]],
  ])("reads %s", (_, stream, events) => {
    expect(parse([stream])).toEqual(events);
    expect(parse([...stream])).toEqual(events);
    expect(parse([Buffer.from(stream)])).toEqual(events);
    expect(parse([...Buffer.from(stream)].map((byte) => Uint8Array.of(byte)))).toEqual(events);
  });

  it("reads the same events, however the bytes are cut", () => {
    const piece = fc.constantFrom(
      "data: ",
      "data",
      "event: x",
      "\r",
      "\n",
      "\r\n",
      "\n\n",
      ":",
      " ",
      "é",
      "🎉",
      "\ufeff",
      "a",
      "id: 1",
    );
    const cuts = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), cuts, (pieces, sizes) => {
        const stream = pieces.join("");
        const whole = parse([stream]);
        const bytes = Buffer.from(stream);
        const parts: Uint8Array[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = sizes[turn % sizes.length]!;
          parts.push(bytes.subarray(at, at + size));
          at += size;
        }
        expect(parse(parts)).toEqual(whole);
        expect(whole).toEqual(reference(stream));
      }),
      { numRuns: 1000 },
    );
  });

  it("reads back every message that was written, with comments between", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (values) => {
        const stream = values.map((value) => KEEP_ALIVE + sseEvent(JSON.stringify(value))).join("");
        const read = parse([stream]).map(({ event, data }) => [event, JSON.parse(data)]);
        expect(read).toEqual(values.map((value) => ["message", JSON.parse(JSON.stringify(value))]));
      }),
    );
  });

  it("refuses an event over the limit, in one line or in many, finished or not", () => {
    const limit = 1000;
    expect(parse([`data: ${"a".repeat(900)}\n\n`], limit)).toHaveLength(1);
    for (const stream of [
      `data: ${"a".repeat(1000)}`,
      "data: aaaaaaaa\n".repeat(70),
      `data: ${"a".repeat(1000)}\n\n`,
    ]) {
      expect(() => parse([stream], limit)).toThrow(/longer than maxEventLength, 1000/);
      expect(() => parse([...stream], limit)).toThrow(expect.objectContaining({ code: "limit_exceeded" }));
    }
  });

  it("does not count comments towards the limit, nor one event towards the next", () => {
    expect(parse([":\r\n".repeat(2000), "data: a\n\n".repeat(2000)], 100)).toHaveLength(2000);
  });

  it("reads a large event cut into single characters without looking at any of it twice", () => {
    // Quadratic work would take hours here, and the test's own time limit would end it.
    const size = 2_000_000;
    const events: SseEvent[] = [];
    const parser = createSseParser((event) => events.push(event));
    parser.push("data: ");
    for (let at = 0; at < size; at++) parser.push("x");
    parser.push("\n\n");
    expect(events[0]!.data).toHaveLength(size);
  });

  it("reads many short lines in one piece in linear time, with one kind of line end missing", () => {
    expect(parse(["data: a\n\n".repeat(500_000)])).toHaveLength(500_000);
    expect(parse(["data: a\r\r".repeat(500_000)])).toHaveLength(500_000);
  });
});
