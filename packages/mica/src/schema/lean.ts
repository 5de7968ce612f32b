/** Removing from a converted schema what the library added on its own: every key is read, and paid for, at every turn. */
import type { JsonSchema } from "../protocol/features.js";
import { mapSubschemas } from "./keywords.js";

/**
 * @param input for the schema of an output: that of the same value as an input, if there is one
 */
export function lean(schema: JsonSchema, input?: JsonSchema): JsonSchema {
  return mapSubschemas(schema, leanNode, input) as JsonSchema;
}

function leanNode(node: JsonSchema, input: unknown): JsonSchema {
  const result: JsonSchema = {};
  for (const key of Object.keys(node)) if (!isNoise(key, node, input)) result[key] = node[key];
  return result;
}

function isNoise(key: string, node: JsonSchema, input: unknown): boolean {
  const value = node[key];
  switch (key) {
    case "$schema":
    case "~standard":
      return true;
    // The bounds of a JavaScript integer, not of anything an author meant.
    case "minimum":
      return value === Number.MIN_SAFE_INTEGER;
    case "maximum":
      return value === Number.MAX_SAFE_INTEGER;
    case "pattern":
      return spellsOutFormat(value, node["format"]);
    // No formats, but what the pattern beside them is made for.
    case "format":
      return node["pattern"] !== undefined && CHECKS.has(value as string);
    // Keys of a JSON object are strings anyway.
    case "propertyNames":
      return JSON.stringify(value) === '{"type":"string"}';
    // Said of every object that was stripped, although its author did not ask for a strict one.
    case "additionalProperties":
      return value === false && isLoose(input);
    default:
      return false;
  }
}

const CHECKS = new Set(["starts_with", "ends_with", "includes", "lowercase", "uppercase"]);

/** An ordinary value of each format: a pattern that refuses it says more than the format does. */
const SAMPLES = new Map([
  ["date-time", "2024-02-29T23:59:59Z"],
  ["date", "2024-02-29"],
  ["duration", "P1DT2H"],
  ["email", "first.last+tag@mail.example.com"],
  ["uri", "http://example.com:8080/a?b=c#d"],
  ["uuid", "123e4567-e89b-12d3-a456-426614174000"],
  ["ipv4", "192.0.2.1"],
  ["ipv6", "2001:db8::1"],
  ["hostname", "mail.example.com"],
]);

function spellsOutFormat(pattern: unknown, format: unknown): boolean {
  const sample = SAMPLES.get(format as string);
  if (sample === undefined || typeof pattern !== "string") return false;
  try {
    return new RegExp(pattern, "u").test(sample);
  } catch {
    return false;
  }
}

function isLoose(input: unknown): boolean {
  return typeof input === "object" && input !== null && !Object.hasOwn(input, "additionalProperties");
}
