/** Reads answers of one HTTP/1.1 connection, one after the other: their status and their whole body. */

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
  readonly isEvents: boolean;
  /** Whether the connection may be used again. */
  readonly keepsAlive: boolean;
}

/** Bytes of one answer, head included. */
const MOST_BYTES = 16 * 1024 * 1024;

export interface AnswerReader {
  /** @returns the answer where it is whole. @throws Error where it is none of HTTP/1.1. */
  feed(chunk: Buffer): HttpAnswer | undefined;
  /** Where the end of the connection is the end of the answer. */
  end(): HttpAnswer | undefined;
}

export function readAnswers(): AnswerReader {
  let pending: Buffer = Buffer.alloc(0);
  return {
    feed(chunk) {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      if (pending.length > MOST_BYTES) throw new Error(`the answer is longer than ${MOST_BYTES} bytes`);
      const read = parse(pending, false);
      if (read !== undefined) pending = pending.subarray(read.length);
      return read?.answer;
    },
    end: () => parse(pending, true)?.answer,
  };
}

function parse(bytes: Buffer, ended: boolean): { answer: HttpAnswer; length: number } | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) {
    if (bytes.length > 4 && bytes.toString("latin1", 0, 5) !== "HTTP/") throw new Error("not HTTP");
    return undefined;
  }
  const head = bytes.toString("latin1", 0, headEnd);
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1]);
  if (!(status >= 100)) throw new Error("not HTTP/1.1");
  const begin = headEnd + 4;
  if (status < 200) {
    const rest = parse(bytes.subarray(begin), ended);
    return rest && { answer: rest.answer, length: rest.length + begin };
  }
  const header = (name: string) => new RegExp(`^${name}:[ \\t]*(.*?)[ \\t]*$`, "im").exec(head)?.[1];
  const answerWith = (body: string, keepsAlive: boolean): HttpAnswer => ({
    status,
    body,
    isEvents: /^text\/event-stream/i.test(header("content-type") ?? ""),
    keepsAlive: keepsAlive && !/\bclose\b/i.test(header("connection") ?? "") && !head.startsWith("HTTP/1.0"),
  });
  if (/\bchunked\b/i.test(header("transfer-encoding") ?? "")) {
    const chunks = dechunk(bytes, begin);
    return chunks && { answer: answerWith(chunks.body, true), length: chunks.end };
  }
  const length = header("content-length");
  if (length === undefined && status !== 204 && status !== 304) {
    return ended
      ? { answer: answerWith(bytes.toString("utf8", begin), false), length: bytes.length }
      : undefined;
  }
  const end = begin + Number(length ?? 0);
  if (!Number.isSafeInteger(end)) throw new Error(`content-length: ${length}`);
  return bytes.length < end
    ? undefined
    : { answer: answerWith(bytes.toString("utf8", begin, end), true), length: end };
}

/** RFC 9112, section 7.1; undefined where the last chunk is still to come. */
function dechunk(bytes: Buffer, begin: number): { body: string; end: number } | undefined {
  const parts: Buffer[] = [];
  for (let at = begin; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    if (!(size >= 0)) throw new Error("a chunk without a size");
    at = lineEnd + 2;
    if (size === 0) {
      // Trailers end with an empty line.
      const end = bytes.indexOf("\r\n", at) === at ? at + 2 : bytes.indexOf("\r\n\r\n", at) + 4;
      if (end < at) return undefined;
      return bytes.length < end ? undefined : { body: Buffer.concat(parts).toString("utf8"), end };
    }
    if (bytes.length < at + size + 2) return undefined;
    parts.push(bytes.subarray(at, at + size));
    at += size + 2;
  }
}
