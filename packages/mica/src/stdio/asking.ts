/**
 * The client's side of the lines: requests in flight, and whose message it is that arrives. It owns no process.
 *
 * All messages share one channel (transports/stdio, Receiving Messages), so each is routed by what it carries:
 * a response by its id; progress by its token; what belongs to a subscription by the id of its request. A log
 * message carries nothing, so it goes to every request in flight that asked for messages of its level; as long
 * as requests that set a log level are made one at a time, that is exactly the right one.
 */
import { ErrorCode, McpError } from "../protocol/errors.js";
import {
  DecodeError,
  decodeMessage,
  isErrorResponse,
  isNotification,
  isObject,
  isRequestId,
  isResponse,
} from "../protocol/jsonrpc.js";
import { LOGGING_LEVELS, MetaKey } from "../protocol/meta.js";
import type {
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
  LoggingLevel,
  RequestId,
} from "../protocol/types.js";
import type { ClientExchangeOptions } from "../transport.js";
import { describeRequest, metaOf, type Pending, tooLong, trackInFlight } from "./in-flight.js";
import type { LineProblem } from "./lines.js";
import { idOfOverlong } from "./overlong.js";

export interface AskingOptions {
  readonly maxMessageBytes: number;
  readonly send: (line: string) => void;
  /** Told of every line that belongs to nothing, with its text. */
  readonly onStray: (text: string) => void;
}

export interface Asking {
  /** @throws McpError where the request cannot be sent. */
  exchange(request: JSONRPCRequest, options: ClientExchangeOptions): Promise<JSONRPCResponse>;
  receive(line: string): void;
  receiveProblem(problem: LineProblem): void;
  /** Whatever still arrives in answer to this id is no surprise. */
  abandon(id: RequestId): void;
  /** Rejects everything in flight. */
  lose(why: (request: JSONRPCRequest) => McpError): void;
}

/** Milliseconds in which the response to a subscription may follow the notice of its end. */
const TEARDOWN_MS = 1000;
const NOTIFICATION = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2.0"\s*,\s*)?"method"/;
const ANSWER = /"(?:result|error)"\s*:/;

/** A message begins with a brace, after what may stand before it. */
const MAYBE_MESSAGE = /^[\s\ufeff]*\{/;

export function askOverLines({ maxMessageBytes, send, onStray }: AskingOptions): Asking {
  const inFlight = trackInFlight(send, maxMessageBytes);

  function receive(line: string): void {
    // Cheaply told apart: a program may print a great deal.
    if (!MAYBE_MESSAGE.test(line)) {
      onStray(line);
      return;
    }
    let message: JSONRPCMessage;
    try {
      message = decodeMessage(line);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      refuse(error.id, error, line);
      return;
    }
    if (isResponse(message)) receiveResponse(message, line);
    else if (isNotification(message)) receiveNotification(message, line);
    // "The server MUST NOT write JSON-RPC requests", and a client may not answer one (transports/stdio).
    else onStray(line);
  }

  /** A line that is no message, though it may have been meant as the answer to `id`. */
  function refuse(id: RequestId | undefined, cause: DecodeError, line: string): void {
    const entry = inFlight.get(id);
    // Something that was merely printed may have an `id`, too.
    if (!entry || !ANSWER.test(line)) {
      onStray(line);
      return;
    }
    const why = `The server's answer to ${describeRequest(entry.request)} is not a response: ${cause.message}`;
    entry.fail(new McpError("invalid_response", why, { cause }));
  }

  function receiveResponse(response: JSONRPCResponse, line: string): void {
    const { id } = response;
    if (id === undefined) {
      // The server could not read an id. With one request in flight, there is no doubt whose it was.
      const entry = inFlight.only();
      if (entry && isErrorResponse(response)) entry.settle({ ...response, id: entry.request.id });
      else onStray(line);
      return;
    }
    const entry = inFlight.get(id);
    if (entry) entry.settle(response);
    else if (!inFlight.isLate(id)) onStray(line);
  }

  function receiveNotification(notification: JSONRPCNotification, line: string): void {
    const { method, params } = notification;
    const subscription = isObject(params?.["_meta"]) ? params["_meta"][MetaKey.subscriptionId] : undefined;
    // What arrives for a request that is over came too late, and is no error.
    if (method === "notifications/cancelled") receiveTeardown(inFlight.get(params?.["requestId"]));
    else if (method === "notifications/progress") {
      inFlight.withProgressToken(params?.["progressToken"])?.onNotification?.(notification);
    } else if (method === "notifications/message") receiveLogMessage(notification);
    else if (isRequestId(subscription)) inFlight.get(subscription)?.onNotification?.(notification);
    else onStray(line);
  }

  function receiveLogMessage(notification: JSONRPCNotification): void {
    const rank = LOGGING_LEVELS.indexOf(notification.params?.["level"] as LoggingLevel);
    for (const { request, onNotification } of inFlight.all()) {
      const asked = metaOf(request)?.[MetaKey.logLevel];
      if (asked === undefined) continue;
      if (rank === -1 || rank >= LOGGING_LEVELS.indexOf(asked as LoggingLevel))
        onNotification?.(notification);
    }
  }

  /** Servers end a subscription with this notice; the response to it should follow (patterns/subscriptions). */
  function receiveTeardown(entry: Pending | undefined): void {
    if (entry?.request.method !== "subscriptions/listen") return;
    const { id } = entry.request;
    const endWithoutResponse = () => {
      if (inFlight.get(id) !== entry) return;
      inFlight.abandon(id);
      const result = { resultType: "complete", _meta: { [MetaKey.subscriptionId]: id } };
      entry.settle({ jsonrpc: "2.0", id, result });
    };
    setTimeout(endWithoutResponse, TEARDOWN_MS).unref();
  }

  function receiveProblem(problem: LineProblem): void {
    if (problem.kind === "not_utf8") {
      const cause = new DecodeError(ErrorCode.ParseError, "Parse error: the message is not valid UTF-8");
      refuse(idOfDamaged(problem.text), cause, problem.text);
      return;
    }
    const { head, tail, bytes, limit } = problem;
    const id = idOfOverlong(head, tail);
    const known = id !== undefined || NOTIFICATION.test(head);
    const entry = known ? inFlight.get(id) : inFlight.only();
    if (entry) entry.fail(tooLong(`The server's answer to ${describeRequest(entry.request)}`, bytes, limit));
    else onStray(`${head}... (${bytes} bytes, and at most ${limit} are accepted: maxMessageBytes)`);
  }

  return {
    exchange: inFlight.exchange,
    receive,
    receiveProblem,
    abandon: inFlight.abandon,
    lose(why) {
      for (const entry of inFlight.all()) entry.fail(why(entry.request));
    },
  };
}

function idOfDamaged(text: string): RequestId | undefined {
  try {
    const message = decodeMessage(text);
    return isResponse(message) ? message.id : undefined;
  } catch {
    return undefined;
  }
}
