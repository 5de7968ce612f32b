/** One way to validate, whatever kind of schema an author gave; problems always name their place. */
import type { JsonSchema } from "../protocol/features.js";
import type { JsonSchemaValidator } from "./json-schema.js";
import { isStandardSchema, type Schema, type StandardResult } from "./standard.js";

/** One thing that is wrong with a value. `path` is like `items[0].name`; empty for the value itself. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

export type Validation =
  | { readonly value: unknown; readonly problems?: undefined }
  | { readonly problems: readonly Problem[] };

/** Validates a value; synchronous wherever the schema is, but for the first values of JSON Schema given as data. */
export type Validate = (value: unknown) => Validation | Promise<Validation>;

/**
 * Prepares validation of one schema. Cheap: what validates JSON Schema is loaded, and a validator built, at first use.
 *
 * @example const validate = createValidator(z.object({ id: z.string() })); validate({ id: 1 })
 */
export function createValidator(schema: Schema): Validate {
  return isStandardSchema(schema)
    ? standardValidator(schema["~standard"].validate)
    : dataValidator(schema as JsonSchema);
}

function standardValidator(
  validate: (value: unknown) => StandardResult<unknown> | Promise<StandardResult<unknown>>,
): Validate {
  return (value) => {
    const result = validate(value);
    return result instanceof Promise ? result.then(fromStandard) : fromStandard(result);
  };
}

function fromStandard(result: StandardResult<unknown>): Validation {
  if (result.issues === undefined) return result;
  return {
    problems: result.issues.map(({ message, path }) => ({ message, path: joinPath(path ?? []) })),
  };
}

function dataValidator(schema: JsonSchema): Validate {
  let validator: JsonSchemaValidator | undefined;
  const check = (value: unknown): Validation => {
    const problems = (validator as JsonSchemaValidator)(value);
    return problems.length ? { problems } : { value };
  };
  return (value) => {
    if (validator !== undefined) return check(value);
    return import("./json-schema.js").then(({ compileJsonSchema }) => {
      validator ??= compileJsonSchema(schema);
      return check(value);
    });
  };
}

function joinPath(path: readonly (PropertyKey | { readonly key: PropertyKey })[]): string {
  let joined = "";
  for (const segment of path) {
    const key = typeof segment === "object" ? segment.key : segment;
    joined += typeof key === "number" ? `[${key}]` : joined ? `.${String(key)}` : String(key);
  }
  return joined;
}

/** More than anyone corrects at once, and few enough to bound the answer to a large value that is wrong throughout. */
const MAX_DESCRIBED = 100;

/** All problems as one text, one a line: `startsAt: Invalid ISO datetime`. After a hundred the rest is counted. */
export function describeProblems(problems: readonly Problem[]): string {
  const lines = problems
    .slice(0, MAX_DESCRIBED)
    .map(({ path, message }) => (path ? `${path}: ${message}` : message));
  if (problems.length > MAX_DESCRIBED) lines.push(`... and ${problems.length - MAX_DESCRIBED} more`);
  return lines.join("\n");
}
