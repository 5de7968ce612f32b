/** The arguments of a call: pairs as they were typed, made into what the tool's schema or the prompt asks for. */
import type { Prompt, PromptArgument } from "mica-mcp/client";
import type { Pair } from "./argument-pairs.js";
import { isObject } from "./json.js";
import { readRoot } from "./read-members.js";
import type { Schema } from "./schema-alternatives.js";
import { UsageError, type UsageProblem } from "./usage-error.js";

export type Arguments = Record<string, unknown>;

/** What was given for a call. */
export interface GivenArguments {
  readonly pairs: readonly Pair[];
  /** Sent as it is, unchecked; pairs then set single members of it. */
  readonly base?: Arguments | undefined;
}

/**
 * Types the pairs by a tool's `inputSchema`.
 *
 * @throws UsageError naming every argument that is wrong, unknown or missing.
 * @example typeArguments("open", { properties: { limit: { type: "integer" } } }, { pairs: [readPair("limit=5")] }) // { limit: 5 }
 */
export function typeArguments(tool: string, inputSchema: Schema, { pairs, base }: GivenArguments): Arguments {
  const reading = readRoot(pairs, inputSchema, base === undefined);
  if (reading.problems === undefined) return { ...base, ...(reading.value as Arguments) };
  throw argumentError(tool, reading.problems);
}

/** @throws UsageError naming every argument that is unknown or missing; all values are text. */
export function typePromptArguments(prompt: Prompt, { pairs, base }: GivenArguments): Record<string, string> {
  const declared = promptArguments(prompt);
  const required = declared.filter((argument) => argument.required === true).map(({ name }) => name);
  const properties = Object.fromEntries(
    declared.map(({ name, description }) => [name, { type: "string", ...(description && { description }) }]),
  );
  const schema = { type: "object", properties, required, additionalProperties: false };
  return typeArguments(prompt.name, schema, { pairs, base }) as Record<string, string>;
}

/** The arguments that a prompt declares, without what is no declaration. */
export function promptArguments({ arguments: declared }: Prompt): PromptArgument[] {
  const list: unknown[] = Array.isArray(declared) ? declared : [];
  return list.filter((one): one is PromptArgument => isObject(one) && typeof one["name"] === "string");
}

function argumentError(name: string, problems: readonly UsageProblem[]): UsageError {
  const lines = problems.map(({ path, message }) => (path ? `${path}: ${message}` : message));
  if (lines.length === 1) return new UsageError(lines[0] as string, problems);
  return new UsageError([`${name} cannot be called like this:`, ...lines].join("\n"), problems);
}
