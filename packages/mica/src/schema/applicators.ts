/** Keywords of JSON Schema that apply subschemas to the value itself (Core, section 10.2). */
import type { JsonSchema } from "../protocol/features.js";
import { isObject } from "../protocol/jsonrpc.js";
import { type Check, Seen } from "./evaluation.js";
import type { Problem } from "./validate.js";

/** Makes a check of a subschema. */
export type Compile = (subschema: unknown) => Check;

type Applicator = (value: never, schema: JsonSchema, compile: Compile) => Check | undefined;

export const APPLICATORS: ReadonlyMap<string, Applicator> = new Map<string, Applicator>([
  ["allOf", (subschemas: unknown[], _, compile) => compileAllOf(subschemas.map(compile))],
  ["anyOf", (subschemas: unknown[], _, compile) => compileAnyOf(subschemas.map(compile))],
  ["oneOf", (subschemas: unknown[], _, compile) => compileOneOf(subschemas.map(compile))],
  ["not", (subschema: unknown, _, compile) => compileNot(compile(subschema))],
  ["if", compileIf],
  ["dependentSchemas", compileDependent],
  ["dependentRequired", compileDependent],
  ["dependencies", compileDependent],
]);

function compileAllOf(checks: readonly Check[]): Check {
  return (value, run, seen) => {
    let fits = true;
    for (const check of checks) {
      if (check(value, run, seen)) continue;
      fits = false;
      if (run.isDecided) return false;
    }
    return fits;
  };
}

function compileAnyOf(checks: readonly Check[]): Check {
  return (value, run, seen) => {
    let fits = false;
    for (const check of checks) {
      const own = seen && new Seen();
      if (!run.quietly(check, value, own)) continue;
      fits = true;
      // What the other branches look at counts as well.
      if (own === undefined) return true;
      seen?.add(own);
    }
    return fits || failAll(checks, value, run);
  };
}

function compileOneOf(checks: readonly Check[]): Check {
  return (value, run, seen) => {
    let fitting = 0;
    let own: Seen | undefined;
    for (const check of checks) {
      const branch = seen && new Seen();
      if (!run.quietly(check, value, branch)) continue;
      own = branch;
      if (++fitting > 1)
        return run.fail(`must fit exactly one of ${checks.length} alternatives, and fits several`);
    }
    if (fitting === 0) return failAll(checks, value, run);
    if (own !== undefined) seen?.add(own);
    return true;
  };
}

/** Names the problems of the alternative that came closest: the one that was wrong at the deepest place. */
function failAll(checks: readonly Check[], value: unknown, run: Parameters<Check>[1]): false {
  if (run.isDecided) return false;
  const depth = (problems: readonly Problem[]) => Math.max(...problems.map(({ path }) => path.length));
  const branches = checks.map((check) => run.separately(check, value));
  const [closest = []] = branches
    .filter((problems) => problems.length > 0)
    .sort((left, right) => depth(right) - depth(left) || left.length - right.length);
  if (checks.length > 1)
    run.fail(`fits none of ${checks.length} alternatives; the closest has these problems:`);
  run.problems?.push(...closest.slice(0, 100));
  return false;
}

function compileNot(check: Check): Check {
  return (value, run) => !run.quietly(check, value) || run.fail("must not fit the schema under not");
}

function compileIf(subschema: unknown, schema: JsonSchema, compile: Compile): Check | undefined {
  const otherwise = Object.hasOwn(schema, "else") ? compile(schema["else"]) : undefined;
  const then = Object.hasOwn(schema, "then") ? compile(schema["then"]) : undefined;
  const condition = compile(subschema);
  return (value, run, seen) => {
    const own = seen && new Seen();
    if (!run.quietly(condition, value, own)) return otherwise === undefined || otherwise(value, run, seen);
    if (own !== undefined) seen?.add(own);
    return then === undefined || then(value, run, seen);
  };
}

/** Subschemas or lists of names, for objects that have a member; `dependencies` mixes the two. */
function compileDependent(either: Record<string, unknown>, _: JsonSchema, compile: Compile): Check {
  const all = Object.entries(either).map(([present, wanted]): [string, Check] => [
    present,
    Array.isArray(wanted) ? requireAll(present, wanted as string[]) : compile(wanted),
  ]);
  return (value, run, seen) => {
    if (!isObject(value)) return true;
    let fits = true;
    for (const [present, check] of all) {
      if (!Object.hasOwn(value, present) || check(value, run, seen)) continue;
      fits = false;
      if (run.isDecided) return false;
    }
    return fits;
  };
}

/** A check of objects that have a member: they need others too. */
function requireAll(present: string, names: readonly string[]): Check {
  return (value, run) => {
    let fits = true;
    for (const name of names) {
      if (!Object.hasOwn(value as object, name))
        fits = run.fail(`is required together with ${present}`, name);
    }
    return fits;
  };
}
