/** Keywords of JSON Schema that look at a value by itself (Validation, section 6). */
import type { JsonSchema } from "../protocol/features.js";
import { isObject } from "../protocol/jsonrpc.js";
import type { Dialect } from "./dialect.js";
import type { Check } from "./evaluation.js";
import { FORMATS } from "./formats.js";
import { canonical, equals, isMultiple } from "./values.js";

type Compile = (value: never, schema: JsonSchema, dialect: Dialect) => Check | undefined;

/** A check of values of one kind: those of others always fit. */
function onStrings(fits: (text: string) => boolean, message: string): Check {
  return (value, run) => typeof value !== "string" || fits(value) || run.fail(message);
}
function onNumbers(fits: (number: number) => boolean, message: string): Check {
  return (value, run) => typeof value !== "number" || fits(value) || run.fail(message);
}
function onArrays(fits: (items: readonly unknown[]) => boolean, message: string): Check {
  return (value, run) => !Array.isArray(value) || fits(value) || run.fail(message);
}
function onObjects(fits: (object: Record<string, unknown>) => boolean, message: string): Check {
  return (value, run) => !isObject(value) || fits(value) || run.fail(message);
}

const counted = (count: number, one: string, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

export const ASSERTIONS: ReadonlyMap<string, Compile> = new Map<string, Compile>([
  ["type", compileType],
  ["enum", compileEnum],
  ["const", compileConst],
  [
    "multipleOf",
    (divisor: number) => onNumbers((n) => isMultiple(n, divisor), `must be a multiple of ${divisor}`),
  ],
  ["minimum", compileMinimum],
  ["maximum", compileMaximum],
  ["exclusiveMinimum", (bound: unknown) => (typeof bound === "number" ? above(bound) : undefined)],
  ["exclusiveMaximum", (bound: unknown) => (typeof bound === "number" ? below(bound) : undefined)],
  [
    "minLength",
    (least: number) =>
      onStrings(
        (text) => text.length >= least && hasAtLeast(text, least),
        `must have at least ${counted(least, "character")}`,
      ),
  ],
  [
    "maxLength",
    (most: number) =>
      onStrings(
        (text) => text.length <= most || !hasAtLeast(text, most + 1),
        `must have at most ${counted(most, "character")}`,
      ),
  ],
  ["pattern", compilePattern],
  ["format", compileFormat],
  [
    "minItems",
    (least: number) =>
      onArrays((items) => items.length >= least, `must have at least ${counted(least, "item")}`),
  ],
  [
    "maxItems",
    (most: number) => onArrays((items) => items.length <= most, `must have at most ${counted(most, "item")}`),
  ],
  [
    "uniqueItems",
    (wanted: boolean) => (wanted ? onArrays(areUnique, "must not have the same item twice") : undefined),
  ],
  [
    "minProperties",
    (least: number) =>
      onObjects(
        (object) => Object.keys(object).length >= least,
        `must have at least ${counted(least, "property", "properties")}`,
      ),
  ],
  [
    "maxProperties",
    (most: number) =>
      onObjects(
        (object) => Object.keys(object).length <= most,
        `must have at most ${counted(most, "property", "properties")}`,
      ),
  ],
  ["required", compileRequired],
]);

const IS_TYPE = new Map<string, (value: unknown) => boolean>([
  ["string", (value) => typeof value === "string"],
  ["number", (value) => typeof value === "number"],
  ["integer", (value) => Number.isInteger(value)],
  ["boolean", (value) => typeof value === "boolean"],
  ["object", isObject],
  ["array", Array.isArray],
  ["null", (value) => value === null],
]);

function compileType(type: string | readonly string[]): Check {
  const types = typeof type === "string" ? [type] : type;
  const tests = types.map((name) => IS_TYPE.get(name) ?? (() => false));
  const [only] = tests;
  const fits = tests.length === 1 ? only! : (value: unknown) => tests.some((test) => test(value));
  const expected = types.join(" or ");
  return (value, run) => fits(value) || run.fail(`expected ${expected}, got ${kindOf(value)}`);
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function compileEnum(values: readonly unknown[]): Check {
  const primitives = new Set(values.filter((value) => typeof value !== "object" || value === null));
  const composites = values.filter((value) => typeof value === "object" && value !== null);
  const expected = `expected one of ${shown(values)}`;
  return (value, run) =>
    primitives.has(value) || composites.some((one) => equals(one, value)) || run.fail(expected);
}

function compileConst(wanted: unknown): Check {
  const expected = `expected ${shown([wanted])}`;
  return (value, run) => equals(wanted, value) || run.fail(expected);
}

function shown(values: readonly unknown[]): string {
  const text = values.map((value) => JSON.stringify(value)).join(", ");
  return text.length > 300 ? `${text.slice(0, 297)}...` : text;
}

const above = (bound: number) => onNumbers((n) => n > bound, `must be more than ${bound}`);
const below = (bound: number) => onNumbers((n) => n < bound, `must be less than ${bound}`);

function compileMinimum(bound: number, schema: JsonSchema, dialect: Dialect): Check {
  if (dialect === "4" && schema["exclusiveMinimum"] === true) return above(bound);
  return onNumbers((n) => n >= bound, `must be at least ${bound}`);
}

function compileMaximum(bound: number, schema: JsonSchema, dialect: Dialect): Check {
  if (dialect === "4" && schema["exclusiveMaximum"] === true) return below(bound);
  return onNumbers((n) => n <= bound, `must be at most ${bound}`);
}

/** Characters, not code units. */
function hasAtLeast(text: string, count: number): boolean {
  if (text.length >= count * 2) return true;
  let found = 0;
  for (let at = 0; found < count; found++) {
    const point = text.codePointAt(at);
    if (point === undefined) return false;
    at += point > 0xffff ? 2 : 1;
  }
  return true;
}

function compilePattern(source: string): Check {
  const pattern = new RegExp(source, "u");
  return onStrings((text) => pattern.test(text), `must match the pattern ${source}`);
}

/** Asserted, although 2020-12 leaves that to the application: a wrong date is worth an error that says so. */
function compileFormat(format: string): Check | undefined {
  const fits = FORMATS.get(format);
  return fits && onStrings(fits, `must be a valid ${format}`);
}

function areUnique(items: readonly unknown[]): boolean {
  const primitives = new Set<unknown>();
  const composites = new Set<string>();
  return items.every((item) => {
    const isPrimitive = typeof item !== "object" || item === null;
    const [found, key] = isPrimitive ? [primitives, item] : [composites as Set<unknown>, canonical(item)];
    if (found.has(key)) return false;
    found.add(key);
    return true;
  });
}

function compileRequired(names: readonly string[]): Check {
  return (value, run) => {
    if (!isObject(value)) return true;
    let fits = true;
    for (const name of names) {
      if (Object.hasOwn(value, name)) continue;
      fits = run.fail("is required", name);
      if (run.isDecided) return false;
    }
    return fits;
  };
}
