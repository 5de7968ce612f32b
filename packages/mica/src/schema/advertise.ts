/**
 * From an author's schema to the JSON Schema 2020-12 that is advertised: lean, with nothing in it that
 * nobody wrote, since every key is read (and paid for) by a model at every turn.
 */
import type { JsonSchema } from "../protocol/features.js";
import { checkJsonSchema } from "./check.js";
import { convert, tryConvert } from "./convert.js";
import { lean } from "./lean.js";
import { isStandardSchema, type Schema } from "./standard.js";

/**
 * The JSON Schema of a schema.
 *
 * @param direction `input` for what a caller must send, `output` for what a handler returns.
 * @throws TypeError naming `what` and the path, where JSON Schema cannot express the schema.
 * @example advertise(z.object({ title: z.string() }), "input", 'tool "create_event"')
 */
export function advertise(schema: Schema, direction: "input" | "output", what: string): JsonSchema {
  if (!isStandardSchema(schema)) {
    refuseShape(schema, what);
    checkJsonSchema(schema, what);
    return schema as JsonSchema;
  }
  const converted = convert(schema, direction, what);
  const result = lean(converted, direction === "output" ? tryConvert(schema, "input") : undefined);
  checkJsonSchema(result, what);
  return result;
}

/** How libraries make a schema of an object. */
const CALLS = new Map([
  ["zod", "z.object"],
  ["valibot", "v.object"],
  ["arktype", "type"],
]);

/** An object of schemas is not a schema of an object, although some libraries of old took it for one. */
function refuseShape(schema: object, what: string): void {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return;
  const found = Object.entries(schema).find(([, value]) => isStandardSchema(value));
  if (found === undefined) return;
  const [name, inner] = found;
  const call = CALLS.get(inner["~standard"].vendor);
  throw new TypeError(
    `${what}: got an object of schemas (${name}, ...), expected a schema of an object${call ? `: ${call}({ ${name}: ... })` : ""}`,
  );
}
