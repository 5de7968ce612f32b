/** From a library's schema to JSON Schema, converted by the library itself, or an error that names the place. */
import type { JsonSchema } from "../protocol/features.js";
import { isStandardSchema, type StandardSchema } from "./standard.js";

type Direction = "input" | "output";

const TARGET = "draft-2020-12";

/**
 * The JSON Schema of a library's schema.
 *
 * @throws TypeError naming `what` and the path, where JSON Schema cannot express it.
 */
export function convert(schema: StandardSchema, direction: Direction, what: string): JsonSchema {
  const { vendor, jsonSchema } = schema["~standard"];
  if (jsonSchema === undefined) {
    const hint =
      vendor === "valibot"
        ? "wrap it: toStandardJsonSchema(schema) from @valibot/to-json-schema"
        : "use a version of the library that implements Standard JSON Schema, or give a JSON Schema object";
    throw new TypeError(`${what}: this ${vendor} schema cannot describe itself as JSON Schema; ${hint}`);
  }
  try {
    return jsonSchema[direction](optionsFor(vendor));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const path = locate(schema, (inner) => fails(inner, direction, reason, new Set()), new Set(), "");
    throw new TypeError(`${what}: JSON Schema cannot express ${path || "the schema"}: ${reason}`, { cause });
  }
}

/** Like {@link convert}, undefined where it is impossible. */
export function tryConvert(schema: StandardSchema, direction: Direction): JsonSchema | undefined {
  const { vendor, jsonSchema } = schema["~standard"];
  try {
    return jsonSchema?.[direction](optionsFor(vendor));
  } catch {
    return undefined;
  }
}

function optionsFor(vendor: string): { target: string; libraryOptions?: Record<string, unknown> } {
  if (vendor !== "arktype") return { target: TARGET };
  // By itself arktype turns what it cannot express into a schema that allows everything.
  const refuse = ({ code, unit, domain, proto }: Inexpressible) => {
    throw new Error(`JSON has no ${domain ?? proto?.name ?? (code === "unit" ? String(unit) : code)}`);
  };
  const fallback = {
    date: refuse,
    proto: refuse,
    domain: refuse,
    symbolKey: refuse,
    unit: (found: Inexpressible) => (found.unit === undefined ? found.base : refuse(found)),
  };
  return { target: TARGET, libraryOptions: { fallback } };
}

interface Inexpressible {
  readonly code: string;
  readonly base: unknown;
  readonly unit?: unknown;
  readonly domain?: string;
  readonly proto?: { readonly name: string };
}

/** The path of the innermost part that fails; undefined where that lies behind a cycle. */
function locate(
  schema: unknown,
  failing: (inner: unknown) => boolean,
  seen: Set<unknown>,
  path: string,
): string | undefined {
  seen.add(schema);
  let behindCycle = false;
  for (const [step, inner] of innerSchemas(schema)) {
    if (!seen.has(inner) && !failing(inner)) continue;
    const found = seen.has(inner) ? undefined : locate(inner, failing, seen, join(path, step));
    if (found !== undefined) return found;
    behindCycle = true;
  }
  return behindCycle ? undefined : path;
}

/** Parts of zod and arktype schemas convert by themselves; those of valibot only have a type, which the reason quotes. */
function fails(schema: unknown, direction: Direction, reason: string, seen: Set<unknown>): boolean {
  if (seen.has(schema)) return false;
  seen.add(schema);
  if (isStandardSchema(schema) && schema["~standard"].jsonSchema !== undefined) {
    return tryConvert(schema, direction) === undefined;
  }
  const { type } = (schema ?? {}) as { type?: unknown };
  if (typeof type === "string" && reason.includes(`"${type}"`)) return true;
  return innerSchemas(schema).some(([, inner]) => fails(inner, direction, reason, seen));
}

/** Where zod (in `def`) and valibot keep one inner schema, and what that adds to the path. */
const INNER = new Map([
  ["element", "[]"],
  ["item", "[]"],
  ["valueType", "*"],
  ["value", "*"],
  ["innerType", ""],
  ["wrapped", ""],
  ["left", ""],
  ["right", ""],
  ["in", ""],
  ["out", ""],
]);

function innerSchemas(schema: unknown): [step: string, inner: unknown][] {
  if ((typeof schema !== "object" && typeof schema !== "function") || schema === null) return [];
  const whole = schema as Record<string, unknown>;
  const parts = (whole["def"] ?? whole) as Record<string, unknown>;
  const found: [string, unknown][] = [];
  const fields = parts["shape"] ?? parts["entries"];
  if (typeof fields === "object" && fields !== null) found.push(...Object.entries(fields));
  for (const [key, step] of INNER) if (parts[key] !== undefined) found.push([step, parts[key]]);
  for (const [index, item] of listOf(parts["items"]).entries()) found.push([`[${index}]`, item]);
  for (const option of listOf(parts["options"])) found.push(["", option]);
  if (typeof parts["getter"] === "function") found.push(["", (parts["getter"] as () => unknown)()]);
  if (isStandardSchema(schema) && schema["~standard"].vendor === "arktype")
    found.push(...arktypeParts(whole));
  return found;
}

interface ArktypeNode {
  readonly props?: readonly { readonly key: PropertyKey; readonly value: unknown }[];
  readonly structure?: {
    readonly sequence?: { readonly tuple: readonly { readonly kind: string; readonly node: unknown }[] };
  };
}

function arktypeParts(schema: ArktypeNode): [string, unknown][] {
  const items = schema.structure?.sequence?.tuple ?? [];
  if (items.length)
    return items.map(({ kind, node }, index) => [kind === "variadic" ? "[]" : `[${index}]`, node]);
  return schema.structure === undefined
    ? []
    : (schema.props ?? []).map(({ key, value }) => [String(key), value]);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function join(path: string, step: string): string {
  return path === "" || step === "" || step.startsWith("[") ? path + step : `${path}.${step}`;
}
