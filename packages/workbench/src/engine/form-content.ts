/** The content of a form out of what was given beforehand: typed like the arguments of a tool, and checked. */
import type { ElicitFormParams } from "mica-mcp/client";
import type { Pair } from "./argument-pairs.js";
import { suggestion } from "./closest.js";
import { type FormContent, type FormField, type FormValue, readForm, valueProblem } from "./form.js";
import type { WholeAnswer } from "./given-answers.js";
import { readRoot } from "./read-members.js";
import type { UsageProblem } from "./usage-error.js";

export interface FoundContent {
  readonly content: FormContent;
  /** Required fields that have no value. */
  readonly missing: readonly FormField[];
}

/**
 * Pairs set single fields over what a file gives; fields that neither gives get the form's defaults.
 *
 * @param pairs Their names begin with the key: `when.startsAt`.
 */
export function findContent(
  key: string,
  { requestedSchema }: ElicitFormParams,
  pairs: readonly Pair[],
  whole: WholeAnswer | undefined,
): FoundContent | { readonly problems: readonly UsageProblem[] } {
  const fields = readForm(requestedSchema);
  const typed = typePairs(key, fields, pairs);
  if ("problems" in typed) return typed;
  const presets = whole?.withDefaults === false ? [] : fields.filter(({ preset }) => preset !== undefined);
  // Not assigned one by one: a field may be called "__proto__".
  const content = new Map<string, unknown>([
    ...presets.map(({ name, preset }) => [name, preset] as const),
    ...Object.entries(whole?.content ?? {}),
    ...Object.entries(typed.value),
  ]);
  const problems = [...content].flatMap(([name, value]) => problemWith(key, fields, name, value));
  if (problems.length > 0) return { problems };
  return {
    content: Object.fromEntries(content) as Record<string, FormValue>,
    missing: fields.filter(({ name, required }) => required && !content.has(name)),
  };
}

/** Read as members of an argument that is called like the key, so that all messages name both. */
function typePairs(
  key: string,
  fields: readonly FormField[],
  pairs: readonly Pair[],
): { readonly value: object } | { readonly problems: readonly UsageProblem[] } {
  if (pairs.length === 0) return { value: {} };
  const properties = Object.fromEntries(fields.map(({ name, schema }) => [name, schema]));
  const form = { type: "object", properties, additionalProperties: false };
  const { problems, value } = {
    value: undefined,
    ...readRoot(pairs, { properties: Object.fromEntries([[key, form]]) }, false),
  };
  if (problems !== undefined) return { problems };
  return { value: new Map(Object.entries(value as object)).get(key) as object };
}

function problemWith(
  key: string,
  fields: readonly FormField[],
  name: string,
  value: unknown,
): UsageProblem[] {
  const path = `${key}.${name}`;
  const field = fields.find((one) => one.name === name);
  if (field === undefined) {
    const names = fields.map((one) => one.name);
    const known = names.length > 0 ? `expected one of ${names.join(", ")}` : "the form has no fields";
    return [{ path, message: `unknown; ${known}${suggestion(name, names)}` }];
  }
  const message = valueProblem(field, value);
  return message === undefined ? [] : [{ path, message }];
}
