/** The body of a request on node:http: read by events, within the limit; and the refusal of one that is too large. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { isUtf8 } from "../protocol/utf8.js";
import type { Answer } from "./answer.js";

/** How long a client that is being refused may go on sending, so that it gets to read why. */
const LINGER_MS = 2_000;

/** Receives a whole body: its text, or undefined where its bytes are not UTF-8. */
export type OnBody = (text: string | undefined) => void;

/** Reads a body by `data` and `end` events: async iteration would cost a fifth of the throughput. */
export function readBody(req: IncomingMessage, limit: number, onBody: OnBody, onTooLarge: () => void): void {
  if (req.readableEnded) {
    onBody(parsedElsewhere(req));
    return;
  }
  let first: Buffer | undefined;
  let rest: Buffer[] | undefined;
  let size = 0;

  function onData(chunk: Buffer): void {
    size += chunk.length;
    if (size > limit) {
      req.off("data", onData);
      req.off("end", onEnd);
      onTooLarge();
    } else if (!first) first = chunk;
    else if (rest) rest.push(chunk);
    else rest = [first, chunk];
  }

  function onEnd(): void {
    const bytes = rest ? Buffer.concat(rest, size) : (first ?? Buffer.alloc(0));
    // A stream may stay open for hours, and this closure with it.
    first = rest = undefined;
    onBody(decode(bytes));
  }

  req.on("data", onData);
  req.on("end", onEnd);
}

/**
 * Sends a refusal while the body still arrives, then closes the connection. To close at once would reset it, and
 * the client would see a broken connection instead of the answer; to keep it would mean to read the whole body.
 */
export function refuseBody(req: IncomingMessage, res: ServerResponse, answer: Answer): void {
  const length = Buffer.byteLength(answer.body);
  res.writeHead(answer.status, { ...answer.headers, "content-length": length });
  res.write(answer.body);
  const finish = (): void => {
    clearTimeout(timer);
    if (!res.writableEnded) res.end();
  };
  const timer = setTimeout(finish, LINGER_MS).unref();
  req.on("end", finish);
  res.on("close", finish);
  req.resume();
}

function decode(bytes: Buffer): string | undefined {
  const text = bytes.toString("utf8");
  // Only a text that holds the replacement character can come from bytes that were not UTF-8.
  return text.includes("\ufffd") && !isUtf8(bytes) ? undefined : text;
}

/** A body parser of the author's framework has read the body, and left what it made of it in `req.body`. */
function parsedElsewhere(req: IncomingMessage): string | undefined {
  const { body } = req as IncomingMessage & { body?: unknown };
  if (typeof body === "string") return body;
  if (Buffer.isBuffer(body)) return decode(body);
  return JSON.stringify(body) ?? "";
}
