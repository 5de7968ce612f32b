/** The JSON Schema dialects that are validated, by the URI in `$schema` (basic, Schema Dialect). */
import type { JsonSchema } from "../protocol/features.js";

export type Dialect = "2020-12" | "2019-09" | "7" | "4";

const DIALECTS = new Map<string, Dialect>([
  ["https://json-schema.org/draft/2020-12/schema", "2020-12"],
  ["https://json-schema.org/draft/2019-09/schema", "2019-09"],
  ["http://json-schema.org/draft-07/schema", "7"],
  ["https://json-schema.org/draft-07/schema", "7"],
  // Draft 6 differs from draft 7 only in what it lacks.
  ["http://json-schema.org/draft-06/schema", "7"],
  ["http://json-schema.org/draft-04/schema", "4"],
]);

/** The dialect a schema declares, 2020-12 where it declares none, undefined where it is not supported. */
export function dialectOf(schema: JsonSchema): Dialect | undefined {
  const uri = schema["$schema"];
  if (uri === undefined) return "2020-12";
  return typeof uri === "string" ? DIALECTS.get(uri.replace(/#$/, "")) : undefined;
}
