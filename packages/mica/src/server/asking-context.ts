/**
 * What a handler asks with (patterns/mrtr): answers come from the request, results of steps from the sealed state, and the
 * first question without an answer ends the round.
 */
import { ErrorCode, missingCapability, ProtocolError } from "../protocol/errors.js";
import type {
  CreateMessageParams,
  CreateMessageResult,
  InputRequest,
  InputRequiredResult,
  Root,
} from "../protocol/input-requests.js";
import type { RequestMeta } from "../protocol/meta.js";
import type { ClientCapabilities, Result } from "../protocol/types.js";
import type { InferOutput, Schema } from "../schema/standard.js";
import type { ServerExchange } from "../transport.js";
import type { Begin } from "./background.js";
import { type HandlerContext, RequestContext } from "./context.js";
import {
  type Answers,
  type AnyQuestion,
  type ElicitAnswer,
  isSupported,
  type Kind,
  prepare,
  readAnswer,
  type UrlAnswer,
} from "./questions.js";
import { type KeepStep, Round, type StepInfo, takeStep, WAITING } from "./round.js";
import type { CallState, StateBinding, StateSeal } from "./sealed-state.js";

/** The context of handlers that may ask for input: tools, prompts and resources. */
export interface InputContext extends HandlerContext {
  /** Whether this client can answer such a question; asking one that it cannot is answered -32021. */
  can(kind: Kind): boolean;
  /**
   * Asks the person to fill in a form (client/elicitation). `key` names the question within this call.
   * The content is validated on `accept`; one that does not fit is asked for again.
   *
   * @throws TypeError naming the field, where a form cannot ask for it.
   * @example const answer = await ctx.elicit("when", { message: "When?", schema: z.object({ startsAt: z.iso.datetime() }) });
   */
  elicit<S extends Schema>(
    key: string,
    question: { message: string; schema: S },
  ): Promise<ElicitAnswer<InferOutput<S>>>;
  /** Sends the person to a page, for secrets, payments and third-party sign-in. `accept` says that they agreed to go. */
  elicitUrl(key: string, question: { message: string; url: string }): Promise<UrlAnswer>;
  /** Asks the client's model for a message (client/sampling; deprecated by SEP-2577). */
  sample(key: string, params: CreateMessageParams): Promise<CreateMessageResult>;
  /** Asks for the client's roots (client/roots; deprecated by SEP-2577). */
  roots(key?: string): Promise<Root[]>;
  /**
   * Asks several questions in one round.
   *
   * @example const { when, who } = await ctx.ask({ when: { elicit: { message, schema } }, who: { elicit: { ... } } });
   */
  ask<Q extends Record<string, AnyQuestion>>(questions: Q): Promise<Answers<Q>>;
  /**
   * Does something once per call, however many rounds it takes: the result, which must be JSON, travels in the sealed
   * state. A step that throws is done again at the next round; one that a crash cut off may be, so give
   * `idempotencyKey` to what must not happen twice.
   *
   * @example const order = await ctx.step("reserve", ({ idempotencyKey }) => shop.reserve(item, idempotencyKey));
   */
  step<T>(name: string, run: (info: StepInfo) => T | Promise<T>): Promise<T>;
  /**
   * In a tool with `task: { begins: "handler" }`: what follows is done after the call was answered with a task, where
   * the client can be given one. The handler is run again from the top there, with the answers and steps it has.
   * Elsewhere, and within the task, it resolves at once.
   *
   * @example if (rows > 10_000) await ctx.beginTask();
   */
  beginTask(): Promise<void>;
}

/** What makes a run of a handler other than one in answer to a request. */
export interface RunTraits {
  /** Set where the call may become a task, and is none yet. */
  readonly begin?: Begin | undefined;
  readonly keepStep?: KeepStep | undefined;
}

export class AskingContext extends RequestContext implements InputContext {
  readonly #capabilities: ClientCapabilities;
  readonly #responses: Record<string, unknown> | undefined;
  readonly #state: CallState | undefined;
  readonly #traits: RunTraits | undefined;
  #round: Round | undefined;
  #begins = false;

  constructor(
    exchange: ServerExchange,
    meta: RequestMeta,
    responses: Record<string, unknown> | undefined,
    state: CallState | undefined,
    traits?: RunTraits,
  ) {
    super(exchange, meta);
    this.#capabilities = meta.clientCapabilities;
    this.#responses = responses;
    this.#state = state;
    this.#traits = traits;
  }

  /** Whether anything was asked or a step taken. */
  get hasRound(): boolean {
    return this.#round !== undefined;
  }

  /** Whether the run has to end: a question was asked that has no answer yet, or the rest is for a task. */
  get isWaiting(): boolean {
    return this.#round !== undefined && (this.#begins || this.#round.questions.size > 0);
  }

  can(kind: Kind): boolean {
    return isSupported(kind, this.#capabilities);
  }

  elicit<S extends Schema>(
    key: string,
    question: { message: string; schema: S },
  ): Promise<ElicitAnswer<InferOutput<S>>> {
    return this.#ask(key, { elicit: question }) as Promise<ElicitAnswer<InferOutput<S>>>;
  }

  elicitUrl(key: string, question: { message: string; url: string }): Promise<UrlAnswer> {
    return this.#ask(key, { elicitUrl: question }) as Promise<UrlAnswer>;
  }

  sample(key: string, params: CreateMessageParams): Promise<CreateMessageResult> {
    return this.#ask(key, { sample: params }) as Promise<CreateMessageResult>;
  }

  roots(key = "roots"): Promise<Root[]> {
    return this.#ask(key, { roots: true }) as Promise<Root[]>;
  }

  ask<Q extends Record<string, AnyQuestion>>(questions: Q): Promise<Answers<Q>> {
    const keys = Object.keys(questions);
    const all = Promise.all(keys.map((key) => this.#ask(key, questions[key]!))).then(
      (answers) => Object.fromEntries(keys.map((key, index) => [key, answers[index]])) as Answers<Q>,
    );
    return handled(all);
  }

  step<T>(name: string, run: (info: StepInfo) => T | Promise<T>): Promise<T> {
    const round = this.#open();
    return round.track(takeStep(round, name, run));
  }

  beginTask(): Promise<void> {
    if (this.#traits?.begin === undefined) return Promise.resolve();
    this.#begins = true;
    this.#open().isOver = true;
    return handled(Promise.reject(WAITING));
  }

  #open(): Round {
    this.#round ??= new Round(this.#state, this.#traits?.keepStep);
    return this.#round;
  }

  #ask(key: string, question: AnyQuestion): Promise<unknown> {
    const round = this.#open();
    return handled(round.track(this.#answer(round, key, question)));
  }

  async #answer(round: Round, key: string, question: AnyQuestion): Promise<unknown> {
    round.use(`question ${JSON.stringify(key)}`);
    const prepared = prepare(key, question);
    if (!this.can(prepared.kind))
      throw missingCapability(prepared.required, `Question ${JSON.stringify(key)}`);
    const given = ownValue(round.answers, key) ?? ownValue(this.#responses, key);
    if (given === undefined) {
      // Before anything is awaited: questions asked together make one round.
      round.wait(key, prepared.request);
      throw WAITING;
    }
    const read = await readAnswer(prepared, given);
    if (read.problem !== undefined) {
      round.wait(key, withProblem(prepared.request, read.problem));
      throw WAITING;
    }
    round.answers[key] = given;
    return read.value;
  }

  /** Resolves when every question and step of the round has settled. */
  async settled(): Promise<void> {
    while (this.#round !== undefined && this.#round.running.size > 0)
      await Promise.allSettled(this.#round.running);
  }

  /** What is known and asked at the end of this run. Called after {@link settled}, while {@link isWaiting}. */
  ended(): { questions: ReadonlyMap<string, InputRequest>; state: CallState } {
    const { callId, number, answers, steps, questions } = this.#round!;
    return { questions, state: { callId, round: number + 1, answers, steps } };
  }

  /** The result that ends this round: questions come before a task, which begins with all that was answered. */
  conclude(seal: StateSeal, binding: StateBinding): Result | Promise<Result> {
    const { begin } = this.#traits ?? {};
    return begin !== undefined && this.#round!.questions.size === 0
      ? begin(this.ended().state, this.#responses ?? {})
      : this.#inputRequired(seal, binding);
  }

  async #inputRequired(seal: StateSeal, binding: StateBinding): Promise<InputRequiredResult> {
    const { number, questions } = this.#round!;
    if (number >= seal.maxRounds) {
      throw new ProtocolError(
        ErrorCode.InternalError,
        `Gave up after ${seal.maxRounds} rounds of questions without a usable answer`,
      );
    }
    return {
      resultType: "input_required",
      inputRequests: Object.fromEntries(questions),
      requestState: await seal.seal(this.ended().state, binding),
    };
  }
}

function ownValue(record: Record<string, unknown> | undefined, key: string): unknown {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Rejections that nobody looks at any more (the round is over) must not end the process. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

function withProblem(request: InputRequest, problem: string): InputRequest {
  if (request.method !== "elicitation/create") return request;
  return {
    ...request,
    params: {
      ...request.params,
      message: `${request.params.message}\n\nThe last answer does not fit: ${problem}`,
    },
  };
}
