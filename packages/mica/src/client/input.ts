/** Fulfil and retry: answers what a server asks for, until its result is complete (patterns/mrtr). */
import { McpError } from "../protocol/errors.js";
import type { InputRequiredResult, InputResponse, InputResponses } from "../protocol/input-requests.js";
import { isObject } from "../protocol/jsonrpc.js";
import type { Implementation, Result } from "../protocol/types.js";
import { linkSignals, onAbort, pause } from "./deadline.js";
import { type Send, type SendOptions, shown } from "./exchange.js";
import { type Answerer, answererFor, type InputContext, type InputHandlers } from "./input-handlers.js";
import type { ClientLimits } from "./options.js";
import { resultType } from "./result.js";

export interface Fulfilled {
  readonly result: Result;
  /** Whether answers or state took part, so that the result must not be cached (server/utilities/caching). */
  readonly retried: boolean;
}

export interface Fulfiller {
  /** Sends a request as often as the server asks for it. */
  fulfil(
    send: Send,
    method: string,
    params: Record<string, unknown>,
    options: SendOptions,
  ): Promise<Fulfilled>;
  /** Answers questions that came otherwise than in `input_required`: all of them, or it rejects. */
  answerAll(
    requests: Record<string, unknown>,
    context: Pick<InputContext, "method" | "params">,
    stop: AbortSignal,
  ): Promise<InputResponses>;
  /** Answers one question that a server of an earlier revision asks outside of every request. */
  answer(question: unknown, signal: AbortSignal): Promise<InputResponse>;
}

export interface FulfillerOptions {
  readonly handlers: InputHandlers;
  readonly limits: ClientLimits;
  readonly server: () => Implementation | undefined;
  /** Called where no request with that state will follow. */
  readonly abandon: (requestState: string) => void;
  /** Aborts, with an `McpError`, when the client is closed. */
  readonly closing: AbortSignal;
}

export function createFulfiller({ handlers, limits, server, abandon, closing }: FulfillerOptions): Fulfiller {
  /** Settles when nobody is being asked: a person is never shown two forms at once. */
  let person: Promise<unknown> = Promise.resolve();

  const askPerson = <T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> => {
    const before = person;
    const turn = before.then(() => {
      signal.throwIfAborted();
      return ask();
    });
    // A question that is no longer wanted must not keep the next one waiting.
    const unwanted = new Promise<void>((resolve) => onAbort(signal, resolve));
    person = before.then(() => Promise.race([turn, unwanted])).catch(() => {});
    return turn;
  };

  const answerOne = async (answerer: Answerer, context: InputContext) => {
    try {
      const ask = () => answerer.answer(context);
      return await (answerer.asksPerson ? askPerson(context.signal, ask) : ask());
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new McpError("input_unavailable", `${shown(context.key)} could not be answered: ${why}`, {
        cause,
      });
    }
  };

  /** All answers or none: nothing half-answered is ever sent. */
  const answerAll = async (
    requests: Record<string, unknown>,
    context: Pick<InputContext, "method" | "params">,
    stop: AbortSignal,
  ): Promise<InputResponses> => {
    const entries = Object.entries(requests);
    if (entries.length > limits.maxInputRequests) {
      throw new McpError(
        "limit_exceeded",
        `${context.method}: the server asks ${entries.length} questions at once; maxInputRequests is ${limits.maxInputRequests}`,
      );
    }
    const answerers = entries.map(([key, request]) => [key, answererFor(handlers, key, request)] as const);
    stop.throwIfAborted();
    const controller = new AbortController();
    const given = { ...context, requests, server: server(), signal: controller.signal };
    let forget: (() => void) | undefined;
    try {
      const stopped = new Promise<never>((_, reject) => {
        forget = onAbort(stop, () => reject(stop.reason));
      });
      const answers = Promise.all(
        answerers.map(
          async ([key, answerer]) => [key, await answerOne(answerer, { ...given, key })] as const,
        ),
      );
      // Not assigned one by one: a key may be "__proto__".
      return Object.fromEntries(await Promise.race([answers, stopped]));
    } catch (error) {
      controller.abort(error);
      throw error;
    } finally {
      forget?.();
    }
  };

  const repeat = async (
    send: Send,
    method: string,
    params: Record<string, unknown>,
    options: SendOptions,
    first: Result,
    stop: AbortSignal,
  ): Promise<Result> => {
    const { inputResponses: _, requestState: __, ...original } = params;
    let result = first;
    let rounds = 0;
    let stateRounds = 0;
    do {
      const { inputRequests, requestState } = readInputRequired(method, result);
      const extra: Record<string, unknown> = requestState === undefined ? {} : { requestState };
      if (inputRequests !== undefined && Object.keys(inputRequests).length > 0) {
        if (++rounds > limits.maxInputRounds) throw tooManyRounds(method, "questions", limits.maxInputRounds);
        stateRounds = 0;
        extra["inputResponses"] = await answerAll(inputRequests, { method, params }, stop);
      } else {
        if (inputRequests !== undefined) extra["inputResponses"] = {};
        if (++stateRounds > limits.maxStateRounds)
          throw tooManyRounds(method, "retries", limits.maxStateRounds);
        // The first retry is immediate; after that the server is plainly waiting for something.
        const wait = stateRounds === 1 ? 0 : limits.statePauseMs * 2 ** Math.min(stateRounds - 2, 30);
        if (wait > 0) await pause(Math.min(wait, limits.maxStatePauseMs), stop);
      }
      result = await send(method, { ...original, ...extra }, options);
    } while (resultType(method, result) === "input_required");
    return result;
  };

  return {
    async fulfil(send, method, params, options) {
      const result = await send(method, params, options);
      if (resultType(method, result) !== "input_required") return { result, retried: false };
      const link = linkSignals(method, options.signal, closing);
      let held = result["requestState"];
      const sendOn: Send = async (...args) => {
        held = undefined;
        const next = await send(...args);
        held = next["requestState"];
        return next;
      };
      try {
        return { result: await repeat(sendOn, method, params, options, result, link.signal), retried: true };
      } catch (error) {
        if (typeof held === "string") abandon(held);
        throw error;
      } finally {
        link.release();
      }
    },
    answerAll,
    async answer(question, signal) {
      const link = linkSignals("a question of the server", signal, closing);
      try {
        const answers = await answerAll({ question }, { method: "", params: {} }, link.signal);
        return answers["question"] as InputResponse;
      } finally {
        link.release();
      }
    },
  };
}

/** "Servers MUST include at least one of `inputRequests` or `requestState`." */
function readInputRequired(method: string, result: Result): InputRequiredResult {
  const { inputRequests, requestState } = result;
  const requestsFit = inputRequests === undefined || isObject(inputRequests);
  const stateFits = requestState === undefined || typeof requestState === "string";
  if (requestsFit && stateFits && (inputRequests !== undefined || requestState !== undefined)) {
    return result as InputRequiredResult;
  }
  const got = shown({ inputRequests, requestState });
  throw new McpError(
    "invalid_response",
    `${method}: expected input_required with an inputRequests object, a requestState string or both, got ${got}`,
  );
}

function tooManyRounds(method: string, what: string, limit: number): McpError {
  return new McpError(
    "input_unavailable",
    `${method}: the server asked for more than ${limit} rounds of ${what}`,
  );
}
