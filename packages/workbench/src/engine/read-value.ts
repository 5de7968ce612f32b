/** Typed values out of text, by a JSON Schema: strictly, and never something other than what was written. */
import { isDeepStrictEqual } from "node:util";
import { isObject, readJson, shown } from "./json.js";
import { alternatives, namedTypes, type Schema, UnfollowedReference } from "./schema-alternatives.js";
import { itemSchema, misfit } from "./schema-fit.js";
import { expectation, expectedType, typesToRead } from "./schema-words.js";
import type { UsageProblem } from "./usage-error.js";

export type Reading =
  | { readonly value: unknown; readonly problems?: undefined }
  | { readonly problems: readonly UsageProblem[] };

/**
 * Reads what was given for one argument; more than one text where it was given repeatedly. Alternatives are
 * tried in the order of the schema, except that `null` is null wherever the schema says that null is allowed.
 *
 * @example readTexts(["5"], { type: "integer" }, root, "limit") // { value: 5 }
 */
export function readTexts(texts: readonly string[], schema: unknown, root: Schema, path: string): Reading {
  try {
    return readAlternatives(texts, schema, root, path);
  } catch (error) {
    if (!(error instanceof UnfollowedReference)) throw error;
    return problem(path, `${error.message}; write ${path}:=json for a value as it is`);
  }
}

function readAlternatives(texts: readonly string[], schema: unknown, root: Schema, path: string): Reading {
  const flats = alternatives(schema, root);
  if (texts.length === 1 && texts[0] === "null" && flats.some(saysNull)) return { value: null };
  const unread: Reading[] = [];
  const unfit: Reading[] = [];
  for (const flat of flats) {
    for (const reading of readFlat(texts, flat, root, path)) {
      if (reading.problems !== undefined) {
        unread.push(reading);
        continue;
      }
      const found = misfit(reading.value, schema, root);
      if (found === undefined) return reading;
      unfit.push(problem(path + found.path, found.message));
    }
  }
  const inside = unread.find(({ problems }) => problems?.some((one) => one.path !== path));
  const only = unread.length === 1 ? unread[0] : undefined;
  const got = texts.length === 1 ? shown(texts[0]) : `${texts.length} values`;
  return unfit[0] ?? inside ?? only ?? problem(path, `expected ${expectation(schema, root)}, got ${got}`);
}

function saysNull(flat: Schema): boolean {
  if (flat["const"] === null) return true;
  if (Array.isArray(flat["enum"])) return flat["enum"].includes(null);
  return namedTypes(flat).includes("null");
}

function* readFlat(texts: readonly string[], flat: Schema, root: Schema, path: string): Generator<Reading> {
  const literals = Object.hasOwn(flat, "const") ? [flat["const"]] : flat["enum"];
  if (Array.isArray(literals)) {
    yield texts.length === 1
      ? readLiteral(texts[0] as string, literals, flat, root, path)
      : repeated(texts, path);
    return;
  }
  for (const type of typesToRead(flat)) {
    if (type === "array") yield readList(texts, flat, root, path);
    else if (texts.length === 1) yield readScalar(texts[0] as string, type, path);
    else yield repeated(texts, path);
  }
}

function readLiteral(text: string, literals: unknown[], flat: Schema, root: Schema, path: string): Reading {
  const json = readJson(text);
  const found = literals.find(
    (literal) => literal === text || (json !== undefined && isDeepStrictEqual(literal, json.value)),
  );
  return found === undefined
    ? problem(path, `expected ${expectation(flat, root)}, got ${shown(text)}`)
    : { value: found };
}

/** Numbers as JSON writes them (RFC 8259, section 6). */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const INTEGER = /^-?(0|[1-9]\d*)$/;

function readScalar(text: string, type: string, path: string): Reading {
  switch (type) {
    case "string":
      return { value: text };
    case "boolean":
      return text === "true" || text === "false" ? { value: text === "true" } : unexpected(type, text, path);
    case "null":
      return text === "null" ? { value: null } : unexpected(type, text, path);
    case "integer":
      return INTEGER.test(text) ? readNumber(text, path) : unexpected(type, text, path);
    case "number":
      return NUMBER.test(text) ? readNumber(text, path) : unexpected(type, text, path);
    case "object": {
      const json = readJson(text);
      if (json !== undefined && isObject(json.value)) return { value: json.value };
      return problem(
        path,
        `expected an object (as JSON, or member by member: ${path}.name=value), got ${shown(text)}`,
      );
    }
    default:
      return problem(
        path,
        `its schema has the unknown type ${JSON.stringify(type)}; write ${path}:=json for a value as it is`,
      );
  }
}

/** A number that would not arrive as it was written is a mistake. */
function readNumber(text: string, path: string): Reading {
  const value = Number(text);
  if (!Number.isFinite(value) || (INTEGER.test(text) && !Number.isSafeInteger(value))) {
    return problem(path, `${shown(text)} cannot be sent exactly; integers go to ±${Number.MAX_SAFE_INTEGER}`);
  }
  return { value: value === 0 ? 0 : value };
}

/** A list: each text is an item, and a single text that begins with `[` is all of it as JSON. */
function readList(texts: readonly string[], flat: Schema, root: Schema, path: string): Reading {
  const [first] = texts;
  if (texts.length === 1 && first?.trimStart().startsWith("[")) {
    const json = readJson(first);
    if (json === undefined) {
      const literal = `${path}:=${JSON.stringify(JSON.stringify([first]))}`;
      return problem(
        path,
        `expected a list as JSON, because it begins with [, got ${shown(first)}; for that text as an item write ${literal}`,
      );
    }
    const wrong = misfit(json.value, flat, root);
    if (wrong === undefined) return json;
    // Of a list of lists, one item was given.
    const item = readTexts(texts, itemSchema(flat, 0), root, `${path}[0]`);
    return item.problems === undefined && Array.isArray(item.value) ? { value: [item.value] } : json;
  }
  const items: unknown[] = [];
  const problems: UsageProblem[] = [];
  for (const [index, text] of texts.entries()) {
    const item = readTexts([text], itemSchema(flat, index), root, `${path}[${index}]`);
    if (item.problems === undefined) items.push(item.value);
    else problems.push(...item.problems);
  }
  return problems.length > 0 ? { problems } : { value: items };
}

function unexpected(type: string, text: string, path: string): Reading {
  return problem(path, `expected ${expectedType(type)}, got ${shown(text)}`);
}

function repeated(texts: readonly string[], path: string): Reading {
  return problem(path, `given ${texts.length} times, but it takes one value`);
}

function problem(path: string, message: string): Reading {
  return { problems: [{ path, message }] };
}
