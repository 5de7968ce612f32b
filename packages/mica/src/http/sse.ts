/**
 * Server-Sent Events: writing one message as an event, and reading a stream of events piece by piece. Streams of the
 * current revision are not resumable (transports/streamable-http, Receiving Messages); those of earlier ones may be,
 * so ids and retry times are reported to whoever asks for them.
 */
import { McpError } from "../protocol/errors.js";

/** A comment, which readers ignore: it keeps intermediaries from closing a quiet stream. */
export const KEEP_ALIVE = ":\n\n";

/** One message as an event. The text must be one line, as JSON without indentation is. */
export function sseEvent(json: string): string {
  return `event: message\ndata: ${json}\n\n`;
}

/** One event that was read. */
export interface SseEvent {
  /** `message` where the stream named none. */
  readonly event: string;
  readonly data: string;
}

export interface SseParser {
  /**
   * Takes the next piece of the stream, cut anywhere. An event that the stream leaves unfinished is dropped.
   *
   * @throws McpError `limit_exceeded` where an event is longer than allowed; the parser is of no use after that.
   */
  push(chunk: Uint8Array | string): void;
}

export interface SseParserOptions {
  /** Longest event, in UTF-16 units of its lines. Default 16 Mi. */
  readonly maxEventLength?: number | undefined;
  /** Told of the id of an event that is complete, with or without data, before the event itself. */
  readonly onId?: ((id: string) => void) | undefined;
  /** Told of milliseconds to wait before the stream is opened again. */
  readonly onRetry?: ((ms: number) => void) | undefined;
}

export const DEFAULT_MAX_EVENT_LENGTH = 16 * 1024 * 1024;

/**
 * Makes a reader of one event stream. Its work is linear in what it is given, however that is cut.
 *
 * @example
 * const parser = createSseParser(({ data }) => receive(JSON.parse(data)));
 * for await (const chunk of body) parser.push(chunk);
 */
export function createSseParser(
  onEvent: (event: SseEvent) => void,
  { maxEventLength = DEFAULT_MAX_EVENT_LENGTH, onId, onRetry }: SseParserOptions = {},
): SseParser {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let partial: string[] = [];
  let data: string[] = [];
  let event = "";
  let id: string | undefined;
  let length = 0;
  let atStart = true;
  let skipLineFeed = false;

  function count(more: number): void {
    length += more;
    if (length > maxEventLength) {
      throw new McpError(
        "limit_exceeded",
        `An event of the stream is longer than maxEventLength, ${maxEventLength}`,
      );
    }
  }

  function line(text: string): void {
    if (text === "") {
      dispatch();
      return;
    }
    const colon = text.indexOf(":");
    const field = colon < 0 ? text : text.slice(0, colon);
    if (field !== "data" && field !== "event") {
      // What is ignored is not kept, so hours of comments never reach the limit.
      length -= text.length + 1;
      if (onId && field === "id") id = fieldValue(text, colon);
      else if (onRetry && field === "retry" && /^\d+$/.test(fieldValue(text, colon))) {
        onRetry(Number(fieldValue(text, colon)));
      }
      return;
    }
    const value = fieldValue(text, colon);
    if (field === "data") data.push(value);
    else event = value;
  }

  function dispatch(): void {
    const done = data.length > 0 ? { event: event || "message", data: data.join("\n") } : undefined;
    data = [];
    event = "";
    length = 0;
    if (id !== undefined && !id.includes("\0")) onId?.(id);
    id = undefined;
    if (done) onEvent(done);
  }

  function read(text: string): void {
    let from = 0;
    if (skipLineFeed && text[0] === "\n") from = 1;
    skipLineFeed = false;
    // Each kind of line end is searched once past the last find, so that a stream without one stays linear.
    let feed = text.indexOf("\n", from);
    let carriage = text.indexOf("\r", from);
    while (feed >= 0 || carriage >= 0) {
      const end = carriage < 0 || (feed >= 0 && feed < carriage) ? feed : carriage;
      count(end - from + 1);
      partial.push(text.slice(from, end));
      const whole = partial.length === 1 ? partial[0]! : partial.join("");
      partial = [];
      from = end + 1;
      if (end === carriage) {
        if (from === text.length) skipLineFeed = true;
        else if (feed === from) from += 1;
        carriage = text.indexOf("\r", from);
      }
      if (feed >= 0 && feed < from) feed = text.indexOf("\n", from);
      line(whole);
    }
    if (from < text.length) {
      count(text.length - from);
      partial.push(text.slice(from));
    }
  }

  return {
    push(chunk) {
      let text = typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
      if (text === "") return;
      if (atStart && text.charCodeAt(0) === 0xfeff) text = text.slice(1);
      atStart = false;
      read(text);
    },
  };
}

/** What follows the colon of a line, less one space. */
function fieldValue(text: string, colon: number): string {
  return colon < 0 ? "" : text.slice(text[colon + 1] === " " ? colon + 2 : colon + 1);
}
