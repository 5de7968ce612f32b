/** Answers of an HTTP/1.1 connection, in whatever pieces they come. */
import { describe, expect, it } from "vitest";
import { type HttpAnswer, readAnswers } from "../../../src/engine/load/http-answer.js";

const ANSWERS: [name: string, bytes: string, expected: Partial<HttpAnswer>][] = [
  [
    "with a length",
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\nzü1",
    { status: 200, body: "zü1", keepsAlive: true, isEvents: false },
  ],
  [
    "in chunks that hold what ends them",
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n0\r\n\r\n\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n",
    { status: 200, body: "0\r\n\r\n0123456789", isEvents: true, keepsAlive: true },
  ],
  ["without a body", "HTTP/1.1 204 No Content\r\n\r\n", { status: 204, body: "" }],
  [
    "after an interim one",
    "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
    { status: 200, body: "x" },
  ],
  [
    "that closes",
    "HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    { status: 503, body: "", keepsAlive: false },
  ],
];

describe("an answer", () => {
  it.each(ANSWERS)("%s is read whole, byte by byte, and twice in a row", (_, text, expected) => {
    const bytes = Buffer.from(text);
    const reader = readAnswers();
    for (let round = 0; round < 2; round++) {
      for (let at = 0; at < bytes.length - 1; at++)
        expect(reader.feed(bytes.subarray(at, at + 1))).toBe(undefined);
      expect(reader.feed(bytes.subarray(bytes.length - 1))).toMatchObject(expected);
    }
    expect(readAnswers().feed(bytes)).toMatchObject(expected);
  });

  it("without a length ends with the connection", () => {
    const reader = readAnswers();
    expect(reader.feed(Buffer.from("HTTP/1.1 200 OK\r\n\r\nabc"))).toBe(undefined);
    expect(reader.end()).toMatchObject({ body: "abc", keepsAlive: false });
  });

  it.each([
    ["SSH-2.0-OpenSSH\r\n\r\n", "not HTTP"],
    ["HTTP/2 200\r\n\r\n", "not HTTP/1.1"],
    ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "a chunk without a size"],
    ["HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", "content-length: many"],
  ])("%j is none", (text, why) => {
    expect(() => readAnswers().feed(Buffer.from(text))).toThrow(why);
  });
});
