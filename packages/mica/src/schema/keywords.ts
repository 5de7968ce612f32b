/** The keywords of JSON Schema by the kind of their value: where subschemas stand, and where plain data does. */

/** One subschema. */
export const SUBSCHEMA: ReadonlySet<string> = new Set([
  "items",
  "additionalItems",
  "contains",
  "additionalProperties",
  "unevaluatedProperties",
  "unevaluatedItems",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
  "contentSchema",
]);

/** An array of subschemas. */
export const SUBSCHEMA_LIST: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);

/** An object whose keys are names, and whose values are subschemas. */
export const SUBSCHEMA_MAP: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);

/** The subschemas directly inside a schema, with what each adds to the path. */
export function* subschemasOf(node: Record<string, unknown>): Generator<[step: string, inner: unknown]> {
  for (const [key, value] of Object.entries(node)) {
    // `items` and `dependencies` have two forms in drafts before 2020-12.
    if (Array.isArray(value) && (SUBSCHEMA_LIST.has(key) || key === "items")) {
      for (const [index, inner] of value.entries()) yield [`${key}[${index}]`, inner];
    } else if (SUBSCHEMA_MAP.has(key) || key === "dependencies") {
      if (typeof value !== "object" || value === null) continue;
      for (const [name, inner] of Object.entries(value))
        if (!Array.isArray(inner)) yield [`${key}.${name}`, inner];
    } else if (SUBSCHEMA.has(key)) yield [key, value];
  }
}

/**
 * A copy of a schema in which every subschema went through `change`, innermost first. What is no subschema (data,
 * keywords of nobody's dialect) is kept as it is.
 *
 * @param other a schema of the same shape to walk beside it, if any
 */
export function mapSubschemas(
  node: unknown,
  change: (node: Record<string, unknown>, other: unknown) => Record<string, unknown>,
  other?: unknown,
): unknown {
  if (typeof node !== "object" || node === null || Array.isArray(node)) return node;
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(node)) {
    const beside = member(other, key);
    const inner = (sub: unknown, name: string | number) => mapSubschemas(sub, change, member(beside, name));
    if (Array.isArray(value) && (SUBSCHEMA_LIST.has(key) || key === "items"))
      set(result, key, value.map(inner));
    else if (SUBSCHEMA_MAP.has(key) || key === "dependencies") set(result, key, mapValues(value, inner));
    else set(result, key, SUBSCHEMA.has(key) ? mapSubschemas(value, change, beside) : value);
  }
  return change(result, other);
}

function mapValues(value: unknown, change: (value: unknown, name: string) => unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, change(inner, name)]));
}

/** Defines rather than assigns: a property may be called `__proto__`. */
function set(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}

function member(value: unknown, key: string | number): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string | number, unknown>)[key]
    : undefined;
}
