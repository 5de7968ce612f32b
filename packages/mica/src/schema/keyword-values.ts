/** What the values of JSON Schema keywords look like, for those that hold no subschema (Validation, sections 6 to 9). */
import { isObject } from "../protocol/jsonrpc.js";
import type { Dialect } from "./dialect.js";

/** What a value must be, or undefined where it is that. */
type Expectation = (value: unknown, dialect: Dialect) => string | undefined;

const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];

const string: Expectation = (value) => (typeof value === "string" ? undefined : "a string");
const boolean: Expectation = (value) => (typeof value === "boolean" ? undefined : "true or false");
const number: Expectation = (value) => (typeof value === "number" ? undefined : "a number");
const count: Expectation = (value) =>
  Number.isInteger(value) && (value as number) >= 0 ? undefined : "a whole number from 0";
const list: Expectation = (value) => (Array.isArray(value) ? undefined : "an array");
const names: Expectation = (value) =>
  Array.isArray(value) && value.every((name) => typeof name === "string")
    ? undefined
    : "an array of property names";
// Draft-04 has a flag beside the bound.
const exclusiveBound: Expectation = (value, dialect) => (dialect === "4" ? boolean : number)(value, dialect);

const EXPECTATIONS = new Map<string, Expectation>([
  ["type", (value) => (isType(value) ? undefined : `one of ${TYPES.join(", ")}, or an array of them`)],
  ["pattern", (value) => (typeof value === "string" ? patternProblem(value) : "a regular expression")],
  ["required", names],
  [
    "dependentRequired",
    (value) => (areAllNames(value) ? undefined : "an object of arrays of property names"),
  ],
  ["enum", list],
  ["examples", list],
  ["multipleOf", (value) => (typeof value === "number" && value > 0 ? undefined : "a number above 0")],
  ["minimum", number],
  ["maximum", number],
  ["exclusiveMinimum", exclusiveBound],
  ["exclusiveMaximum", exclusiveBound],
  ...["minLength", "maxLength", "minItems", "maxItems"].map((key): [string, Expectation] => [key, count]),
  ...["minProperties", "maxProperties", "minContains", "maxContains"].map((key): [string, Expectation] => [
    key,
    count,
  ]),
  ...["uniqueItems", "deprecated", "readOnly", "writeOnly"].map((key): [string, Expectation] => [
    key,
    boolean,
  ]),
  ...["$id", "$anchor", "$dynamicAnchor", "$ref", "$dynamicRef", "$recursiveRef", "$schema"].map(
    (key): [string, Expectation] => [key, string],
  ),
  ...["title", "description", "$comment", "format"].map((key): [string, Expectation] => [key, string]),
]);

/** What the value of a keyword must be, or undefined where it is that, or the keyword says nothing about it. */
export function expectedOf(keyword: string, value: unknown, dialect: Dialect): string | undefined {
  return EXPECTATIONS.get(keyword)?.(value, dialect);
}

/** Patterns are read with the flag `u` (Core, section 6.4). */
export function patternProblem(pattern: string): string | undefined {
  try {
    new RegExp(pattern, "u");
    return undefined;
  } catch (cause) {
    return `a regular expression that is valid with the flag u (${(cause as Error).message})`;
  }
}

function isType(value: unknown): boolean {
  const types: unknown[] = Array.isArray(value) ? value : [value];
  return types.length > 0 && types.every((type) => TYPES.includes(type as string));
}

function areAllNames(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((inner) => names(inner, "2020-12") === undefined);
}
