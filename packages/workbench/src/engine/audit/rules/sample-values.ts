/** Values that a schema allows, so that something can be called; and such that it forbids. */
import { isObject } from "../../json.js";
import { alternatives, type Schema } from "../../schema-alternatives.js";
import type { Members } from "../audited.js";
import { problemsOfValue } from "./validation.js";

/** Deepest value that is made up. */
const DEPTH = 6;

/** Arguments with just what is required; undefined where none could be made up that are valid. */
export function sampleArguments(schema: unknown): Members | undefined {
  if (!isObject(schema)) return {};
  const value = sample(schema, schema, 0);
  return isObject(value) && isValid(value, schema) ? value : undefined;
}

/** False too where the schema cannot be validated with. */
export function isValid(value: unknown, schema: unknown): boolean {
  return isObject(schema) && problemsOfValue(value, schema)?.length === 0;
}

/** The first problem of a value, in words; undefined where it has none, or that cannot be told. */
export function problemWith(value: unknown, schema: Members): string | undefined {
  const [first] = problemsOfValue(value, schema) ?? [];
  return first && (first.path === "" ? `the value ${first.message}` : `${first.path} ${first.message}`);
}

function sample(schema: unknown, root: Schema, depth: number): unknown {
  const [first] = safely(() => alternatives(schema, root)) ?? [];
  if (first === undefined) return null;
  const { examples, enum: values } = first;
  if (Object.hasOwn(first, "const")) return first["const"];
  if (Object.hasOwn(first, "default") && first["default"] !== null) return first["default"];
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  if (Array.isArray(values) && values.length > 0) return values[0];
  switch (typeOf(first)) {
    case "object":
      return sampleObject(first, root, depth);
    case "array":
      return sampleArray(first, root, depth);
    case "integer":
    case "number":
      return sampleNumber(first);
    case "boolean":
      return false;
    case "null":
      return null;
    default:
      return sampleText(first);
  }
}

function typeOf(schema: Schema): unknown {
  const [type] = [schema["type"]].flat();
  if (type !== undefined) return type;
  if (isObject(schema["properties"]) || Array.isArray(schema["required"])) return "object";
  return schema["items"] === undefined ? "string" : "array";
}

function sampleObject({ properties, required }: Schema, root: Schema, depth: number): Members {
  const known = isObject(properties) ? properties : {};
  const names = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  if (depth >= DEPTH) return {};
  return Object.fromEntries(
    names
      .slice(0, 100)
      .map((name) => [
        name,
        sample(Object.hasOwn(known, name) ? named(known[name], name) : {}, root, depth + 1),
      ]),
  );
}

/** What is called a URI is one, whether its schema says so or not: answers repeat it as that. */
function named(schema: unknown, name: string): unknown {
  const isText = isObject(schema) && schema["type"] === "string" && schema["format"] === undefined;
  return isText && isUriName(name) ? { ...schema, format: "uri" } : schema;
}

export function isUriName(name: string): boolean {
  return /(?:^|[_.-])(?:ur[il]|link|href)$|ur[il]$|Ur[il]$|UR[IL]$/.test(name);
}

/** Of a name that nobody can have (RFC 2606): what is called with it reaches nobody. */
export const SAMPLE_URI = "https://sample.invalid/";

function sampleArray({ items, minItems }: Schema, root: Schema, depth: number): unknown[] {
  const length = typeof minItems === "number" && depth < DEPTH ? Math.min(Math.max(minItems, 0), 10) : 0;
  return Array.from({ length }, () => sample(items ?? {}, root, depth + 1));
}

function sampleNumber({ minimum, maximum, exclusiveMinimum, multipleOf }: Schema): number {
  const step = typeof multipleOf === "number" && multipleOf > 0 ? multipleOf : 1;
  const above = typeof exclusiveMinimum === "number" ? exclusiveMinimum + step : undefined;
  const least = typeof minimum === "number" ? minimum : (above ?? Math.min(1, numberOr(maximum, 1)));
  return Math.ceil(least / step) * step;
}

const numberOr = (value: unknown, other: number) => (typeof value === "number" ? value : other);

const BY_FORMAT: Readonly<Record<string, string>> = {
  date: "2026-07-28",
  "date-time": "2026-07-28T09:00:00Z",
  time: "09:00:00Z",
  duration: "PT1H",
  email: "somebody@sample.invalid",
  hostname: "sample.invalid",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: SAMPLE_URI,
  uuid: "00000000-0000-4000-8000-000000000000",
};

function sampleText({ format, minLength, maxLength }: Schema): string {
  if (typeof format === "string" && Object.hasOwn(BY_FORMAT, format)) return BY_FORMAT[format] as string;
  const least = Math.min(Math.max(numberOr(minLength, 0), 0), 10_000);
  return "sample".padEnd(least, "x").slice(0, Math.max(least, Math.min(numberOr(maxLength, 6), 6)));
}

/** Arguments of other types than the schema has; undefined where it has no properties. */
export function wrongArguments(schema: unknown): Members | undefined {
  const properties = isObject(schema) && isObject(schema["properties"]) ? schema["properties"] : {};
  const names = Object.keys(properties).slice(0, 20);
  if (names.length === 0) return undefined;
  const wrong = Object.fromEntries(
    names.map((name) => {
      const { type } = isObject(properties[name]) ? properties[name] : { type: undefined };
      return [name, [type].flat().includes("string") || type === undefined ? { mica: [1] } : "mica"];
    }),
  );
  return isValid(wrong, schema) ? undefined : wrong;
}

function safely<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
