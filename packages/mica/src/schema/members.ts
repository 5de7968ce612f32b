/** Keywords of JSON Schema that apply subschemas to the members of objects and arrays (Core, sections 10.3 and 11). */
import type { JsonSchema } from "../protocol/features.js";
import { isObject } from "../protocol/jsonrpc.js";
import type { Compile } from "./applicators.js";
import type { Check, Run, Seen } from "./evaluation.js";

/** `properties`, `patternProperties` and `additionalProperties` at once: the last depends on the others. */
export function compileProperties(schema: JsonSchema, compile: Compile): Check | undefined {
  const { properties, patternProperties, additionalProperties } = schema;
  if ((properties ?? patternProperties ?? additionalProperties) === undefined) return undefined;
  const byName = new Map(
    Object.entries((properties as Record<string, unknown>) ?? {}).map(([name, inner]) => [
      name,
      compile(inner),
    ]),
  );
  const patterns = Object.entries((patternProperties as Record<string, unknown>) ?? {}).map(
    ([source, inner]) => [new RegExp(source, "u"), compile(inner)] as const,
  );
  const rest = additionalProperties === undefined ? undefined : compile(additionalProperties);
  const looksAtAll = patterns.length > 0 || rest !== undefined;
  return (value, run, seen) => {
    if (!isObject(value)) return true;
    let fits = true;
    const apply = (check: Check, name: string) => {
      seen?.names.add(name);
      if (!run.enter(check, value[name], name)) fits = false;
    };
    if (!looksAtAll) {
      for (const [name, check] of byName) {
        if (!Object.hasOwn(value, name)) continue;
        apply(check, name);
        if (!fits && run.isDecided) return false;
      }
      return fits;
    }
    for (const name of Object.keys(value)) {
      const own = byName.get(name);
      let isKnown = own !== undefined;
      if (own !== undefined) apply(own, name);
      for (const [pattern, check] of patterns) {
        if (!pattern.test(name)) continue;
        isKnown = true;
        apply(check, name);
      }
      if (!isKnown && rest !== undefined) apply(rest, name);
      if (!fits && run.isDecided) return false;
    }
    return fits;
  };
}

export function compilePropertyNames(check: Check): Check {
  return (value, run) => {
    if (!isObject(value)) return true;
    let fits = true;
    for (const name of Object.keys(value)) {
      if (run.quietly(check, name)) continue;
      const [first] = run.separately(check, name);
      fits = run.fail(`is not an allowed name: ${first?.message ?? "it does not fit propertyNames"}`, name);
      if (run.isDecided) return false;
    }
    return fits;
  };
}

/** Applies one check per item up to a point, and another one from there on. */
export function compileItems(first: readonly Check[], rest: Check | undefined): Check {
  return (value, run, seen) => {
    if (!Array.isArray(value)) return true;
    let fits = true;
    const end = rest === undefined ? Math.min(first.length, value.length) : value.length;
    for (let index = 0; index < end; index++) {
      const check = first[index] ?? rest!;
      if (run.enter(check, value[index], index)) continue;
      fits = false;
      if (run.isDecided) return false;
    }
    if (seen !== undefined) seen.upTo = Math.max(seen.upTo, end);
    return fits;
  };
}

export function compileContains(check: Check, least: number, most: number, countsAsSeen: boolean): Check {
  return (value, run, seen) => {
    if (!Array.isArray(value)) return true;
    let found = 0;
    for (const [index, item] of value.entries()) {
      if (!run.quietly(check, item)) continue;
      found++;
      if (countsAsSeen) seen?.indexes.add(index);
      // Enough, unless somebody counts or wants to know which.
      if (found >= least && most === Number.POSITIVE_INFINITY && seen === undefined) return true;
    }
    if (found < least)
      return run.fail(`must contain at least ${least} fitting item${least === 1 ? "" : "s"}, has ${found}`);
    return (
      found <= most ||
      run.fail(`must contain at most ${most} fitting item${most === 1 ? "" : "s"}, has ${found}`)
    );
  };
}

export function checkUnseenNames(check: Check, value: unknown, run: Run, seen: Seen): boolean {
  if (!isObject(value)) return true;
  let fits = true;
  for (const name of Object.keys(value)) {
    if (seen.hasName(name) || run.enter(check, value[name], name)) continue;
    fits = false;
    if (run.isDecided) return false;
  }
  seen.allNames = true;
  return fits;
}

export function checkUnseenItems(check: Check, value: unknown, run: Run, seen: Seen): boolean {
  if (!Array.isArray(value)) return true;
  let fits = true;
  for (const [index, item] of value.entries()) {
    if (seen.hasIndex(index) || run.enter(check, item, index)) continue;
    fits = false;
    if (run.isDecided) return false;
  }
  seen.upTo = value.length;
  return fits;
}
