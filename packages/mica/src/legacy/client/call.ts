/**
 * One request to a server of an earlier revision, seen as one or more exchanges of the current one. Where the server
 * asks for something, the exchange ends with `input_required`, and the request stays open behind it until an exchange
 * with the same `requestState` brings the answers (patterns/mrtr).
 */
import { isErrorResponse, isObject } from "../../protocol/jsonrpc.js";
import type {
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
  LoggingLevel,
  RequestId,
} from "../../protocol/types.js";
import type { ClientExchangeOptions } from "../../transport.js";
import type { Revision } from "../versions.js";
import { type Attendant, attend } from "./attendant.js";
import type { Hold } from "./clocks.js";
import { createPages } from "./pages.js";
import type { Pending, Sent } from "./pending.js";
import { type Answer, answerFor, type InputQuestion, KEY_NAMES, noAnswerFor } from "./questions.js";
import { legacyParams, logLevelOf, progressTokenOf } from "./requests.js";
import { modernResult } from "./results.js";

export interface CallContext {
  readonly pending: Pending;
  readonly revision: Revision;
  /** Whether the caller can be asked to visit a page. */
  readonly visitsPages: boolean;
  /** Milliseconds in which an exchange with answers must follow. */
  readonly inputTimeoutMs: number;
  /** Answers a request of the server. Rejects where that cannot be sent. */
  respond(id: RequestId, answer: Answer, hold?: Hold): Promise<void>;
  /** No exchange waits any more: the next one will bring answers. */
  onSuspend(call: Call): void;
  /** Nothing more will come of it. Called once. */
  onOver(call: Call): void;
}

export interface Call {
  /** Under which answers come back. */
  readonly requestState: string;
  /** The id of the request at the server; undefined before it is sent, which the first exchange does. */
  readonly id: RequestId | undefined;
  readonly request: JSONRPCRequest;
  /** Whether an exchange waits for it now. */
  readonly isAttended: boolean;
  /** Of the exchange that waits. */
  readonly logLevel: LoggingLevel | undefined;
  /** Waits with an exchange; its answers, where it brings some, go to the server. */
  attend(request: JSONRPCRequest, options: ClientExchangeOptions): Promise<JSONRPCResponse>;
  notify(notification: JSONRPCNotification): void;
  /** The server asks for something. */
  ask(id: RequestId, question: InputQuestion): void;
  /** The server does not want an answer any more. Says whether it had asked. */
  withdraw(id: RequestId): boolean;
  /** Takes the request back from the server. */
  giveUp(reason: string): void;
}

type Outcome = { readonly response: JSONRPCResponse } | { readonly error: unknown };

export function openCall(first: JSONRPCRequest, context: CallContext): Call {
  const { pending, revision, inputTimeoutMs } = context;
  const { method } = first;
  const token = progressTokenOf(first);
  const pages = createPages();
  /** What the server has asked and not been answered, by key. */
  const questions = new Map<string, { readonly id: RequestId; readonly question: InputQuestion }>();
  let waiting: Attendant | undefined;
  let outcome: Outcome | undefined;
  let isOver = false;
  let round: ReturnType<typeof setTimeout> | undefined;
  let expiry: ReturnType<typeof setTimeout> | undefined;
  let lastKey = 0;
  let clock: Hold | undefined;
  let sent: Sent | undefined;

  /** Of the exchange that waits, whichever that is by then. */
  const hold: Hold = () => clock?.() ?? (() => {});

  function send(): void {
    sent = pending.send(method, legacyParams(first.params), hold);
    sent.response.then(
      (response) => finish({ response }),
      (error: unknown) => finish({ error }),
    );
  }

  function finish(how: Outcome): void {
    if (outcome !== undefined) return;
    questions.clear();
    const refused = context.visitsPages && "response" in how && isErrorResponse(how.response);
    if (!refused || !pages.take(how.response)) outcome = how;
    proceed();
  }

  /** Tells the exchange that waits whatever there is to tell. */
  function proceed(): void {
    if (waiting === undefined) return;
    if (outcome !== undefined) conclude(waiting, outcome);
    else if (pages.refusal !== undefined) suspend(waiting, pages.ask());
    else if (questions.size > 0 && round === undefined) {
      // Questions that come together make one round.
      round = setTimeout(() => {
        round = undefined;
        if (waiting === undefined || questions.size === 0) return;
        suspend(waiting, Object.fromEntries([...questions].map(([key, { question }]) => [key, question])));
      }, 0);
    }
  }

  function conclude({ request: { id }, resolve, reject }: Attendant, how: Outcome): void {
    end();
    if ("error" in how) reject(how.error);
    else if (isErrorResponse(how.response)) resolve({ ...how.response, id });
    else resolve({ jsonrpc: "2.0", id, result: modernResult(method, how.response.result) });
  }

  function suspend(
    { request, resolve }: Attendant,
    inputRequests: Record<string, InputQuestion> | undefined,
  ): void {
    waiting = undefined;
    expiry = setTimeout(() => call.giveUp(`none came within ${inputTimeoutMs} ms`), inputTimeoutMs);
    // What waits for a person is no reason for a process to live on.
    (expiry as { unref?: () => void }).unref?.();
    context.onSuspend(call);
    const result = { resultType: "input_required", ...(inputRequests && { inputRequests }), requestState };
    resolve({ jsonrpc: "2.0", id: request.id, result });
  }

  function end(): void {
    waiting = undefined;
    isOver = true;
    clearTimeout(round);
    clearTimeout(expiry);
    questions.clear();
    context.onOver(call);
  }

  function takeAnswers(answers: Record<string, unknown>): void {
    for (const [key, { id, question }] of [...questions]) {
      if (!Object.hasOwn(answers, key)) continue;
      questions.delete(key);
      const result = answerFor(question.method, answers[key], revision);
      context.respond(id, { result }, hold).catch((error: unknown) => finish({ error }));
    }
    const { refusal } = pages;
    if (refusal === undefined || !pages.isAsked) return;
    if (pages.answer(answers)) send();
    else outcome = { response: refusal };
  }

  const requestState = crypto.randomUUID();
  const call: Call = {
    requestState,
    request: first,
    get id() {
      return sent?.id;
    },
    get isAttended() {
      return waiting !== undefined;
    },
    get logLevel() {
      return waiting && logLevelOf(waiting.request);
    },
    attend(request, options) {
      clearTimeout(expiry);
      const attendant = attend(request, options, (reason) => call.giveUp(reason));
      waiting = attendant;
      clock = () => options.hold?.() ?? (() => {});
      const answers = request.params?.["inputResponses"];
      if (sent === undefined) send();
      else takeAnswers(isObject(answers) ? answers : {});
      proceed();
      return attendant.answer;
    },
    notify(notification) {
      if (waiting === undefined) return;
      const { method, params } = notification;
      if (method !== "notifications/progress") waiting.notify(notification);
      else if (token !== undefined && params?.["progressToken"] === token) {
        // Every exchange has a token of its own.
        const progressToken = progressTokenOf(waiting.request);
        if (progressToken !== undefined)
          waiting.notify({ ...notification, params: { ...params, progressToken } });
      }
    },
    ask(id, question) {
      questions.set(`${KEY_NAMES.get(question.method)}-${++lastKey}`, { id, question });
      proceed();
    },
    withdraw(id) {
      const asked = [...questions].find(([, question]) => question.id === id);
      return asked !== undefined && questions.delete(asked[0]);
    },
    giveUp(reason) {
      if (isOver) return;
      for (const { id, question } of questions.values()) {
        context.respond(id, noAnswerFor(question.method, reason)).catch(() => {});
      }
      outcome ??= { error: new Error(reason) };
      end();
      sent?.cancel(reason);
    },
  };
  return call;
}
