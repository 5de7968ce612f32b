/** Argument completion for prompts and resource templates (server/utilities/completion). */
import { ErrorCode, ProtocolError } from "../protocol/errors.js";
import type { CompleteResult } from "../protocol/features.js";
import { isObject } from "../protocol/jsonrpc.js";
import type { HandlerContext } from "./context.js";
import { MAX_COMPLETION_VALUES } from "./limits.js";

/** What has been filled in so far: other arguments of the same prompt or template. */
export interface CompletionContext extends HandlerContext {
  readonly arguments: Readonly<Record<string, string>>;
}

/**
 * Suggests values for one argument: a fixed list (those that contain what was typed are offered, those that begin
 * with it first), or a function that returns suggestions, best first. More than 100 are cut and counted.
 */
export type Completer =
  | readonly string[]
  | ((value: string, ctx: CompletionContext) => readonly string[] | Promise<readonly string[]>);

/** @throws TypeError where a completer is given for something that is no argument. */
export function checkCompleters(
  complete: Record<string, Completer>,
  names: readonly string[],
  what: string,
): void {
  for (const [name, completer] of Object.entries(complete)) {
    if (!names.includes(name)) {
      throw new TypeError(
        `${what}: complete.${name} names no argument; it has ${names.join(", ") || "none"}`,
      );
    }
    if (!Array.isArray(completer) && typeof completer !== "function") {
      throw new TypeError(`${what}: complete.${name} must be a list or a function, got ${typeof completer}`);
    }
  }
}

/** What can be completed: its arguments' names and their completers. */
export interface CompletionTarget {
  readonly names: readonly string[];
  readonly complete: Record<string, Completer>;
}

export interface CompletionLookup {
  prompt(name: string): CompletionTarget | undefined;
  template(uriTemplate: string): CompletionTarget | undefined;
}

/**
 * @param ctx made for this request alone: the arguments filled in so far are added to it
 * @throws ProtocolError -32602 where the reference or the argument is unknown or malformed.
 */
export async function complete(
  params: Record<string, unknown>,
  lookup: CompletionLookup,
  ctx: HandlerContext,
): Promise<CompleteResult> {
  const target = findTarget(params["ref"], lookup);
  const argument = params["argument"];
  if (!isObject(argument) || typeof argument["name"] !== "string" || typeof argument["value"] !== "string") {
    throw invalid("params.argument must be an object with the strings name and value");
  }
  const { name, value } = argument as { name: string; value: string };
  if (!target.names.includes(name)) {
    throw invalid(
      `Unknown argument ${JSON.stringify(name)}: expected one of ${target.names.join(", ") || "none"}`,
    );
  }
  const completer = Object.hasOwn(target.complete, name) ? target.complete[name] : undefined;
  if (completer === undefined) return { completion: { values: [], total: 0, hasMore: false } };
  const filledIn = readArguments(params["context"]);
  const all =
    typeof completer === "function"
      ? checkSuggestions(await completer(value, Object.assign(ctx, { arguments: filledIn })), name)
      : rank(completer, value);
  const values = all.slice(0, MAX_COMPLETION_VALUES);
  return { completion: { values, total: all.length, hasMore: all.length > values.length } };
}

function findTarget(ref: unknown, lookup: CompletionLookup): CompletionTarget {
  if (isObject(ref) && ref["type"] === "ref/prompt" && typeof ref["name"] === "string") {
    const target = lookup.prompt(ref["name"]);
    if (target === undefined) throw invalid(`Unknown prompt: ${ref["name"]}`);
    return target;
  }
  if (isObject(ref) && ref["type"] === "ref/resource" && typeof ref["uri"] === "string") {
    const target = lookup.template(ref["uri"]);
    if (target === undefined) throw invalid(`Unknown resource or template: ${ref["uri"]}`);
    return target;
  }
  throw invalid('params.ref must be {"type":"ref/prompt","name":...} or {"type":"ref/resource","uri":...}');
}

function readArguments(context: unknown): Record<string, string> {
  if (context !== undefined && !isObject(context)) throw invalid("params.context must be an object");
  const given = context?.["arguments"];
  if (given === undefined) return {};
  if (!isObject(given) || Object.values(given).some((value) => typeof value !== "string")) {
    throw invalid("params.context.arguments must be an object of strings");
  }
  return given as Record<string, string>;
}

function checkSuggestions(suggestions: readonly string[], name: string): readonly string[] {
  if (Array.isArray(suggestions) && suggestions.every((value) => typeof value === "string"))
    return suggestions;
  throw new TypeError(
    `the completer of ${name} must return an array of strings, got ${JSON.stringify(suggestions)}`,
  );
}

function rank(candidates: readonly string[], typed: string): string[] {
  const wanted = typed.toLowerCase();
  const matching = candidates.filter((candidate) => candidate.toLowerCase().includes(wanted));
  const begins = (candidate: string) => candidate.toLowerCase().startsWith(wanted);
  return [...matching.filter(begins), ...matching.filter((candidate) => !begins(candidate))];
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, message);
}
