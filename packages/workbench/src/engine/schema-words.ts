/** Schemas and values in words: what an argument may be, for messages and for the signature of a tool. */

import { isObject, shown } from "./json.js";
import { alternatives, namedTypes, type Schema, UnfollowedReference } from "./schema-alternatives.js";

const EXPECTED: Readonly<Record<string, string>> = {
  string: "a string",
  integer: "an integer",
  number: "a number",
  boolean: "true or false",
  null: "null",
  array: "a list",
  object: "an object",
};

/** `integer` as `an integer`. */
export function expectedType(name: string): string {
  return Object.hasOwn(EXPECTED, name) ? (EXPECTED[name] as string) : JSON.stringify(name);
}

/** `one of sev1, sev2`, or the only one. */
export function listed(values: readonly unknown[]): string {
  const texts = values.map((value) => (typeof value === "string" ? plainWord(value) : shown(value)));
  const [only, ...others] = texts;
  if (only === undefined) return "nothing";
  if (others.length === 0) return only;
  return texts.length > 30
    ? `one of ${texts.slice(0, 30).join(", ")}, ... (${texts.length})`
    : `one of ${texts.join(", ")}`;
}

/** What a schema expects: `an integer or null`. */
export function expectation(schema: unknown, root: Schema): string {
  const words = laidOut(schema, root).flatMap((flat) => {
    if (Object.hasOwn(flat, "const")) return listed([flat["const"]]);
    if (Array.isArray(flat["enum"])) return listed(flat["enum"]);
    return typesToRead(flat).map(expectedType);
  });
  const unique = [...new Set(words)];
  return unique.length ? unique.join(" or ") : "nothing";
}

/** The types that a flat schema may be read as: those it names, else what its keywords are about, else text. */
export function typesToRead(flat: Schema): string[] {
  const named = namedTypes(flat);
  if (named.length > 0) return named;
  if (["properties", "required", "additionalProperties"].some((key) => flat[key] !== undefined))
    return ["object"];
  if (["items", "prefixItems"].some((key) => flat[key] !== undefined)) return ["array"];
  return ["string"];
}

/**
 * The arguments of a tool on one line, in the order of its schema.
 *
 * @example signature(tool.inputSchema) === "title: string, severity: sev1|sev2, limit?: integer"
 */
export function signature(inputSchema: Schema): string {
  return members(inputSchema, inputSchema, 0) ?? "";
}

const DEEPEST_SHOWN = 2;

function members(schema: unknown, root: Schema, depth: number): string | undefined {
  const parts = new Map<string, { required: boolean; types: Set<string> }>();
  const options = laidOut(schema, root);
  for (const option of options) {
    if (!isObject(option["properties"])) continue;
    const required = Array.isArray(option["required"]) ? option["required"] : [];
    for (const [name, property] of Object.entries(option["properties"])) {
      const part = parts.get(name) ?? { required: true, types: new Set() };
      part.required &&= required.includes(name);
      part.types.add(typeText(property, root, depth));
      parts.set(name, part);
    }
  }
  if (parts.size === 0) return undefined;
  return [...parts]
    .map(([name, { required, types }]) => `${plainWord(name)}${required ? "" : "?"}: ${[...types].join("|")}`)
    .join(", ");
}

/** One schema as a type: `string`, `sev1|sev2`, `integer[]`, `{name: string}`. */
export function typeText(schema: unknown, root: Schema, depth = 0): string {
  const texts = laidOut(schema, root).flatMap((flat) => {
    if (Object.hasOwn(flat, "const")) return [literal(flat["const"])];
    if (Array.isArray(flat["enum"])) return enumText(flat["enum"]);
    if (namedTypes(flat).length === 0 && typesToRead(flat)[0] === "string") return ["any"];
    return typesToRead(flat).map((name) => namedTypeText(name, flat, root, depth));
  });
  return [...new Set(texts)].join("|") || "never";
}

function namedTypeText(name: string, flat: Schema, root: Schema, depth: number): string {
  if (name === "array") {
    if (depth >= DEEPEST_SHOWN || !isObject(flat["items"])) return "list";
    const item = typeText(flat["items"], root, depth + 1);
    return item.includes("|") ? `(${item})[]` : `${item}[]`;
  }
  if (name !== "object" || depth >= DEEPEST_SHOWN) return name;
  const inner = members({ properties: flat["properties"], required: flat["required"] }, root, depth + 1);
  return inner === undefined ? "object" : `{${inner}}`;
}

function enumText(values: readonly unknown[]): string[] {
  const shownValues = values.slice(0, 8).map(literal);
  return values.length > 8 ? [...shownValues, `...(${values.length})`] : shownValues;
}

function literal(value: unknown): string {
  return typeof value === "string" ? plainWord(value) : shown(value);
}

/** A word as it is; anything that could be misread, in quotes. */
function plainWord(word: string): string {
  return /^[\p{L}\p{N}_$@/+-][\p{L}\p{N}_$@/+.-]*$/u.test(word) ? word : shown(word);
}

function laidOut(schema: unknown, root: Schema): Schema[] {
  try {
    return alternatives(schema, root);
  } catch (error) {
    if (error instanceof UnfollowedReference) return [{}];
    throw error;
  }
}
