/**
 * Whether a JSON Schema object can be advertised and validated with: plain JSON, keywords of the right shape,
 * references that stay inside the document (basic, JSON Schema Usage).
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

/** One thing that is wrong with a schema. */
export interface SchemaProblem {
  /**
   * `not_json`: what no JSON text can hold; `not_a_schema`: neither an object nor a boolean; `dialect`: a `$schema` that
   * is not supported; `keyword`: a value that its keyword cannot have; `outside`: a reference that leaves the document;
   * `nowhere`: one that points at nothing; `endless`: one that leads back to itself; `too_large`: beyond
   * {@link SCHEMA_LIMITS}.
   */
  readonly kind:
    | "not_json"
    | "not_a_schema"
    | "dialect"
    | "keyword"
    | "outside"
    | "nowhere"
    | "endless"
    | "too_large";
  /** Of the subschema, like `properties.tags.items`; empty for the schema itself. */
  readonly path: string;
  /** Names the place and what was expected. */
  readonly message: string;
}

/** @throws TypeError naming `what` and the path of the first thing that is wrong. */
export function checkJsonSchema(schema: unknown, what: string): void {
  const [first] = schemaProblems(schema);
  if (first === undefined) return;
  const { kind, path, message } = first;
  const given =
    kind === "not_a_schema" && path === ""
      ? "a schema must be a Standard Schema or a JSON Schema object"
      : "";
  throw new TypeError(`${what}: ${given ? `${given}, got ${describe(schema)}` : message}`);
}

/**
 * All that is wrong with a JSON Schema object, by its declared dialect; empty where it is valid and can be validated
 * with. Nothing is fetched.
 *
 * @example schemaProblems({ type: "object", properties: { a: { $ref: "#/$defs/b" } } })[0].kind === "nowhere"
 */
export function schemaProblems(schema: unknown): readonly SchemaProblem[] {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    const message = `expected a JSON Schema object, got ${describe(schema)}`;
    return [{ kind: "not_a_schema", path: "", message }];
  }
  const unplain = findUnplain(schema, "", []);
  if (unplain !== undefined) return [unplain];
  const root = schema as JsonSchema;
  const dialect = dialectOf(root);
  if (dialect === undefined) {
    const message = `unsupported JSON Schema dialect ${describe(root["$schema"])} at $schema`;
    return [{ kind: "dialect", path: "", message }];
  }
  const references = readReferences(root, dialect);
  const check: Check = { dialect, references, subschemas: 0, problems: [] };
  checkSubschema(root, "", check);
  if (check.problems.length > 0) return check.problems;
  const endless = findEndless(root, references);
  if (endless === undefined) return [];
  const message = `${endless} refers back to itself without end, so that nothing could be validated`;
  return [{ kind: "endless", path: endless, message }];
}

function findUnplain(value: unknown, path: string, parents: object[]): SchemaProblem | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined;
  if (typeof value === "number" && Number.isFinite(value)) return undefined;
  const at = path || "the schema";
  const plain = typeof value === "object" && (Array.isArray(value) || isPlainObject(value));
  if (!plain) return { kind: "not_json", path, message: `${at} is not JSON: ${describe(value)}` };
  if (parents.includes(value)) return { kind: "not_json", path, message: `${at} refers to itself; use $ref` };
  if (parents.length >= SCHEMA_LIMITS.maxDepth) {
    const message = `${at} is nested deeper than ${SCHEMA_LIMITS.maxDepth} levels`;
    return { kind: "too_large", path, message };
  }
  parents.push(value);
  // Not entries(): an array may have holes.
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    const inner = (value as Record<string | number, unknown>)[key];
    const found = findUnplain(inner, path ? `${path}.${key}` : String(key), parents);
    if (found !== undefined) return found;
  }
  parents.pop();
  return undefined;
}

const REFERENCES = new Set(["$ref", "$dynamicRef", "$recursiveRef"]);

interface Check {
  readonly dialect: Dialect;
  readonly references: References;
  readonly problems: SchemaProblem[];
  subschemas: number;
}

function checkSubschema(node: unknown, path: string, check: Check): void {
  const { dialect, references, problems } = check;
  if (typeof node === "boolean" || check.subschemas > SCHEMA_LIMITS.maxSubschemas) return;
  const at = path || "the schema";
  if (!isPlainObject(node)) {
    problems.push({ kind: "not_a_schema", path, message: `${at} must be a schema, got ${describe(node)}` });
    return;
  }
  if (++check.subschemas > SCHEMA_LIMITS.maxSubschemas) {
    const message = `the schema has more than ${SCHEMA_LIMITS.maxSubschemas} subschemas`;
    problems.push({ kind: "too_large", path, message });
    return;
  }
  for (const [key, value] of Object.entries(node)) {
    const expected = expectedOf(key, value, dialect) ?? expectedShape(key, value, dialect);
    if (expected !== undefined) {
      const message = `${at}: ${key} must be ${expected}, got ${describe(value)}`;
      problems.push({ kind: "keyword", path, message });
    } else if (REFERENCES.has(key)) {
      const problem = referenceProblem(value as string, path, key, references.baseOf(node), references);
      if (problem !== undefined) problems.push(problem);
    }
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
function referenceProblem(
  reference: string,
  path: string,
  key: string,
  base: string,
  references: References,
): SchemaProblem | undefined {
  const found = references.resolve(reference, base);
  if (typeof found === "object") return undefined;
  const at = `${path || "the schema"}: ${key} ${JSON.stringify(reference)}`;
  return found === "outside"
    ? { kind: "outside", path, message: `${at} leaves the document; only local references are followed` }
    : { kind: "nowhere", path, message: `${at} points at nothing` };
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
