/** Checks what a person filled in against the restricted schema of a form (client/elicitation, Requested Schema). */
import type { ElicitationSchema } from "../protocol/input-requests.js";
import { isObject } from "../protocol/jsonrpc.js";
import { shown } from "./exchange.js";

export type FormContent = Record<string, string | number | boolean | string[] | undefined>;

/** The content with the defaults of fields that it leaves out. */
export function fillDefaults(schema: ElicitationSchema, content: FormContent): FormContent {
  const filled = new Map(Object.entries(content));
  for (const [name, field] of Object.entries(schema.properties)) {
    const value: unknown = isObject(field) ? field["default"] : undefined;
    const isGiven = Object.hasOwn(content, name) && content[name] !== undefined;
    if (value !== undefined && !isGiven) filled.set(name, value as FormContent[string]);
  }
  return Object.fromEntries(filled);
}

/** The first thing that is wrong with the content, naming the field; undefined where it fits. */
export function formProblem(schema: ElicitationSchema, content: unknown): string | undefined {
  if (!isObject(content)) return `expected an object, got ${shown(content)}`;
  for (const name of Array.isArray(schema.required) ? schema.required : []) {
    if (content[name] === undefined || !Object.hasOwn(content, name))
      return `field ${shown(name)} is required`;
  }
  for (const [name, value] of Object.entries(content)) {
    if (value === undefined) continue;
    const field: unknown = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    const problem = isObject(field) ? fieldProblem(field, value) : primitiveProblem(value);
    if (problem !== undefined) return `field ${shown(name)}: expected ${problem}, got ${shown(value)}`;
  }
  return undefined;
}

type Field = Readonly<Record<string, unknown>>;

/**
 * What a value for one field of a form should have been; undefined where it fits. `connect` checks answers itself:
 * this is for asking again before that.
 *
 * @example fieldProblem({ type: "string", minLength: 3 }, "ab") === "at least 3 characters"
 */
export function fieldProblem(field: Field, value: unknown): string | undefined {
  switch (field["type"]) {
    case "boolean":
      return typeof value === "boolean" ? undefined : "a boolean";
    case "string":
      return typeof value === "string" ? stringProblem(field, value) : "a string";
    case "number":
      return typeof value === "number" && Number.isFinite(value) ? numberProblem(field, value) : "a number";
    case "integer":
      return Number.isInteger(value) ? numberProblem(field, value as number) : "an integer";
    case "array":
      return Array.isArray(value) ? choicesProblem(field, value) : "an array of strings";
    default:
      return primitiveProblem(value);
  }
}

function primitiveProblem(value: unknown): string | undefined {
  const strings = Array.isArray(value) && value.every((item) => typeof item === "string");
  return strings || ["string", "number", "boolean"].includes(typeof value)
    ? undefined
    : "a string, number, boolean or array of strings";
}

function stringProblem(field: Field, value: string): string | undefined {
  const choices = choicesOf(field);
  if (choices && !choices.includes(value)) return `one of ${shown(choices)}`;
  const { minLength, maxLength, format } = field;
  const length = [...value].length;
  if (typeof minLength === "number" && length < minLength) return `at least ${minLength} characters`;
  if (typeof maxLength === "number" && length > maxLength) return `at most ${maxLength} characters`;
  const matches = typeof format === "string" ? FORMATS.get(format) : undefined;
  return matches === undefined || matches(value) ? undefined : `the format ${format as string}`;
}

function numberProblem({ minimum, maximum }: Field, value: number): string | undefined {
  if (typeof minimum === "number" && value < minimum) return `at least ${minimum}`;
  if (typeof maximum === "number" && value > maximum) return `at most ${maximum}`;
  return undefined;
}

function choicesProblem(field: Field, values: unknown[]): string | undefined {
  const { minItems, maxItems, items } = field;
  if (values.some((value) => typeof value !== "string")) return "an array of strings";
  if (typeof minItems === "number" && values.length < minItems) return `at least ${minItems} choices`;
  if (typeof maxItems === "number" && values.length > maxItems) return `at most ${maxItems} choices`;
  const choices = isObject(items) ? choicesOf(items) : undefined;
  return choices && values.some((value) => !choices.includes(value))
    ? `choices out of ${shown(choices)}`
    : undefined;
}

/** The values of an enumeration, with or without titles. */
function choicesOf(field: Field): unknown[] | undefined {
  if (Array.isArray(field["enum"])) return field["enum"];
  const titled = field["oneOf"] ?? field["anyOf"];
  return Array.isArray(titled)
    ? titled.map((option) => (isObject(option) ? option["const"] : undefined))
    : undefined;
}

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

function isDate(text: string): boolean {
  const parts = DATE.exec(text);
  if (!parts) return false;
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** "Supported formats: email, uri, date, date-time"; any other is left to the server. */
const FORMATS = new Map<string, (text: string) => boolean>([
  ["email", (text) => /^[^\s@]+@[^\s@]+$/.test(text)],
  ["uri", (text) => URL.canParse(text)],
  ["date", isDate],
  ["date-time", (text) => isDate(DATE_TIME.exec(text)?.[1] ?? "")],
]);
