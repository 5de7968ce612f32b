/** Judges a request over HTTP: first its head, then its body. Pure, and shared by both bindings. */
import { ErrorCode } from "../protocol/errors.js";
import { DecodeError, decodeMessage, isNotification, isRequest } from "../protocol/jsonrpc.js";
import type { JSONRPCMessage, JSONRPCRequest } from "../protocol/types.js";
import type { RequestHandler } from "../transport.js";
import { type Answer, emptyAnswer, errorAnswer, preflight, refuse } from "./answer.js";
import { checkHeaders, type ReadHeader } from "./check.js";
import type { HttpLimits } from "./limits.js";

/** The forms of answer that a client takes: a JSON document, an event stream. */
export interface AcceptedForms {
  readonly json: boolean;
  readonly stream: boolean;
}

const BOTH: AcceptedForms = { json: true, stream: true };

/**
 * Refuses a request that no body could save. Runs after the guard.
 *
 * @param path Where the endpoint is, or undefined where the author's own router decided that.
 */
export function refuseHead(
  method: string,
  target: string,
  header: ReadHeader,
  path: string | undefined,
  handler: RequestHandler,
  limits: HttpLimits,
): Answer | undefined {
  if (path !== undefined && pathOf(target) !== path) {
    return refuse(404, `No MCP endpoint at ${quote(pathOf(target))}: it is at ${path}`);
  }
  if (method !== "POST") {
    if (method === "OPTIONS" && header("origin") !== undefined) {
      return preflight(header("access-control-request-headers"));
    }
    // Earlier revisions stream by GET and end sessions by DELETE (Earlier Streamable HTTP Revisions).
    const versions = handler.supportedVersions.join(", ");
    return refuse(405, `${method} is not supported: this endpoint speaks MCP ${versions}, by POST only`, {
      allow: "POST",
    });
  }
  if (!isJson(header("content-type"))) {
    return refuse(415, `content-type must be application/json, got ${quote(header("content-type"))}`);
  }
  const encoding = header("content-encoding");
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    return refuse(415, `content-encoding must be absent or identity, got ${quote(encoding)}`);
  }
  const length = header("content-length");
  if (length !== undefined && Number(length) > limits.maxBodyBytes) return tooLarge(limits);
  return undefined;
}

/** 413, for a body that is announced or turns out larger than allowed. */
export function tooLarge({ maxBodyBytes }: HttpLimits): Answer {
  return refuse(413, `The body is larger than maxBodyBytes, ${maxBodyBytes} bytes`, { connection: "close" });
}

/** 503, for a request beyond those that may be in flight, or one that comes while the server shuts down. */
export function unavailable(why: string): Answer {
  return refuse(503, why, { "retry-after": "1" });
}

/** 406, for a client that takes neither form of answer. */
export function notAcceptable(accept: string | undefined): Answer {
  return refuse(406, `accept must list application/json and text/event-stream, got ${quote(accept)}`);
}

/** What became of a body: a request to serve, or an answer that settles it. */
export type Received =
  | { readonly request: JSONRPCRequest; readonly answer?: undefined }
  | { readonly answer: Answer; readonly request?: undefined };

/**
 * Reads the body of a POST: one request or one notification (Sending Messages).
 *
 * @param text The body, or undefined where its bytes are not UTF-8.
 */
export function receive(
  text: string | undefined,
  header: ReadHeader,
  forms: AcceptedForms,
  handler: RequestHandler,
  limits: HttpLimits,
): Received {
  let message: JSONRPCMessage;
  try {
    if (text === undefined) throw new DecodeError(ErrorCode.ParseError, "Parse error: the body is not UTF-8");
    message = decodeMessage(text, limits.maxDepth);
  } catch (error) {
    if (error instanceof DecodeError) return { answer: errorAnswer(400, error.id, error.toErrorObject()) };
    throw error;
  }
  if (!isRequest(message)) {
    // This revision gives notifications nothing to do over HTTP: closing the stream is what cancels.
    if (isNotification(message)) return { answer: emptyAnswer(202) };
    return { answer: refuse(400, "Invalid request: clients send requests and notifications, never responses") };
  }
  if (!forms.stream && message.method === "subscriptions/listen") {
    return { answer: refuse(406, "subscriptions/listen answers by text/event-stream: accept must list it") };
  }
  const mismatch = checkHeaders(header, message, handler);
  if (mismatch) return { answer: errorAnswer(400, message.id, mismatch) };
  return { request: message };
}

/**
 * Which forms an `Accept` admits. Clients must list both; without the header, both are taken to be listed.
 * Undefined where it admits neither.
 */
export function readAccept(accept: string | undefined): AcceptedForms | undefined {
  if (accept === undefined || accept === "application/json, text/event-stream") return BOTH;
  const admitted = new Set<string>();
  const refused = new Set<string>();
  for (const part of accept.toLowerCase().split(",")) {
    const [range = "", ...parameters] = part.split(";").map((piece) => piece.trim());
    const weightless = parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
    (weightless ? refused : admitted).add(range);
  }
  const admits = (type: string, range: string) =>
    admitted.has(type) || (!refused.has(type) && (admitted.has(range) || admitted.has("*/*")));
  const json = admits("application/json", "application/*");
  const stream = admits("text/event-stream", "text/*");
  return json || stream ? { json, stream } : undefined;
}

function isJson(contentType: string | undefined): boolean {
  return contentType === "application/json" || /^application\/json[ \t]*(?:;|$)/i.test(contentType ?? "");
}

/** The path of a request target, which may be a whole URL and may have a query. */
function pathOf(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, "");
  const end = path.search(/[?#]/);
  return end < 0 ? path : path.slice(0, end);
}

function quote(value: string | undefined): string {
  const text = JSON.stringify(value) ?? "none";
  return text.length > 120 ? `${text.slice(0, 117)}..."` : text;
}
