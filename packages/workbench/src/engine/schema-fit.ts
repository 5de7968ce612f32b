/**
 * Whether a value fits a JSON Schema, as far as that is worth knowing before a call is sent: types, values,
 * bounds, required members, combinations. What is left out (patterns, formats, conditions, `not`) is for the
 * server to judge: its patterns are programs, and running them here could take forever.
 */
import { isDeepStrictEqual } from "node:util";
import { isObject, shown } from "./json.js";
import { namedTypes, resolveReference, type Schema } from "./schema-alternatives.js";
import { expectedType, listed } from "./schema-words.js";

/** Where a value does not fit, and what was expected there. */
export interface Misfit {
  /** Like `.name` or `[2]`; empty for the value itself. */
  readonly path: string;
  /** `expected an integer, got "abc"`. */
  readonly message: string;
}

/** Most subschemas that one value is held against, and deepest nesting; beyond that the server decides. */
export const FIT_LIMITS = { steps: 20_000, depth: 64 } as const;

/**
 * The first thing that keeps a value from fitting; undefined where it fits.
 *
 * @throws UnfollowedReference
 * @example misfit(500, { type: "integer", maximum: 100 }, root)?.message === "expected at most 100, got 500"
 */
export function misfit(value: unknown, schema: unknown, root: Schema): Misfit | undefined {
  return check(value, schema, "", { root, steps: FIT_LIMITS.steps }, 0);
}

interface Run {
  readonly root: Schema;
  steps: number;
}

type Check = (value: unknown, schema: Schema, path: string, run: Run, depth: number) => Misfit | undefined;

function check(value: unknown, schema: unknown, path: string, run: Run, depth: number): Misfit | undefined {
  if (schema === false) return { path, message: `expected nothing here, got ${shown(value)}` };
  if (!isObject(schema) || --run.steps < 0 || depth > FIT_LIMITS.depth) return undefined;
  for (const part of CHECKS) {
    const found = part(value, schema, path, run, depth);
    if (found !== undefined) return found;
  }
  return undefined;
}

const reference: Check = (value, { $ref }, path, run, depth) =>
  typeof $ref === "string" ? check(value, resolveReference($ref, run.root), path, run, depth + 1) : undefined;

const type: Check = (value, schema, path) => {
  const types = namedTypes(schema);
  if (types.length === 0 || types.some((name) => isOfType(value, name))) return undefined;
  return { path, message: `expected ${types.map(expectedType).join(" or ")}, got ${shown(value)}` };
};

const literals: Check = (value, schema, path) => {
  if (Array.isArray(schema["enum"]) && !schema["enum"].some((literal) => isDeepStrictEqual(literal, value))) {
    return { path, message: `expected ${listed(schema["enum"])}, got ${shown(value)}` };
  }
  if (Object.hasOwn(schema, "const") && !isDeepStrictEqual(schema["const"], value)) {
    return { path, message: `expected ${shown(schema["const"])}, got ${shown(value)}` };
  }
  return undefined;
};

const numbers: Check = (value, schema, path) => {
  if (typeof value !== "number") return undefined;
  const bounds: [name: string, holds: (bound: number) => boolean, words: string][] = [
    ["minimum", (bound) => value >= bound, "at least"],
    ["maximum", (bound) => value <= bound, "at most"],
    ["exclusiveMinimum", (bound) => value > bound, "more than"],
    ["exclusiveMaximum", (bound) => value < bound, "less than"],
    // Fractions cannot be divided exactly here.
    ["multipleOf", (step) => !Number.isInteger(step) || step <= 0 || value % step === 0, "a multiple of"],
  ];
  return bound(schema, bounds, path, shown(value));
};

const strings: Check = (value, schema, path) => {
  if (typeof value !== "string") return undefined;
  const length = [...value].length;
  const bounds: [string, (bound: number) => boolean, string, string][] = [
    ["minLength", (bound) => length >= bound, "at least", "characters"],
    ["maxLength", (bound) => length <= bound, "at most", "characters"],
  ];
  return bound(schema, bounds, path, `${length}`);
};

const arrays: Check = (value, schema, path, run, depth) => {
  if (!Array.isArray(value)) return undefined;
  const bounds: [string, (bound: number) => boolean, string, string][] = [
    ["minItems", (bound) => value.length >= bound, "at least", "items"],
    ["maxItems", (bound) => value.length <= bound, "at most", "items"],
  ];
  const outOfBounds = bound(schema, bounds, path, `${value.length}`);
  if (outOfBounds !== undefined) return outOfBounds;
  for (const [index, item] of value.entries()) {
    if (
      schema["uniqueItems"] === true &&
      value.slice(0, index).some((other) => isDeepStrictEqual(other, item))
    ) {
      return { path: `${path}[${index}]`, message: `expected every item once, got ${shown(item)} again` };
    }
    const found = check(item, itemSchema(schema, index), `${path}[${index}]`, run, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** `items` was an array in the drafts before 2020-12, with `additionalItems` for the rest. */
export function itemSchema(schema: Schema, index: number): unknown {
  const { items, prefixItems, additionalItems } = schema;
  if (Array.isArray(prefixItems) && index < prefixItems.length) return prefixItems[index];
  if (!Array.isArray(items)) return items;
  return index < items.length ? items[index] : additionalItems;
}

const objects: Check = (value, schema, path, run, depth) => {
  if (!isObject(value)) return undefined;
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const missing = required.filter((name) => typeof name === "string" && !Object.hasOwn(value, name));
  if (missing.length > 0)
    return { path, message: `expected ${missing.map(shown).join(" and ")}, got ${shown(value)}` };
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const patterned = schema["patternProperties"] !== undefined;
  for (const [name, member] of Object.entries(value)) {
    const at = `${path}.${name}`;
    const known = Object.hasOwn(properties, name);
    const inner = known ? properties[name] : patterned ? undefined : schema["additionalProperties"];
    if (!known && inner === false) {
      const names = Object.keys(properties).map(shown).join(", ") || "no members";
      return { path: at, message: `expected one of ${names}, got a member called ${shown(name)}` };
    }
    const found = check(member, inner, at, run, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
};

const combinations: Check = (value, schema, path, run, depth) => {
  for (const part of Array.isArray(schema["allOf"]) ? schema["allOf"] : []) {
    const found = check(value, part, path, run, depth + 1);
    if (found !== undefined) return found;
  }
  // That just one alternative of `oneOf` fits cannot be told without the keywords that are left out.
  for (const choice of [schema["anyOf"], schema["oneOf"]]) {
    if (!Array.isArray(choice) || choice.length === 0) continue;
    const problems = choice.map((option) => check(value, option, path, run, depth + 1));
    if (problems.every((problem) => problem !== undefined)) return problems.reduce(deeper);
  }
  return undefined;
};

/** Of the problems with several alternatives, the one that got furthest says most. */
function deeper(a: Misfit, b: Misfit): Misfit {
  return b.path.length > a.path.length ? b : a;
}

const CHECKS: readonly Check[] = [reference, type, literals, numbers, strings, arrays, objects, combinations];

function bound(
  schema: Schema,
  bounds: readonly [name: string, holds: (bound: number) => boolean, words: string, unit?: string][],
  path: string,
  got: string,
): Misfit | undefined {
  for (const [name, holds, words, unit] of bounds) {
    const limit = schema[name];
    if (typeof limit !== "number" || holds(limit)) continue;
    return { path, message: `expected ${words} ${limit}${unit ? ` ${unit}` : ""}, got ${got}` };
  }
  return undefined;
}

function isOfType(value: unknown, name: string): boolean {
  switch (name) {
    case "null":
      return value === null;
    case "integer":
      return Number.isInteger(value);
    case "number":
      return typeof value === "number";
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    default:
      return typeof value === name;
  }
}
