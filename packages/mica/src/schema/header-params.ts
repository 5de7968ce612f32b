/**
 * `x-mcp-header`: which arguments of a tool are mirrored into HTTP headers (transports/streamable-http,
 * Custom Headers from Tool Parameters). Servers read it at registration, clients for every tool they list.
 */
import type { JsonSchema } from "../protocol/features.js";
import { isObject } from "../protocol/jsonrpc.js";

/** One argument that is mirrored. */
export interface HeaderParam {
  /** The full header name, lower case: `mcp-param-region`. */
  readonly header: string;
  /** Property names from the root of the arguments. */
  readonly path: readonly string[];
  readonly type: "string" | "integer" | "boolean";
}

/** The mirrored arguments of a schema, or the first thing that makes its annotations invalid. */
export type HeaderParams =
  | { readonly params: readonly HeaderParam[]; readonly problem?: undefined }
  | { readonly problem: string; readonly params?: undefined };

const ANNOTATION = "x-mcp-header";
/** `1*tchar` (RFC 9110, section 5.6.2). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Their values are instances, not schemas: an `x-mcp-header` in them is data. */
const DATA_KEYWORDS = new Set(["const", "enum", "default", "examples"]);
/** Their values map names to schemas, so that their own keys are no keywords. */
const SCHEMA_MAPS = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
const MAX_DEPTH = 128;

/**
 * Reads the `x-mcp-header` annotations of a tool's input schema.
 *
 * @example headerParams({ type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } })
 *   // { params: [{ header: "mcp-param-region", path: ["region"], type: "string" }] }
 */
export function headerParams(schema: JsonSchema): HeaderParams {
  const params: HeaderParam[] = [];
  const problem = readProperties(schema, [], params) ?? findRepeated(params);
  return problem === undefined ? { params } : { problem };
}

/** Own property at a path; undefined where it, or anything on the way, is absent or null. */
export function readPath(args: unknown, path: readonly string[]): unknown {
  let value = args;
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value ?? undefined;
}

/** A value to mirror, beside the header that it goes into. */
export interface MirroredArgument extends Omit<HeaderParam, "path"> {
  readonly value: unknown;
}

const NO_HEADERS: readonly MirroredArgument[] = [];

/**
 * The values to mirror. Absent and null arguments have no header.
 *
 * @throws TypeError naming an argument that cannot stand in a header.
 */
export function mirrorArguments(params: readonly HeaderParam[], args: unknown): readonly MirroredArgument[] {
  if (params.length === 0) return NO_HEADERS;
  return params.flatMap(({ header, path, type }) => {
    const value = readPath(args, path);
    if (value === undefined) return [];
    const unsafe = typeof value === "number" && !Number.isSafeInteger(value);
    if (unsafe || (typeof value === "string" && !value.isWellFormed())) {
      const expected = unsafe ? "an integer within ±(2^53 − 1)" : "well-formed Unicode";
      const got = JSON.stringify(value).slice(0, 80);
      throw new TypeError(
        `arguments.${path.join(".")}: expected ${expected}, because it is mirrored into ${header}; got ${got}`,
      );
    }
    return [{ header, type, value }];
  });
}

/** Follows the only chain on which annotations are allowed: `properties`, then a name, and so on. */
function readProperties(
  schema: JsonSchema,
  path: readonly string[],
  found: HeaderParam[],
): string | undefined {
  if (path.length > MAX_DEPTH) return tooDeep(path);
  if (Object.hasOwn(schema, ANNOTATION)) {
    const param = readAnnotation(schema, path);
    if (typeof param === "string") return param;
    found.push(param);
  }
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === ANNOTATION || DATA_KEYWORDS.has(keyword)) continue;
    if (keyword !== "properties" || !isObject(value)) {
      const problem = findMisplaced(value, keyword, path, SCHEMA_MAPS.has(keyword), 0);
      if (problem !== undefined) return problem;
      continue;
    }
    for (const [name, inner] of Object.entries(value)) {
      if (!isObject(inner)) continue;
      const problem = readProperties(inner, [...path, name], found);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function readAnnotation(schema: JsonSchema, path: readonly string[]): HeaderParam | string {
  const name = schema[ANNOTATION];
  const type = schema["type"];
  const at = `${ANNOTATION} ${JSON.stringify(name)} ${place(path)}`;
  if (path.length === 0) return `${at}: only properties can be mirrored, not the arguments as a whole`;
  if (typeof name !== "string") return `${at}: expected a string`;
  if (name === "") return `${at}: must not be empty`;
  if (!TOKEN.test(name)) return `${at}: must be an HTTP token (letters, digits and !#$%&'*+-.^_\`|~)`;
  if (type !== "string" && type !== "integer" && type !== "boolean") {
    const got = type === undefined ? "none is given" : `got ${JSON.stringify(type)}`;
    return `${at}: the type must be "string", "integer" or "boolean"; ${got}`;
  }
  return { header: `mcp-param-${name.toLowerCase()}`, path, type };
}

/** "An `x-mcp-header` annotation anywhere else makes the annotation [...] invalid." */
function findMisplaced(
  value: unknown,
  keyword: string,
  path: readonly string[],
  isMap: boolean,
  depth: number,
): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (depth > MAX_DEPTH) return tooDeep(path);
  if (!Array.isArray(value) && !isMap && Object.hasOwn(value, ANNOTATION)) {
    const name = JSON.stringify((value as JsonSchema)[ANNOTATION]);
    return `${ANNOTATION} ${name} under "${keyword}" ${place(path)}: only properties reached through "properties" alone can be mirrored`;
  }
  for (const [key, inner] of Object.entries(value)) {
    const isKeyword = !Array.isArray(value) && !isMap;
    if (isKeyword && DATA_KEYWORDS.has(key)) continue;
    const problem = findMisplaced(inner, keyword, path, isKeyword && SCHEMA_MAPS.has(key), depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** "MUST be case-insensitively unique among all `x-mcp-header` values." */
function findRepeated(params: readonly HeaderParam[]): string | undefined {
  const seen = new Map<string, readonly string[]>();
  for (const { header, path } of params) {
    const first = seen.get(header);
    if (first !== undefined) {
      return `${ANNOTATION}: ${header} is declared twice, ${place(first)} and ${place(path)}; names must differ in more than case`;
    }
    seen.set(header, path);
  }
  return undefined;
}

function place(path: readonly string[]): string {
  return path.length === 0 ? "at the root" : `at properties.${path.join(".properties.")}`;
}

function tooDeep(path: readonly string[]): string {
  return `${ANNOTATION}: the schema is nested deeper than ${MAX_DEPTH} levels ${place(path)}`;
}
