/**
 * From an author's schema to the JSON Schema 2020-12 that is advertised: lean, with nothing in it that
 * nobody wrote, since every key is read (and paid for) by a model at every turn.
 */
import type { JsonSchema } from "../protocol/features.js";
import { checkJsonSchema } from "./check.js";
import { isStandardSchema, type Schema, type StandardSchema } from "./standard.js";

const TARGET = "draft-2020-12";

/**
 * The JSON Schema of a schema.
 *
 * @param direction `input` for what a caller must send, `output` for what a handler returns.
 * @throws TypeError naming `what` and the path, where JSON Schema cannot express the schema.
 * @example advertise(z.object({ title: z.string() }), "input", 'tool "create_event"')
 */
export function advertise(schema: Schema, direction: "input" | "output", what: string): JsonSchema {
  if (!isStandardSchema(schema)) {
    checkJsonSchema(schema, what);
    return schema as JsonSchema;
  }
  const converted = lean(convert(schema, direction, what)) as JsonSchema;
  checkJsonSchema(converted, what);
  return converted;
}

function convert(schema: StandardSchema, direction: "input" | "output", what: string): JsonSchema {
  const { vendor, jsonSchema } = schema["~standard"];
  if (jsonSchema === undefined) {
    const hint =
      vendor === "valibot"
        ? "wrap it: toStandardJsonSchema(schema) from @valibot/to-json-schema"
        : "use a version of the library that implements Standard JSON Schema, or give a JSON Schema object";
    throw new TypeError(`${what}: this ${vendor} schema cannot describe itself as JSON Schema; ${hint}`);
  }
  try {
    return jsonSchema[direction]({ target: TARGET });
  } catch (cause) {
    const path = locate(schema, direction);
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TypeError(`${what}: JSON Schema cannot express ${path || "the schema"}: ${reason}`, { cause });
  }
}

/** Finds the innermost field that fails to convert: libraries name the type, seldom the place. */
function locate(schema: unknown, direction: "input" | "output", path = ""): string {
  for (const [key, field] of fieldsOf(schema)) {
    if (!isStandardSchema(field)) continue;
    const place = key === "[]" ? `${path}[]` : path ? `${path}.${key}` : key;
    try {
      field["~standard"].jsonSchema?.[direction]({ target: TARGET });
    } catch {
      return locate(field, direction, place);
    }
  }
  return path;
}

/** The inner schemas of an object or array schema, as zod (`shape`, `element`) and valibot (`entries`, `item`) keep them. */
function fieldsOf(schema: unknown): [string, unknown][] {
  const parts = schema as Record<string, unknown> | null;
  const fields = parts?.["shape"] ?? parts?.["entries"];
  if (typeof fields === "object" && fields !== null) return Object.entries(fields);
  const inner = parts?.["element"] ?? parts?.["item"];
  if (inner !== undefined) return [["[]", inner]];
  const unwrap = (parts?.["unwrap"] as (() => unknown) | undefined)?.bind(parts);
  return typeof unwrap === "function" ? fieldsOf(unwrap()) : [];
}

/** Keywords under which the keys are names, not keywords. */
const NAMED = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
/** Keywords whose value is data, to be left alone. */
const DATA = new Set(["const", "enum", "default", "examples", "required"]);

/** Removes what a library added on its own. */
function lean(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(lean);
  if (typeof node !== "object" || node === null) return node;
  const source = node as JsonSchema;
  const result: JsonSchema = {};
  for (const [key, value] of Object.entries(source)) {
    if (isNoise(key, value, source)) continue;
    if (DATA.has(key)) result[key] = value;
    else if (NAMED.has(key) && typeof value === "object" && value !== null) {
      result[key] = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, lean(inner)]));
    } else result[key] = lean(value);
  }
  return result;
}

function isNoise(key: string, value: unknown, node: JsonSchema): boolean {
  switch (key) {
    case "$schema":
    case "~standard":
      return true;
    // The bounds of a JavaScript integer, not of anything an author meant.
    case "minimum":
      return value === Number.MIN_SAFE_INTEGER;
    case "maximum":
      return value === Number.MAX_SAFE_INTEGER;
    // A pattern that merely spells out a well-known format.
    case "pattern":
      return typeof node["format"] === "string" && WELL_KNOWN_FORMATS.has(node["format"]);
    // Keys of a JSON object are strings anyway.
    case "propertyNames":
      return JSON.stringify(value) === '{"type":"string"}';
    default:
      return false;
  }
}

const WELL_KNOWN_FORMATS = new Set([
  "date-time",
  "date",
  "time",
  "duration",
  "email",
  "uri",
  "uuid",
  "ipv4",
  "ipv6",
  "hostname",
]);
