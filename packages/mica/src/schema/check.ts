/**
 * Checks, at registration, that a JSON Schema object can be advertised and validated: plain JSON, keywords
 * of the right shape, references that stay inside the document (basic, JSON Schema Usage).
 */
import type { JsonSchema } from "../protocol/features.js";
import { type Dialect, dialectOf } from "./dialect.js";
import { expectedOf, patternProblem } from "./keyword-values.js";
import { SUBSCHEMA_LIST, SUBSCHEMA_MAP, subschemasOf } from "./keywords.js";
import { findEndless, type References, readReferences } from "./references.js";

export const SCHEMA_LIMITS = {
  /** Deepest nesting of a schema, in levels of JSON: with the list around it, it must fit into a message. */
  maxDepth: 100,
  /** Most subschemas: a bound on what one validation can cost. */
  maxSubschemas: 10_000,
} as const;

/** @throws TypeError naming `what` and the path of the first thing that is wrong. */
export function checkJsonSchema(schema: unknown, what: string): void {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    throw new TypeError(
      `${what}: a schema must be a Standard Schema or a JSON Schema object, got ${describe(schema)}`,
    );
  }
  checkPlainJson(schema, "", what, []);
  const root = schema as JsonSchema;
  const dialect = dialectOf(root);
  if (dialect === undefined) {
    throw new TypeError(`${what}: unsupported JSON Schema dialect ${describe(root["$schema"])} at $schema`);
  }
  const references = readReferences(root, dialect);
  const check: Check = { what, dialect, references, subschemas: 0 };
  checkSubschema(root, "", check);
  const endless = findEndless(root, references);
  if (endless !== undefined) {
    throw new TypeError(
      `${what}: ${endless} refers back to itself without end, so that nothing could be validated`,
    );
  }
}

function checkPlainJson(value: unknown, path: string, what: string, parents: object[]): void {
  if (value === null || typeof value === "string" || typeof value === "boolean") return;
  if (typeof value === "number" && Number.isFinite(value)) return;
  const at = path || "the schema";
  const plain = typeof value === "object" && (Array.isArray(value) || isPlainObject(value));
  if (!plain) throw new TypeError(`${what}: ${at} is not JSON: ${describe(value)}`);
  if (parents.includes(value)) throw new TypeError(`${what}: ${at} refers to itself; use $ref`);
  if (parents.length >= SCHEMA_LIMITS.maxDepth) {
    throw new TypeError(`${what}: ${at} is nested deeper than ${SCHEMA_LIMITS.maxDepth} levels`);
  }
  parents.push(value);
  // Not entries(): an array may have holes.
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    const inner = (value as Record<string | number, unknown>)[key];
    checkPlainJson(inner, path ? `${path}.${key}` : String(key), what, parents);
  }
  parents.pop();
}

const REFERENCES = new Set(["$ref", "$dynamicRef", "$recursiveRef"]);

interface Check {
  readonly what: string;
  readonly dialect: Dialect;
  readonly references: References;
  subschemas: number;
}

function checkSubschema(node: unknown, path: string, check: Check): void {
  const { what, dialect, references } = check;
  if (typeof node === "boolean") return;
  const at = path || "the schema";
  if (!isPlainObject(node)) throw new TypeError(`${what}: ${at} must be a schema, got ${describe(node)}`);
  if (++check.subschemas > SCHEMA_LIMITS.maxSubschemas) {
    throw new TypeError(`${what}: the schema has more than ${SCHEMA_LIMITS.maxSubschemas} subschemas`);
  }
  for (const [key, value] of Object.entries(node)) {
    const expected = expectedOf(key, value, dialect) ?? expectedShape(key, value, dialect);
    if (expected !== undefined)
      throw new TypeError(`${what}: ${at}: ${key} must be ${expected}, got ${describe(value)}`);
    if (REFERENCES.has(key)) checkReference(value as string, `${at}: ${key}`, references.baseOf(node), check);
  }
  for (const [step, inner] of subschemasOf(node)) {
    checkSubschema(inner, path ? `${path}.${step}` : step, check);
  }
}

/** What a keyword that holds subschemas must hold them in. */
function expectedShape(key: string, value: unknown, dialect: Dialect): string | undefined {
  if (SUBSCHEMA_MAP.has(key)) {
    if (!isPlainObject(value)) return "an object";
    return key === "patternProperties" ? Object.keys(value).map(patternProblem).find(Boolean) : undefined;
  }
  if (SUBSCHEMA_LIST.has(key))
    return Array.isArray(value) && value.length > 0 ? undefined : "a non-empty array";
  if (key !== "items" || !Array.isArray(value)) return undefined;
  return dialect === "2020-12" ? "a schema (a list of schemas is prefixItems)" : undefined;
}

/** "Implementations MUST NOT automatically dereference `$ref` values that resolve to a network URI." */
function checkReference(reference: string, at: string, base: string, { what, references }: Check): void {
  const found = references.resolve(reference, base);
  if (found === "outside") {
    throw new TypeError(
      `${what}: ${at} ${JSON.stringify(reference)} leaves the document; only local references are followed`,
    );
  }
  if (found === "nothing")
    throw new TypeError(`${what}: ${at} ${JSON.stringify(reference)} points at nothing`);
}

function isPlainObject(value: unknown): value is JsonSchema {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Not Object.prototype itself: that of another realm (a test runner's) is as plain.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
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
