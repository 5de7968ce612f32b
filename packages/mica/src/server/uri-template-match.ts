/**
 * Matching URIs against templates: the reverse of expansion, with percent-decoding that round-trips. It goes from
 * left to right and never back, so that its cost grows with the length of the URI alone.
 */
import type { Expression, Operator, Part, Variable } from "./uri-template.js";
import { encodeBeyondAscii } from "./uri-template-expand.js";

/** Variables of a URI: a list where the template explodes them (`*`), a string everywhere else. */
export type TemplateVariables = Record<string, string | string[]>;

/** Why URIs cannot be matched for certain, to follow "the template has". */
export function findAmbiguity(parts: readonly Part[]): string | undefined {
  const seen = new Set<string>();
  for (const [index, part] of parts.entries()) {
    if (typeof part === "string") continue;
    for (const { name } of part.variables) {
      if (seen.has(name)) return `the variable ${name} twice, so that a URI could hold two values of it`;
      seen.add(name);
    }
    const next = parts[index + 1];
    if (next === undefined || typeof next === "string") continue;
    const { first } = next.operator;
    if (first === "")
      return "two expressions that nothing separates, so that no URI could be matched for certain";
    const hasMany = part.variables.length > 1 || part.variables.some(({ explode }) => explode);
    if (hasMany && first === part.operator.separator) {
      return `two expressions of which the second begins with ${first}, like every value of the first`;
    }
  }
  return undefined;
}

export function matchTemplate(parts: readonly Part[], given: string): TemplateVariables | undefined {
  if (!given.isWellFormed()) return undefined;
  // Clients also send what is not ASCII as it is.
  const uri = encodeBeyondAscii(given);
  const values = Object.create(null) as TemplateVariables;
  let at = 0;
  for (const [index, part] of parts.entries()) {
    if (typeof part === "string") {
      if (!uri.startsWith(part, at)) return undefined;
      at += part.length;
      continue;
    }
    const end = expressionEnd(uri, at, parts, index);
    if (end < 0 || !readExpression(part, uri.slice(at, end), values)) return undefined;
    at = end;
  }
  return at === uri.length ? { ...values } : undefined;
}

/** Where the text of the expression `parts[index]` ends, or -1 where the URI cannot match. */
function expressionEnd(uri: string, at: number, parts: readonly Part[], index: number): number {
  const { operator } = parts[index] as Expression;
  const { first } = operator;
  if (!uri.startsWith(first, at)) return at;
  const end = nextStart(uri, at + first.length, parts, index + 1);
  if (end >= 0 && isAllowed(uri.slice(at + first.length, end), operator)) return end;
  // What begins like the expression may belong to what follows it.
  return first === "" ? -1 : at;
}

/** Where the part at `index` begins at the earliest: a last literal stands at the end, another at its first place. */
function nextStart(uri: string, from: number, parts: readonly Part[], index: number): number {
  const next = parts[index];
  if (next === undefined) return uri.length;
  if (typeof next === "string") {
    if (index < parts.length - 1) return uri.indexOf(next, from);
    const end = uri.length - next.length;
    return end >= from && uri.endsWith(next) ? end : -1;
  }
  const marker = uri.indexOf(next.operator.first, from);
  const beyond = nextStart(uri, from, parts, index + 1);
  return marker < 0 ? beyond : beyond < 0 ? marker : Math.min(marker, beyond);
}

/** An expression ends where the part of the URI that it can stand in ends. */
function isAllowed(text: string, { first, allowReserved }: Operator): boolean {
  if (allowReserved) return true;
  if (first === "?" || first === "&") return !text.includes("#");
  return first === "/" ? !/[?#]/.test(text) : !/[/?#]/.test(text);
}

/** Reads the text of one expression into `values`. False where it cannot have come from the expression. */
function readExpression(
  { operator, variables }: Expression,
  text: string,
  values: TemplateVariables,
): boolean {
  if (text === "") {
    const [variable] = variables;
    if (operator.first === "" && variables.length === 1 && !variable!.explode) values[variable!.name] = "";
    return true;
  }
  const body = text.slice(operator.first.length);
  if (operator.named) return readNamed(variables, body.split(operator.separator), values);
  // Commas and dots may stand inside a value; a slash that does not separate is always encoded.
  const isWhole = variables.length === 1 && !variables[0]!.explode && operator.separator !== "/";
  return readPositional(variables, isWhole ? [body] : body.split(operator.separator), values);
}

function readPositional(
  variables: readonly Variable[],
  pieces: string[],
  values: TemplateVariables,
): boolean {
  for (const [index, variable] of variables.entries()) {
    if (variable.explode) {
      const items = pieces.slice(index).map(decode);
      if (items.length === 0) return true;
      if (items.includes(undefined)) return false;
      values[variable.name] = items as string[];
      // What follows a list has nothing left.
      return true;
    }
    const piece = pieces[index];
    if (piece === undefined) return true;
    const value = decode(piece);
    if (value === undefined || isTooLong(value, variable)) return false;
    values[variable.name] = value;
  }
  return pieces.length <= variables.length;
}

/** Query parameters are accepted in any order; one that the template does not name makes another URI. */
function readNamed(variables: readonly Variable[], pieces: string[], values: TemplateVariables): boolean {
  for (const piece of pieces) {
    const equals = piece.indexOf("=");
    const name = equals < 0 ? piece : piece.slice(0, equals);
    const value = decode(equals < 0 ? "" : piece.slice(equals + 1));
    const variable = variables.find((candidate) => candidate.name === name);
    if (variable === undefined || value === undefined || isTooLong(value, variable)) return false;
    const before = values[name];
    if (variable.explode) {
      if (Array.isArray(before)) before.push(value);
      else values[name] = [value];
    } else {
      if (before !== undefined) return false;
      values[name] = value;
    }
  }
  return true;
}

/** Whether a prefix (`{x:3}`) could not have produced a value. */
function isTooLong(value: string, { maxLength }: Variable): boolean {
  return maxLength !== undefined && value.length > maxLength && [...value].length > maxLength;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
