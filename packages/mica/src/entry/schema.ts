/** `mica-mcp/schema`: JSON Schema given as data: whether it is valid, what it holds, and validating values with it. */
export { SCHEMA_LIMITS, type SchemaProblem, schemaProblems } from "../schema/check.js";
export { type HeaderParam, type HeaderParams, headerParams } from "../schema/header-params.js";
export { compileJsonSchema, type JsonSchemaValidator } from "../schema/json-schema.js";
export { subschemasOf } from "../schema/keywords.js";
export type { Problem } from "../schema/validate.js";
