/** Finding the part of a schema that JSON Schema cannot express: libraries name the type, seldom the place. */
import { isStandardSchema, type StandardSchema } from "./standard.js";

/** Stands in a converted schema where something could not be expressed. */
export const MARK = "x-inexpressible";

/** What a keyword adds to the path of a value. */
const STEPS = new Map([
  ["items", "[]"],
  ["additionalProperties", "*"],
  ["unevaluatedProperties", "*"],
  ["propertyNames", "*"],
]);

/** The path of the first mark; undefined where there is none. */
export function findMark(node: unknown, path = ""): string | undefined {
  if (typeof node !== "object" || node === null) return undefined;
  if (Object.hasOwn(node, MARK)) return path;
  for (const [key, value] of Object.entries(node)) {
    const found =
      key === "properties" || key === "patternProperties" || key === "$defs"
        ? findIn(Object.entries(value as object), key === "$defs" ? join(path, key) : path)
        : key === "prefixItems"
          ? findIn(
              (value as unknown[]).map((item, index) => [`[${index}]`, item]),
              path,
            )
          : findMark(value, join(path, STEPS.get(key) ?? ""));
    if (found !== undefined) return found;
  }
  return undefined;
}

function findIn(members: readonly (readonly [string, unknown])[], path: string): string | undefined {
  for (const [step, inner] of members) {
    const found = findMark(inner, join(path, step));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The path of the innermost part of a zod schema that fails; undefined where that lies behind a cycle. */
export function findPart(
  schema: unknown,
  fails: (part: StandardSchema) => boolean,
  path = "",
  seen = new Set<unknown>(),
): string | undefined {
  seen.add(schema);
  let behindCycle = false;
  for (const [step, inner] of partsOf(schema)) {
    if (!isStandardSchema(inner) || (!seen.has(inner) && !fails(inner))) continue;
    const found = seen.has(inner) ? undefined : findPart(inner, fails, join(path, step), seen);
    if (found !== undefined) return found;
    behindCycle = true;
  }
  return behindCycle ? undefined : path;
}

/** Where the definition of a zod schema keeps one inner schema, and what that adds to the path. */
const INNER = new Map([
  ["element", "[]"],
  ["valueType", "*"],
  ["innerType", ""],
  ["left", ""],
  ["right", ""],
  ["in", ""],
  ["out", ""],
]);

function partsOf(schema: unknown): [step: string, inner: unknown][] {
  const definition = (schema as { def?: Record<string, unknown> }).def ?? {};
  const { shape, items, options, getter } = definition;
  const found: [string, unknown][] = [];
  if (typeof shape === "object" && shape !== null) found.push(...Object.entries(shape));
  for (const [key, step] of INNER) if (definition[key] !== undefined) found.push([step, definition[key]]);
  if (Array.isArray(items)) for (const [index, item] of items.entries()) found.push([`[${index}]`, item]);
  if (Array.isArray(options)) for (const option of options) found.push(["", option]);
  if (typeof getter === "function") found.push(["", (getter as () => unknown)()]);
  return found;
}

function join(path: string, step: string): string {
  return path === "" || step === "" || step.startsWith("[") ? path + step : `${path}.${step}`;
}
