/**
 * Multi round-trip requests that read like `await` (patterns/mrtr). A handler is run from the top at every round; a
 * question that is left open becomes `input_required`.
 */
import { ErrorCode, ProtocolError } from "../protocol/errors.js";
import { isObject } from "../protocol/jsonrpc.js";
import type { RequestMeta } from "../protocol/meta.js";
import type { Result } from "../protocol/types.js";
import type { ServerExchange } from "../transport.js";
import { AskingContext, type RunTraits } from "./asking-context.js";
import type { StateBinding, StateSeal } from "./sealed-state.js";

/** A request that may be answered `input_required`: `name` is that of the tool or prompt, or the URI. */
export interface AskingRequest {
  readonly params: Record<string, unknown>;
  readonly meta: RequestMeta;
  readonly exchange: ServerExchange;
  readonly method: string;
  readonly name: string;
}

/**
 * Runs the work of one request that may ask for input: opens the state it brought, and turns a question that is
 * left open into `input_required`.
 */
export function answerOrAsk(
  request: AskingRequest,
  seal: StateSeal,
  work: (ctx: AskingContext) => Result | Promise<Result>,
  traits?: RunTraits,
): Result | Promise<Result> {
  const { params, meta, exchange } = request;
  const responses = params["inputResponses"];
  if (responses !== undefined && !isObject(responses)) {
    throw new ProtocolError(ErrorCode.InvalidParams, "params.inputResponses must be an object");
  }
  const sealed = params["requestState"];
  if (sealed !== undefined) return resume(sealed, responses, request, seal, work, traits);
  const ctx = new AskingContext(exchange, meta, responses, undefined, traits);
  // Most handlers neither ask nor take a step, and many wait for nothing: those are answered at once.
  try {
    const result = work(ctx);
    return result instanceof Promise || ctx.hasRound ? conclude(ctx, result, request, seal) : result;
  } catch (error) {
    if (!ctx.hasRound) throw error;
    return conclude(ctx, Promise.reject(error), request, seal);
  }
}

/** The same for a request that brings the state of earlier rounds. */
async function resume(
  sealed: unknown,
  responses: Record<string, unknown> | undefined,
  request: AskingRequest,
  seal: StateSeal,
  work: (ctx: AskingContext) => Result | Promise<Result>,
  traits: RunTraits | undefined,
): Promise<Result> {
  const state = await seal.open(sealed, bindingOf(request));
  const ctx = new AskingContext(request.exchange, request.meta, responses, state, traits);
  const working = (async () => work(ctx))();
  return conclude(ctx, working, request, seal);
}

/** Waits for the work and whatever it began, and turns a question that is left open into `input_required`. */
async function conclude(
  ctx: AskingContext,
  working: Result | Promise<Result>,
  request: AskingRequest,
  seal: StateSeal,
): Promise<Result> {
  let result: Result | undefined;
  try {
    result = await working;
  } catch (error) {
    if (ctx.hasRound) await ctx.settled();
    if (!ctx.isWaiting) throw error;
  }
  if (ctx.hasRound) await ctx.settled();
  return ctx.isWaiting || result === undefined ? ctx.conclude(seal, bindingOf(request)) : result;
}

function bindingOf({ params, exchange, method, name }: AskingRequest): StateBinding {
  return { principal: exchange.auth?.principal, method, name, args: params["arguments"] };
}
