/** One session with a server of an earlier revision, over one wire: its handshake, and whose message it is that arrives. */
import { type McpError, ProtocolError } from "../../protocol/errors.js";
import { isNotification, isRequest } from "../../protocol/jsonrpc.js";
import { METHODS } from "../../protocol/methods.js";
import type {
  DiscoverResult,
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
  RequestId,
} from "../../protocol/types.js";
import type { ClientExchangeOptions } from "../../transport.js";
import type { Revision } from "../versions.js";
import { type Call, openCall } from "./call.js";
import { type Changes, createChanges } from "./changes.js";
import type { Hold } from "./clocks.js";
import { type Greeting, initialize } from "./handshake.js";
import { createLogLevel, type LogLevel, reaches } from "./log-level.js";
import { createPending } from "./pending.js";
import { type Answer, answerFor, type InputQuestion, noAnswerFor, questionOf } from "./questions.js";
import { logLevelOf } from "./requests.js";
import { discovered } from "./results.js";
import { unlessAborted } from "./waiting.js";
import type { LegacyWire } from "./wire.js";

export interface SessionOptions {
  readonly greeting: Greeting;
  readonly inputTimeoutMs: number;
  /** Stops the clocks of those who wait for the handshake. */
  readonly hold?: Hold | undefined;
  /** Answers what the server asks outside every request, or while it is open whose question it is. */
  answer(question: InputQuestion, signal: AbortSignal): Promise<unknown>;
  /** A request of this session waits for answers. */
  onSuspend(call: Call): void;
  onOver(call: Call): void;
  /** The session has ended by itself. */
  onEnd(): void;
}

export interface Session {
  readonly revision: Revision;
  readonly discovered: DiscoverResult;
  call(request: JSONRPCRequest, options: ClientExchangeOptions): Promise<JSONRPCResponse>;
  listen(request: JSONRPCRequest, options: ClientExchangeOptions): Promise<JSONRPCResponse>;
  /** The server has forgotten the session: subscriptions are lost, requests on their way are left to their own fate. */
  retire(why: (request: JSONRPCRequest) => McpError): void;
  close(why: (request: JSONRPCRequest) => McpError): Promise<void>;
}

/** Questions answered at the same time outside of requests: more than any server asks. */
const MAX_LOOSE_QUESTIONS = 32;

/** Opens a session. On failure the wire is closed. @throws McpError what {@link initialize} throws. */
export async function openSession(wire: LegacyWire, options: SessionOptions): Promise<Session> {
  const { greeting } = options;
  const pending = createPending(wire);
  const calls = new Set<Call>();
  /** Questions that are being answered outside of requests. */
  const loose = new Map<RequestId, AbortController>();
  let changes: Changes | undefined;

  wire.receive({
    message(message, about) {
      if (isRequest(message)) receiveRequest(message, about);
      else if (isNotification(message)) receiveNotification(message, about);
      else return pending.settle(message, about);
      return true;
    },
    unreadable: pending.fail,
    missed: (why) => changes?.fail(why),
    closed(why) {
      pending.failAll(why);
      end(why);
      options.onEnd();
    },
  });

  function receiveRequest(request: JSONRPCRequest, about: RequestId | undefined): void {
    const { id, method } = request;
    if (method === "ping") {
      respond(id, { result: {} }).catch(() => {});
      return;
    }
    try {
      const question = questionOf(request, greeting.capabilities);
      const call = callThatAsks(about);
      if (call) call.ask(id, question);
      else void answerLoose(id, question);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      respond(id, { error: error.toErrorObject() }).catch(() => {});
    }
  }

  /** Whose question it is: told by the stream, or where there is only one that may ask. */
  function callThatAsks(about: RequestId | undefined): Call | undefined {
    const able = [...calls].filter(({ request }) => METHODS.get(request.method)?.mayAskForInput !== false);
    if (about !== undefined) return able.find(({ id }) => id === about);
    const running = able.filter(({ isAttended }) => isAttended);
    const [first, second] = running.length > 0 ? running : able;
    return second === undefined ? first : undefined;
  }

  async function answerLoose(id: RequestId, question: InputQuestion): Promise<void> {
    const { method } = question;
    if (loose.size >= MAX_LOOSE_QUESTIONS) {
      const why = `${MAX_LOOSE_QUESTIONS} questions are being answered already`;
      return respond(id, noAnswerFor(method, why)).catch(() => {});
    }
    const controller = new AbortController();
    loose.set(id, controller);
    const answer = await options.answer(question, controller.signal).then(
      (response): Answer => ({ result: answerFor(method, response, agreement.revision) }),
      (error: unknown) => noAnswerFor(method, error instanceof Error ? error.message : String(error)),
    );
    loose.delete(id);
    if (!controller.signal.aborted) await respond(id, answer).catch(() => {});
  }

  function respond(id: RequestId, answer: Answer, hold?: Hold): Promise<void> {
    return wire.send({ jsonrpc: "2.0", id, ...answer }, hold);
  }

  function receiveNotification(notification: JSONRPCNotification, about: RequestId | undefined): void {
    const { method, params } = notification;
    if (method === "notifications/cancelled") withdraw(params?.["requestId"] as RequestId);
    else if (method === "notifications/message") receiveLogMessage(notification, about);
    else if (method === "notifications/progress") for (const call of calls) call.notify(notification);
    else if (changes?.notify(notification) !== true) {
      const [only, another] = callsAbout(about);
      if (another === undefined) only?.notify(notification);
    }
  }

  function withdraw(id: RequestId): void {
    for (const call of calls) if (call.withdraw(id)) return;
    loose.get(id)?.abort(new Error("The server withdrew its request"));
  }

  /** A log message carries nothing that says whose it is: it is for all who asked for its level. */
  function receiveLogMessage(notification: JSONRPCNotification, about: RequestId | undefined): void {
    const level = notification.params?.["level"];
    const takers = callsAbout(about).filter(({ logLevel }) => logLevel && reaches(level, logLevel));
    for (const call of takers) call.notify(notification);
    // Outside of requests only subscriptions are left to take it.
    if (takers.length === 0) changes?.log(notification);
  }

  function callsAbout(about: RequestId | undefined): Call[] {
    const attended = [...calls].filter(({ isAttended }) => isAttended);
    return about === undefined ? attended : attended.filter(({ id }) => id === about);
  }

  function end(why: (request: JSONRPCRequest) => McpError): void {
    changes?.fail(why);
    for (const controller of loose.values()) controller.abort(new Error("The session has ended"));
  }

  const agreement = await initialize(pending, greeting, options.hold);
  const { revision } = agreement;
  const offered = discovered(agreement.result, revision.version);
  changes = createChanges(pending, offered.capabilities);
  const levels: LogLevel = createLogLevel(pending, offered.capabilities.logging !== undefined, () =>
    [...calls].map(({ logLevel }) => logLevel),
  );
  await wire.send({ jsonrpc: "2.0", method: "notifications/initialized" }, options.hold);
  await wire.agreed?.(revision);

  return {
    revision,
    discovered: offered,
    async call(request, exchange) {
      await levels.want(logLevelOf(request));
      exchange.signal?.throwIfAborted();
      const call = openCall(request, {
        pending,
        revision,
        visitsPages:
          greeting.capabilities.elicitation?.url !== undefined &&
          METHODS.get(request.method)?.mayAskForInput !== false,
        inputTimeoutMs: options.inputTimeoutMs,
        respond,
        onSuspend: options.onSuspend,
        onOver(call) {
          calls.delete(call);
          options.onOver(call);
        },
      });
      calls.add(call);
      return call.attend(request, exchange);
    },
    async listen(request, exchange) {
      await levels.want(logLevelOf(request));
      await unlessAborted(wire.hearing?.() ?? Promise.resolve(), exchange.signal);
      exchange.signal?.throwIfAborted();
      return (changes as Changes).listen(request, exchange);
    },
    retire(why) {
      end(why);
      wire.retire?.();
    },
    close(why) {
      end(why);
      pending.failAll(why);
      return wire.close();
    },
  };
}
