/** Validating values against JSON Schema given as data. */
import type { JsonSchema } from "../protocol/features.js";
import { compileSchema } from "./compile.js";
import { dialectOf } from "./dialect.js";
import { type Check, Run } from "./evaluation.js";
import { hasSlowPattern, withinTime } from "./time-limit.js";
import type { Problem } from "./validate.js";

/**
 * Problems of a value; empty where it is valid.
 *
 * @throws Error where validation would take too long.
 */
export type JsonSchemaValidator = (value: unknown) => Problem[];

/**
 * Prepares a validator for a schema, by its declared dialect (2020-12, 2019-09, draft-07, draft-06, draft-04).
 * Formats that it knows are checked, others ignored; references are followed within the schema only.
 *
 * @throws TypeError where the dialect is not supported, or a reference leads out of the schema.
 * @example const validate = compileJsonSchema({ type: "integer" }); validate("x").length === 1
 */
export function compileJsonSchema(schema: JsonSchema | boolean): JsonSchemaValidator {
  if (typeof schema === "boolean") return () => (schema ? [] : [{ path: "", message: "is not allowed" }]);
  const dialect = dialectOf(schema);
  if (dialect === undefined) {
    const uri = JSON.stringify(schema["$schema"]);
    throw new TypeError(
      `unsupported JSON Schema dialect ${uri}: expected 2020-12, 2019-09, draft-07, draft-06 or draft-04`,
    );
  }
  const check = compileSchema(schema, dialect);
  const validate: JsonSchemaValidator = (value) =>
    check(value, new Run(value, undefined), undefined) ? [] : allProblems(check, value);
  return hasSlowPattern(schema) ? (value) => withinTime(() => validate(value)) : validate;
}

function allProblems(check: Check, value: unknown): Problem[] {
  const problems: Problem[] = [];
  check(value, new Run(value, problems), undefined);
  return unique(problems);
}

/** Each problem once: alternatives and references find the same more than once. */
function unique(problems: readonly Problem[]): Problem[] {
  const seen = new Set<string>();
  return problems.filter(({ path, message }) => {
    const key = `${path}\n${message}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
