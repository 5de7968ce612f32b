/** Reads the body of a POST (transports/streamable-http, Sending Messages). Pure, and shared by both bindings. */
import { ErrorCode } from "../protocol/errors.js";
import { DecodeError, decodeMessage, isNotification, isRequest } from "../protocol/jsonrpc.js";
import type { JSONRPCMessage, JSONRPCRequest } from "../protocol/types.js";
import type { RequestHandler } from "../transport.js";
import type { AcceptedForms } from "./admit.js";
import { type Answer, emptyAnswer, errorAnswer, refuse } from "./answer.js";
import { checkHeaders, type ReadHeader } from "./check.js";
import type { EarlierClients } from "./earlier-clients.js";
import type { HttpLimits } from "./limits.js";

/** What became of a body: a request to serve, what an earlier client sent, or an answer that settles it. */
export type Received =
  | { readonly request: JSONRPCRequest; readonly answer?: undefined }
  | { readonly earlier: unknown; readonly answer?: undefined; readonly request?: undefined }
  | { readonly answer: Answer; readonly request?: undefined };

/**
 * Reads one request or one notification, and compares a request with its headers.
 *
 * @param text The body, or undefined where its bytes are not UTF-8.
 */
export function receive(
  text: string | undefined,
  header: ReadHeader,
  forms: AcceptedForms,
  handler: RequestHandler,
  limits: HttpLimits,
  earlier?: EarlierClients,
): Received {
  const version = header("mcp-protocol-version");
  if (earlier !== undefined && (version === undefined || !handler.supportedVersions.includes(version))) {
    const body = parse(text);
    if (earlier.sends(version, body)) return { earlier: body };
  }
  let message: JSONRPCMessage;
  try {
    if (text === undefined) throw new DecodeError(ErrorCode.ParseError, "Parse error: the body is not UTF-8");
    message = decodeMessage(text, limits.maxDepth);
  } catch (error) {
    if (error instanceof DecodeError) return { answer: errorAnswer(400, error.id, error.toErrorObject()) };
    throw error;
  }
  if (earlier?.sends(version, message)) return { earlier: message };
  if (!isRequest(message)) {
    // This revision gives notifications nothing to do over HTTP: closing the stream is what cancels.
    if (isNotification(message)) return { answer: emptyAnswer(202) };
    return {
      answer: refuse(400, "Invalid request: clients send requests and notifications, never responses"),
    };
  }
  if (!forms.stream && message.method === "subscriptions/listen") {
    const reason = "subscriptions/listen answers by text/event-stream: accept must list it";
    return { answer: errorAnswer(406, message.id, { code: ErrorCode.InvalidRequest, message: reason }) };
  }
  const mismatch = checkHeaders(header, message, handler);
  return mismatch ? { answer: errorAnswer(400, message.id, mismatch) } : { request: message };
}

/** The value of a body, or undefined where it has none. What is wrong with it is said by whoever reads it in earnest. */
function parse(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch {
    return undefined;
  }
}
