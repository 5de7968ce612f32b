/**
 * Validating values against JSON Schema given as data, with a well-kept validator that generates no code.
 * It is loaded at first use, so that servers whose schemas come from a library never pay for it.
 */
import type { JsonSchema } from "../protocol/features.js";
import { dialectOf } from "./dialect.js";
import type { Problem } from "./validate.js";

/** Problems of a value; empty where it is valid. */
export type JsonSchemaValidator = (value: unknown) => Problem[];

/**
 * Prepares a validator for a schema, by its declared dialect (2020-12, 2019-09, draft-07, draft-06, draft-04).
 *
 * @throws TypeError where the dialect is not supported.
 * @example const validate = await compileJsonSchema({ type: "integer" }); validate("x").length === 1
 */
export async function compileJsonSchema(schema: JsonSchema | boolean): Promise<JsonSchemaValidator> {
  const dialect = typeof schema === "boolean" ? "2020-12" : dialectOf(schema);
  if (dialect === undefined) {
    const uri = JSON.stringify((schema as JsonSchema)["$schema"]);
    throw new TypeError(
      `unsupported JSON Schema dialect ${uri}: expected 2020-12, 2019-09, draft-07, draft-06 or draft-04`,
    );
  }
  const { Validator } = await import("@cfworker/json-schema");
  const validator = new Validator(schema, dialect, false);
  return (value) => {
    const { valid, errors } = validator.validate(value);
    return valid ? [] : leaves(errors);
  };
}

interface OutputUnit {
  keyword: string;
  instanceLocation: string;
  error: string;
}

/** Keywords whose error only says that some other error stands below them. */
const CONTAINERS = new Set([
  "properties",
  "items",
  "prefixItems",
  "allOf",
  "$ref",
  "$dynamicRef",
  "additionalProperties",
  "if",
]);

/** The errors that a reader can act on: those that do not merely repeat an inner one. */
function leaves(errors: readonly OutputUnit[]): Problem[] {
  const specific = errors.filter((unit) => !(CONTAINERS.has(unit.keyword) && hasInner(unit, errors)));
  const seen = new Set<string>();
  return (specific.length ? specific : errors).flatMap((unit) => {
    const problem = { path: readPointer(unit.instanceLocation), message: unit.error };
    const key = `${problem.path}\n${problem.message}`;
    if (seen.has(key)) return [];
    seen.add(key);
    return [problem];
  });
}

function hasInner(unit: OutputUnit, errors: readonly OutputUnit[]): boolean {
  return errors.some(
    (other) =>
      other !== unit &&
      other.instanceLocation.startsWith(unit.instanceLocation) &&
      !CONTAINERS.has(other.keyword),
  );
}

/** `#/items/0/name` as `items[0].name`. */
function readPointer(pointer: string): string {
  let path = "";
  for (const token of pointer.split("/").slice(1)) {
    const key = decodeURIComponent(token).replaceAll("~1", "/").replaceAll("~0", "~");
    path += /^\d+$/.test(key) ? `[${key}]` : path ? `.${key}` : key;
  }
  return path;
}
