/**
 * Checks, at registration, that a JSON Schema object can be advertised and validated: plain JSON, keywords
 * of the right shape, references that stay inside the document (basic, JSON Schema Usage).
 */
import type { JsonSchema } from "../protocol/features.js";
import { dialectOf } from "./dialect.js";

/** Deepest nesting of a schema, in levels, and most subschemas: a bound on what one validation can cost. */
export const SCHEMA_LIMITS = { maxDepth: 64, maxSubschemas: 10_000 } as const;

const TYPES = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);
const SUBSCHEMA = new Set([
  "items",
  "additionalItems",
  "contains",
  "additionalProperties",
  "unevaluatedProperties",
  "unevaluatedItems",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
  "contentSchema",
]);
const SUBSCHEMA_LIST = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const SUBSCHEMA_MAP = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);

/** @throws TypeError naming `what` and the path of the first thing that is wrong. */
export function checkJsonSchema(schema: unknown, what: string): void {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    throw new TypeError(
      `${what}: a schema must be a Standard Schema or a JSON Schema object, got ${describe(schema)}`,
    );
  }
  checkPlainJson(schema, "", what, new Set());
  const dialect = (schema as JsonSchema)["$schema"];
  if (dialect !== undefined && dialectOf(schema as JsonSchema) === undefined) {
    throw new TypeError(`${what}: unsupported JSON Schema dialect ${JSON.stringify(dialect)} at $schema`);
  }
  const budget = { subschemas: 0 };
  checkSubschema(schema, "", what, schema as JsonSchema, 0, budget);
}

function checkPlainJson(value: unknown, path: string, what: string, parents: Set<object>): void {
  if (value === null || typeof value === "string" || typeof value === "boolean") return;
  if (typeof value === "number" && Number.isFinite(value)) return;
  const plain = typeof value === "object" && (Array.isArray(value) || isPlainObject(value));
  if (!plain) throw new TypeError(`${what}: ${path || "the schema"} is not JSON: ${describe(value)}`);
  if (parents.has(value as object))
    throw new TypeError(`${what}: ${path || "the schema"} refers to itself; use $ref`);
  parents.add(value as object);
  for (const [key, inner] of Object.entries(value as object)) {
    checkPlainJson(inner, path ? `${path}.${key}` : key, what, parents);
  }
  parents.delete(value as object);
}

function checkSubschema(
  node: unknown,
  path: string,
  what: string,
  root: JsonSchema,
  depth: number,
  budget: { subschemas: number },
): void {
  const at = path || "the schema";
  if (typeof node === "boolean") return;
  if (!isPlainObject(node)) throw new TypeError(`${what}: ${at} must be a schema, got ${describe(node)}`);
  if (depth > SCHEMA_LIMITS.maxDepth)
    throw new TypeError(`${what}: ${at} is nested deeper than ${SCHEMA_LIMITS.maxDepth} levels`);
  if (++budget.subschemas > SCHEMA_LIMITS.maxSubschemas) {
    throw new TypeError(`${what}: the schema has more than ${SCHEMA_LIMITS.maxSubschemas} subschemas`);
  }
  const inner = (value: unknown, key: string) =>
    checkSubschema(value, path ? `${path}.${key}` : key, what, root, depth + 1, budget);
  for (const [key, value] of Object.entries(node)) {
    if (key === "type") checkType(value, `${at}: type`, what);
    else if (key === "required") checkRequired(value, `${at}: required`, what);
    else if (key === "$ref") checkReference(value, `${at}: $ref`, what, root);
    else if (key === "pattern") checkPattern(value, `${at}: pattern`, what);
    else if (SUBSCHEMA_MAP.has(key)) {
      if (!isPlainObject(value))
        throw new TypeError(`${what}: ${at}: ${key} must be an object, got ${describe(value)}`);
      for (const [name, sub] of Object.entries(value)) inner(sub, `${key}.${name}`);
    } else if (SUBSCHEMA_LIST.has(key)) {
      if (!Array.isArray(value) || value.length === 0) {
        throw new TypeError(`${what}: ${at}: ${key} must be a non-empty array, got ${describe(value)}`);
      }
      for (const [index, sub] of value.entries()) inner(sub, `${key}[${index}]`);
    } else if (key === "items" && Array.isArray(value)) {
      // An array is allowed by drafts before 2020-12 only.
      for (const [index, sub] of value.entries()) inner(sub, `items[${index}]`);
    } else if (SUBSCHEMA.has(key)) inner(value, key);
  }
}

function checkType(value: unknown, at: string, what: string): void {
  const types = Array.isArray(value) ? value : [value];
  const wrong = types.find((type) => !TYPES.has(type as string));
  if (types.length === 0 || wrong !== undefined) {
    throw new TypeError(`${what}: ${at} must be one of ${[...TYPES].join(", ")}, got ${describe(value)}`);
  }
}

function checkRequired(value: unknown, at: string, what: string): void {
  if (!Array.isArray(value) || value.some((name) => typeof name !== "string")) {
    throw new TypeError(`${what}: ${at} must be an array of property names, got ${describe(value)}`);
  }
}

function checkPattern(value: unknown, at: string, what: string): void {
  try {
    new RegExp(value as string, "u");
  } catch (cause) {
    throw new TypeError(`${what}: ${at} is not a regular expression: ${describe(value)}`, { cause });
  }
}

/** "Implementations MUST NOT automatically dereference `$ref` values that resolve to a network URI." */
function checkReference(value: unknown, at: string, what: string, root: JsonSchema): void {
  if (typeof value !== "string")
    throw new TypeError(`${what}: ${at} must be a string, got ${describe(value)}`);
  if (value.startsWith("#/")) {
    if (!pointsInside(root, value))
      throw new TypeError(`${what}: ${at} ${JSON.stringify(value)} points at nothing`);
    return;
  }
  if (value.startsWith("#") || hasId(root, value)) return;
  throw new TypeError(
    `${what}: ${at} ${JSON.stringify(value)} leaves the document; only local references are followed`,
  );
}

function pointsInside(root: JsonSchema, pointer: string): boolean {
  let node: unknown = root;
  for (const token of pointer.slice(2).split("/")) {
    const key = decodeURIComponent(token).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, key)) return false;
    node = (node as Record<string, unknown>)[key];
  }
  return true;
}

/** Whether some subschema is identified by `uri`, so that the reference is local after all. */
function hasId(node: unknown, uri: string): boolean {
  if (typeof node !== "object" || node === null) return false;
  const id = (node as JsonSchema)["$id"];
  if (typeof id === "string" && (id === uri || uri.startsWith(`${id}#`))) return true;
  return Object.values(node).some((inner) => hasId(inner, uri));
}

function isPlainObject(value: unknown): value is JsonSchema {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function describe(value: unknown): string {
  if (value === undefined || typeof value === "function" || typeof value === "symbol") return typeof value;
  if (typeof value === "bigint") return `the bigint ${value}`;
  if (typeof value === "number") return String(value);
  if (typeof value === "object" && value !== null && !Array.isArray(value) && !isPlainObject(value)) {
    return `a ${value.constructor?.name ?? "object"}`;
  }
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
