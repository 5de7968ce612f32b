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
    checkJsonSchema(schema, what);
    return schema as JsonSchema;
  }
  const converted = convert(schema, direction, what);
  const result = lean(converted, direction === "output" ? tryConvert(schema, "input") : undefined);
  checkJsonSchema(result, what);
  return result;
}
