/** The message loop of a server on lines: requests in, notifications and responses out. It owns no stream. */

import type { LegacyLimits } from "../legacy-options.js";
import { ErrorCode } from "../protocol/errors.js";
import { InFlightMap } from "../protocol/in-flight.js";
import {
  DecodeError,
  decodeMessage,
  encodeMessage,
  errorResponse,
  isErrorResponse,
  isNotification,
  isRequest,
  isRequestId,
} from "../protocol/jsonrpc.js";
import { MetaKey } from "../protocol/meta.js";
import type {
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
  RequestId,
} from "../protocol/types.js";
import type { RequestHandler } from "../transport.js";
import { earlierClient } from "./earlier-client.js";
import type { LineProblem } from "./lines.js";
import { describe, type OpenExchange, openExchange } from "./open-exchange.js";
import type { Outbox } from "./outbox.js";
import { idOfOverlong } from "./overlong.js";

export interface AnsweringOptions {
  /** Requests being worked on at once. */
  readonly maxInFlight: number;
  /** How clients of the initialize era are served; undefined where they are refused. */
  readonly legacy?: LegacyLimits | undefined;
  /** Told, in one sentence, of what is ignored or went wrong without an answer of its own. */
  readonly onProblem: (text: string) => void;
}

export interface Answering {
  /** One line of the client. */
  receive(line: string): void;
  /** One line of the client that could not be read. */
  refuse(problem: LineProblem): void;
  /** Resolves when no handler runs any more. */
  idle(): Promise<void>;
  /** The client has said its last word, so it can answer no question. */
  hangUp(): void;
  /** Ends the subscriptions that were opened here, and no others. */
  endSubscriptions(): void;
  /** The client is gone: aborts everything and answers nothing. */
  abandon(): void;
  /** There is no time left: answers everything that is open with an error, and aborts it. */
  giveUp(): void;
}

const LISTEN = "subscriptions/listen";

export function answerLines(handler: RequestHandler, outbox: Outbox, options: AnsweringOptions): Answering {
  const { maxInFlight, onProblem } = options;
  const open = new InFlightMap<RequestId, OpenExchange>();
  // Handlers at work: those of cancelled requests too, until they return.
  let running = 0;
  const whenIdle = new Set<() => void>();
  const earlier =
    options.legacy && earlierClient(handler, outbox, within(options.legacy, maxInFlight), onProblem);

  function receive(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = decodeMessage(line);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      const batch = earlier?.hasBegun ? readBatch(line) : undefined;
      if (batch !== undefined) earlier?.receiveBatch(batch);
      else send(errorResponse(error.id, error.toErrorObject()));
      return;
    }
    if (isRequest(message)) {
      if (earlier?.sends(message)) earlier.receive(message);
      else serve(message);
    } else if (isNotification(message)) {
      if (message.method === "notifications/cancelled" && cancel(message)) return;
      if (earlier?.hasBegun) earlier.receive(message);
    } else if (earlier?.hasBegun) earlier.receive(message);
    else onProblem("ignored a response: clients send none in this revision");
  }

  function refuse(problem: LineProblem): void {
    if (problem.kind === "not_utf8") {
      refuseWith(undefined, ErrorCode.ParseError, "Parse error: the message is not valid UTF-8");
      return;
    }
    const { bytes, limit, head, tail } = problem;
    const why = `Invalid request: the message has ${bytes} bytes, and at most ${limit} are accepted (maxMessageBytes)`;
    refuseWith(idOfOverlong(head, tail), ErrorCode.InvalidRequest, why);
  }

  function refuseWith(id: RequestId | undefined, code: number, message: string): void {
    send(errorResponse(id, { code, message }));
  }

  function serve(request: JSONRPCRequest): void {
    const { id } = request;
    if (open.has(id)) {
      const why = `Invalid request: a request with the id ${JSON.stringify(id)} is in flight already`;
      refuseWith(id, ErrorCode.InvalidRequest, why);
      return;
    }
    if (running >= maxInFlight) {
      const why = `Internal error: ${maxInFlight} requests are in flight, the most that are served at once (maxInFlight)`;
      refuseWith(id, ErrorCode.InternalError, why);
      return;
    }
    const exchange = openExchange(request, outbox, onProblem);
    open.add(id, exchange);
    running++;
    // Against its contract a handler may throw or reject: the client must not wait for ever.
    const fail = (error: unknown) => settle(exchange, failed(id, error));
    let answer: JSONRPCResponse | Promise<JSONRPCResponse>;
    try {
      answer = handler.handle(request, exchange);
    } catch (error) {
      fail(error);
      return;
    }
    if (answer instanceof Promise) answer.then((response) => settle(exchange, response), fail);
    else settle(exchange, answer);
  }

  function settle(exchange: OpenExchange, response: JSONRPCResponse): void {
    running--;
    const { id, method } = exchange.request;
    // Another request may have taken the id of a cancelled one.
    if (open.get(id) === exchange) {
      open.delete(id);
      exchange.end();
      if (method === LISTEN && !isErrorResponse(response)) send(torndown(id));
      send(response);
    }
    if (running === 0) for (const resolve of whenIdle) resolve();
  }

  function send(message: JSONRPCMessage): void {
    let line: string;
    try {
      line = encodeMessage(message);
    } catch (error) {
      line = encodeMessage(failed((message as JSONRPCResponse).id, error));
    }
    outbox.send(line);
  }

  function failed(id: RequestId | undefined, error: unknown): JSONRPCResponse {
    onProblem(`request ${JSON.stringify(id)} has no answer that could be sent: ${describe(error)}`);
    return errorResponse(id, { code: ErrorCode.InternalError, message: "Internal error" });
  }

  /** "Invalid cancellation notifications SHOULD be ignored" (patterns/cancellation, Error Handling). */
  function cancel({ params }: JSONRPCNotification): boolean {
    const id = params?.["requestId"];
    const exchange = isRequestId(id) ? open.get(id) : undefined;
    if (!exchange) return false;
    const reason = params?.["reason"];
    drop(exchange, `The client cancelled the request${typeof reason === "string" ? `: ${reason}` : ""}`);
    return true;
  }

  function drop(exchange: OpenExchange, why: string): void {
    open.delete(exchange.request.id);
    exchange.end();
    exchange.abort(why);
  }

  return {
    receive,
    refuse,
    async idle() {
      if (running > 0) await new Promise<void>((resolve) => whenIdle.add(resolve));
      await earlier?.idle();
    },
    hangUp: () => earlier?.hangUp(),
    endSubscriptions() {
      for (const exchange of open) {
        if (exchange.request.method !== LISTEN) continue;
        const { id } = exchange.request;
        drop(exchange, "The connection is closing");
        send(torndown(id));
        send({
          jsonrpc: "2.0",
          id,
          result: { resultType: "complete", _meta: { [MetaKey.subscriptionId]: id } },
        });
      }
    },
    abandon() {
      for (const exchange of open) drop(exchange, "The client is gone");
      earlier?.abandon();
    },
    giveUp() {
      for (const exchange of open) {
        drop(exchange, "The server is shutting down");
        const why = "Internal error: the server shut down before the request was done";
        refuseWith(exchange.request.id, ErrorCode.InternalError, why);
      }
      earlier?.giveUp();
    },
  };
}

/** What bounds requests bounds those of earlier clients too. */
function within(limits: LegacyLimits, maxInFlight: number): LegacyLimits {
  return { ...limits, maxInFlight: Math.min(limits.maxInFlight, maxInFlight) };
}

/** The server "MUST send `notifications/cancelled`" when it ends a subscription itself (patterns/cancellation). */
function torndown(id: RequestId): JSONRPCNotification {
  const params = { _meta: { [MetaKey.subscriptionId]: id }, requestId: id };
  return { jsonrpc: "2.0", method: "notifications/cancelled", params };
}

/** The members of an array, which one earlier revision takes as several messages; undefined for any other line. */
function readBatch(line: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
