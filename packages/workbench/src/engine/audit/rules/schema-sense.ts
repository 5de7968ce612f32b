/** Schemas that are valid and still go wrong: what says nothing, contradicts itself, or is refused by hosts. */

import { isDeepStrictEqual } from "node:util";
import { headerParams, schemaProblems } from "mica-mcp/schema";
import { isObject, shown } from "../../json.js";
import type { Audited } from "../audited.js";
import type { Found, Rule } from "../rule.js";
import { problemWith } from "./sample-values.js";
import { at, type Place, placesOf, type ToolSchema, toolSchemas } from "./schema-walk.js";

type Look = (place: Place, schema: ToolSchema) => Found[];

export const SCHEMA_SENSE: readonly Rule[] = [
  {
    id: "schema-required",
    severity: "note",
    section: "server/tools, Tool",
    title: "Every required property is described",
    run: everyPlace(requiredProperties),
  },
  {
    id: "schema-default",
    severity: "warning",
    section: "JSON Schema Validation, 9.2",
    title: "Defaults are valid by their own schema",
    run: everyPlace(defaults),
  },
  {
    id: "schema-enum",
    severity: "warning",
    section: "JSON Schema Validation, 6.1.2",
    title: "Enumerations name something, and each value once",
    run: everyPlace(enumerations),
  },
  {
    id: "schema-for-hosts",
    severity: "note",
    section: "server/tools, Tool",
    title: "Input schemas have no form that model providers refuse",
    run: everyPlace(refusedForms),
  },
  {
    id: "schema-size",
    severity: "note",
    section: "basic, Composition-Keyword Resource Use",
    title: "Schemas are small enough to be validated and read",
    run: ({ catalogue }) => toolSchemas(catalogue).flatMap(size),
  },
  {
    id: "header-annotation",
    severity: "error",
    section: "server/tools, x-mcp-header",
    title: "x-mcp-header stands only where it can be mirrored",
    era: "modern",
    run: ({ catalogue }) => toolSchemas(catalogue).flatMap(headerAnnotations),
  },
  {
    id: "header-secret",
    severity: "warning",
    section: "server/tools, x-mcp-header",
    title: "No secret is mirrored into a header",
    era: "modern",
    run: ({ catalogue }) => toolSchemas(catalogue).flatMap(mirroredSecrets),
  },
];

/** Of every schema that is valid: others are found by other rules. */
function everyPlace(look: Look): (audited: Audited) => Found[] {
  return ({ catalogue }) =>
    toolSchemas(catalogue)
      .filter(({ schema }) => schemaProblems(schema).length === 0)
      .flatMap((one) => placesOf(one.schema).flatMap((place) => look(place, one)));
}

const ELSEWHERE = ["allOf", "anyOf", "oneOf", "if", "$ref", "$dynamicRef", "dependentSchemas"];

export function requiredProperties({ node, path, inPlace }: Place, schema: ToolSchema): Found[] {
  const { required, properties, patternProperties, additionalProperties } = node;
  if (!Array.isArray(required) || inPlace || ELSEWHERE.some((keyword) => node[keyword] !== undefined))
    return [];
  const known = isObject(properties) ? properties : {};
  const unknown = required.filter((name) => typeof name === "string" && !Object.hasOwn(known, name));
  if (unknown.length === 0 || patternProperties !== undefined || isObject(additionalProperties)) return [];
  const names = unknown.map((name) => JSON.stringify(name)).join(", ");
  const impossible = additionalProperties === false;
  return [
    {
      message: `${at(schema, path)} requires ${names}, which ${impossible ? "it forbids: nothing is valid" : "it does not describe"}`,
      evidence: `"required": ${shown(required, 200)}, "properties" has ${shown(Object.keys(known), 200)}`,
      fix: `Describe ${names} in properties, or do not require it.`,
      ...(impossible && { severity: "warning" as const }),
    },
  ];
}

/** "It is RECOMMENDED that a default value be valid against the associated schema." */
export function defaults({ node, path }: Place, schema: ToolSchema): Found[] {
  if (!Object.hasOwn(node, "default")) return [];
  const root = isObject(schema.schema) ? schema.schema : {};
  const { $schema, $defs, definitions } = root;
  const problem = problemWith(node["default"], {
    ...($schema !== undefined && { $schema }),
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
    ...node,
  });
  if (problem === undefined) return [];
  return [
    {
      message: `${at(schema, path)}: the default ${shown(node["default"])} is invalid: ${problem}`,
      evidence: shown(node, 200),
      fix: "Make the default a valid value, or allow it (null by a type that has null).",
    },
  ];
}

/** "This array SHOULD have at least one element. Elements in the array SHOULD be unique." */
export function enumerations({ node, path }: Place, schema: ToolSchema): Found[] {
  const { enum: values } = node;
  if (!Array.isArray(values)) return [];
  const evidence = `"enum": ${shown(values, 200)}`;
  if (values.length === 0) {
    const fix = "Name the values, or leave enum out.";
    return [{ message: `${at(schema, path)}: enum is empty, so nothing is valid`, evidence, fix }];
  }
  const few = values.slice(0, 500);
  const repeated = few.find((value, index) =>
    few.slice(0, index).some((other) => isDeepStrictEqual(other, value)),
  );
  if (repeated === undefined) return [];
  const message = `${at(schema, path)}: enum names ${shown(repeated)} more than once`;
  return [{ message, evidence, fix: "Name each value once." }];
}

const UNIONS = ["anyOf", "oneOf", "allOf"];

export function refusedForms({ node, path }: Place, schema: ToolSchema): Found[] {
  if (schema.member !== "inputSchema") return [];
  const found: Found[] = [];
  const union = path === "" ? UNIONS.find((keyword) => node[keyword] !== undefined) : undefined;
  if (union !== undefined) {
    found.push({
      message: `${at(schema, path)} has ${union} at the top, which model providers refuse for tools`,
      evidence: `"${union}": ${shown(node[union], 200)}`,
      fix: "Describe all properties at the top, and check what goes together in the handler; or make two tools.",
    });
  }
  const types: unknown[] = [node["type"]].flat();
  if (types.includes("array") && node["items"] === undefined && node["prefixItems"] === undefined) {
    found.push({
      message: `${at(schema, path)} is an array without items, which model providers refuse`,
      evidence: shown(node, 200),
      fix: 'Say what it holds: "items": { "type": "string" }, or "items": {} for anything.',
    });
  }
  return found;
}

/** Beyond these a schema is no longer read by anybody, and costs more than it says. */
const SIZE_LIMITS = { depth: 16, subschemas: 1_000, characters: 64 * 1024 } as const;

export function size(one: ToolSchema): Found[] {
  const places = placesOf(one.schema);
  const depth = places.reduce((most, place) => Math.max(most, place.depth), 0);
  const json = jsonOf(one.schema);
  const characters = json?.length ?? 0;
  const over = [
    ...(depth > SIZE_LIMITS.depth ? [`subschemas ${depth} levels deep`] : []),
    ...(places.length > SIZE_LIMITS.subschemas ? [`${places.length} subschemas`] : []),
    ...(characters > SIZE_LIMITS.characters ? [`${characters} characters`] : []),
  ];
  if (over.length === 0) return [];
  return [
    {
      message: `${at(one, "")} has ${over.join(" and ")}`,
      evidence: json === undefined ? over.join(" and ") : json.slice(0, 200),
      fix: `Keep it under ${SIZE_LIMITS.depth} levels, ${SIZE_LIMITS.subschemas} subschemas and ${SIZE_LIMITS.characters / 1024} KiB, or take free text and check it in the handler.`,
    },
  ];
}

/** Undefined where it is nested too deep to be written. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

export function headerAnnotations(one: ToolSchema): Found[] {
  if (one.member !== "inputSchema" || !isObject(one.schema)) return [];
  const { problem } = headerParams(one.schema);
  if (problem === undefined) return [];
  const fix = "Mend or drop the annotation: over HTTP clients must leave the whole tool out.";
  return [{ message: `${at(one, "")}: ${problem}`, evidence: problem, fix }];
}

const SECRET = /pass(?:word|wd|phrase)|secret|token|api[-_]?key|credential|private[-_]?key|\bssn\b|\bpin\b/i;
/** Tokens that are counted or continued with, which nobody has to hide. */
const NO_SECRET =
  /(?:max|min|num|count|page|next|continuation)[-_]?tokens?|tokens?[-_]?(?:count|limit|budget)/i;

/** "Server developers SHOULD NOT mark sensitive parameters (passwords, API keys, tokens, PII) with `x-mcp-header`." */
export function mirroredSecrets(one: ToolSchema): Found[] {
  if (one.member !== "inputSchema" || !isObject(one.schema)) return [];
  const { params = [] } = headerParams(one.schema);
  return params
    .filter(({ path }) => SECRET.test(path.at(-1) ?? "") && !NO_SECRET.test(path.at(-1) ?? ""))
    .map(({ header, path }) => ({
      message: `${one.tool}: the parameter ${path.join(".")} looks like a secret and is mirrored into the header ${header}`,
      evidence: `${header} at properties.${path.join(".properties.")}`,
      fix: "Do not mirror it: headers are seen by every proxy and written to access logs.",
    }));
}
