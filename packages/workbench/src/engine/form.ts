/** The form of an elicitation: its fields, read from the restricted schema (client/elicitation, Requested Schema). */
import { type ElicitationSchema, fieldProblem } from "mica-mcp/client";
import { isObject, shown } from "./json.js";
import type { Schema } from "./schema-alternatives.js";
import { listed } from "./schema-words.js";

export type FormValue = string | number | boolean | string[];
export type FormContent = Record<string, FormValue>;

/** One of the values that an enumeration offers; without a title of its own, the value is its title. */
export interface Choice {
  readonly value: string;
  readonly title: string;
}

export interface FormField {
  readonly name: string;
  /** As the server sent it. */
  readonly schema: Schema;
  readonly kind: "text" | "number" | "integer" | "boolean" | "choice" | "choices";
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly required: boolean;
  /** Only of `choice` and `choices`. */
  readonly choices: readonly Choice[];
  /** The default, where it fits the field. */
  readonly preset: FormValue | undefined;
}

/** The fields in the order of the schema. A name that is required and not described is a field for text. */
export function readForm({ properties, required }: ElicitationSchema): FormField[] {
  const needed: unknown[] = Array.isArray(required) ? required : [];
  const fields = new Map<string, unknown>(Object.entries(properties));
  for (const name of needed) if (typeof name === "string" && !fields.has(name)) fields.set(name, {});
  return [...fields].map(([name, schema]) => readField(name, schema, needed.includes(name)));
}

function readField(name: string, given: unknown, required: boolean): FormField {
  const schema = isObject(given) ? given : {};
  const { title, description } = schema;
  const items = schema["type"] === "array" && isObject(schema["items"]) ? schema["items"] : undefined;
  const choices = choicesOf(items ?? schema);
  return {
    name,
    schema,
    kind: choices.length > 0 && items === undefined ? "choice" : kindOf(schema),
    title: typeof title === "string" && title.trim() !== "" ? title : undefined,
    description: typeof description === "string" && description.trim() !== "" ? description : undefined,
    required,
    choices,
    preset: presetOf(schema),
  };
}

function kindOf({ type }: Schema): FormField["kind"] {
  if (type === "array") return "choices";
  return type === "number" || type === "integer" || type === "boolean" ? type : "text";
}

/** `enum`, with titles in `enumNames` as earlier revisions had them, or titled alternatives. */
function choicesOf(schema: Schema): Choice[] {
  const { enum: values, enumNames } = schema;
  if (Array.isArray(values)) {
    const names: unknown[] = Array.isArray(enumNames) ? enumNames : [];
    return values.flatMap((value: unknown, index) => choice(value, names[index]));
  }
  const titled = schema["oneOf"] ?? schema["anyOf"];
  if (!Array.isArray(titled)) return [];
  return titled.flatMap((option: unknown) =>
    isObject(option) ? choice(option["const"], option["title"]) : [],
  );
}

function choice(value: unknown, title: unknown): Choice[] {
  if (typeof value !== "string") return [];
  return [{ value, title: typeof title === "string" && title.trim() !== "" ? title : value }];
}

function presetOf(schema: Schema): FormValue | undefined {
  const value = schema["default"];
  return value === undefined || fieldProblem(schema, value) !== undefined ? undefined : (value as FormValue);
}

const FORMATS: ReadonlyMap<unknown, string> = new Map([
  ["email", "an email address"],
  ["uri", "a URL"],
  ["date", "a date, like 2026-07-28"],
  ["date-time", "a date and time, like 2026-07-28T09:00:00Z"],
]);

/** What a field takes, in words: `an integer from 1 to 5`. */
export function expectedOf({ kind, schema, choices }: FormField): string {
  const values = choices.map(({ value }) => value);
  switch (kind) {
    case "boolean":
      return "true or false";
    case "number":
      return `a number${range(schema["minimum"], schema["maximum"])}`;
    case "integer":
      return `an integer${range(schema["minimum"], schema["maximum"])}`;
    case "choice":
      return listed(values);
    case "choices": {
      const some = amount(schema["minItems"], schema["maxItems"], "");
      const what = choices.length > 0 ? listed(values).replace(/^one of /, "") : "texts";
      return `${some || "any number"} of ${what}`;
    }
    case "text": {
      const length = amount(schema["minLength"], schema["maxLength"], " characters");
      return `${FORMATS.get(schema["format"]) ?? "text"}${length && `, ${length}`}`;
    }
  }
}

function range(least: unknown, most: unknown): string {
  if (typeof least === "number" && typeof most === "number") return ` from ${least} to ${most}`;
  if (typeof least === "number") return ` of at least ${least}`;
  return typeof most === "number" ? ` of at most ${most}` : "";
}

function amount(least: unknown, most: unknown, unit: string): string {
  const from = typeof least === "number" && least > 0 ? least : undefined;
  const to = typeof most === "number" ? most : undefined;
  if (from !== undefined && to !== undefined)
    return from === to ? `${from}${unit}` : `${from} to ${to}${unit}`;
  if (from !== undefined) return `at least ${from}${unit}`;
  return to === undefined ? "" : `at most ${to}${unit}`;
}

/** What is wrong with a value: `expected an email address, got "x"`; undefined where it fits. */
export function valueProblem(field: FormField, value: unknown): string | undefined {
  const expected = fieldProblem(field.schema, value);
  if (expected === undefined) return undefined;
  return `expected ${expected.startsWith("the format ") ? expectedOf(field) : expected}, got ${shown(value)}`;
}

/** Like the names of secrets, which a form must not ask for (client/elicitation, User Interaction Model). */
const SECRET =
  /\b(pass ?(word|phrase|code)s?|pwd|secrets?|api ?keys?|private ?keys?|(access|auth|bearer|refresh) ?tokens?|credentials?|cvv|cvc|pin)\b/i;

/** Whether somebody should think twice before typing what the field asks for. */
export function looksSecret({ name, title, kind }: FormField): boolean {
  const words = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/[_.-]+/g, " ");
  return (
    kind !== "boolean" && kind !== "choice" && kind !== "choices" && SECRET.test(`${words} ${title ?? ""}`)
  );
}
