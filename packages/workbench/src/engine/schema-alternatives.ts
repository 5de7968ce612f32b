/**
 * A JSON Schema laid out flat: what a value may be, as a list of plain alternatives, with local references
 * followed and combinations multiplied out. For reading arguments and for showing a schema to people; whether
 * a value is valid is decided elsewhere.
 */
import { isObject } from "./json.js";

/** A JSON Schema object, as a server sent it: nothing about it is certain. */
export type Schema = Readonly<Record<string, unknown>>;

/** Most alternatives that are looked at, and most steps to find them: a server may send any schema. */
export const ALTERNATIVE_LIMITS = { alternatives: 64, steps: 2_000, references: 32 } as const;

/** A `$ref` that leads outside the document, or nowhere. Network references are never followed. */
export class UnfollowedReference extends Error {
  override readonly name = "UnfollowedReference";
  readonly reference: string;

  constructor(reference: string) {
    super(`its schema refers to ${JSON.stringify(reference)}, which is not in the document`);
    this.reference = reference;
  }
}

/**
 * The alternatives of a schema, in the order in which it names them; none where nothing can be valid.
 *
 * @throws UnfollowedReference
 * @example alternatives({ anyOf: [{ type: "integer" }, { type: "null" }] }, root).length === 2
 */
export function alternatives(schema: unknown, root: Schema): Schema[] {
  return flatten(schema, root, 0, { steps: ALTERNATIVE_LIMITS.steps });
}

interface Budget {
  steps: number;
}

function flatten(schema: unknown, root: Schema, references: number, budget: Budget): Schema[] {
  if (schema === false) return [];
  if (!isObject(schema) || --budget.steps < 0) return [{}];
  const { $ref, allOf, anyOf, oneOf, ...plain } = schema;
  let found: Schema[] = [plain];
  if (typeof $ref === "string") {
    // A reference that only leads to itself says nothing.
    if (references >= ALTERNATIVE_LIMITS.references) return found;
    found = combine(flatten(resolveReference($ref, root), root, references + 1, budget), found);
  }
  for (const part of listOf(allOf)) found = combine(flatten(part, root, references, budget), found);
  for (const choice of [anyOf, oneOf]) {
    const branches = listOf(choice);
    if (branches.length === 0) continue;
    const options = branches.flatMap((branch) => flatten(branch, root, references, budget));
    found = combine(options, found);
  }
  return found;
}

/** Every pair of alternatives that can hold at once. What the second says of presentation wins. */
function combine(first: readonly Schema[], second: readonly Schema[]): Schema[] {
  const combined: Schema[] = [];
  for (const a of first) {
    for (const b of second) {
      if (combined.length >= ALTERNATIVE_LIMITS.alternatives) return combined;
      const both = merge(a, b);
      if (both !== undefined) combined.push(both);
    }
  }
  return combined;
}

function merge(a: Schema, b: Schema): Schema | undefined {
  const merged: Record<string, unknown> = { ...a, ...b };
  if (a["type"] !== undefined && b["type"] !== undefined) {
    const types = commonTypes(namedTypes(a), namedTypes(b));
    if (types.length === 0) return undefined;
    merged["type"] = types.length === 1 ? types[0] : types;
  }
  if (isObject(a["properties"]) && isObject(b["properties"])) {
    merged["properties"] = mergeProperties(a["properties"], b["properties"]);
  }
  if (Array.isArray(a["required"]) && Array.isArray(b["required"])) {
    merged["required"] = [...new Set([...a["required"], ...b["required"]])];
  }
  return merged;
}

function mergeProperties(a: Schema, b: Schema): Schema {
  const merged = new Map(Object.entries(a));
  for (const [name, schema] of Object.entries(b)) {
    merged.set(name, merged.has(name) ? { allOf: [merged.get(name), schema] } : schema);
  }
  // Not assigned one by one: a property may be called "__proto__".
  return Object.fromEntries(merged);
}

function commonTypes(a: readonly string[], b: readonly string[]): string[] {
  const narrower = (type: string, others: readonly string[]) =>
    others.includes(type) ? type : type === "number" && others.includes("integer") ? "integer" : undefined;
  const common = a.map(
    (type) => narrower(type, b) ?? (type === "integer" && b.includes("number") ? type : undefined),
  );
  return common.filter((type) => type !== undefined);
}

/** The types that a schema names itself. */
export function namedTypes(schema: Schema): string[] {
  const { type } = schema;
  return (Array.isArray(type) ? type : [type]).filter((name) => typeof name === "string");
}

/** Finds what a local reference points at: `#`, `#/$defs/name`, `#anchor`. */
export function resolveReference(reference: string, root: Schema): unknown {
  if (reference === "#") return root;
  if (reference.startsWith("#/")) {
    let node: unknown = root;
    for (const token of reference.slice(2).split("/")) {
      const key = decodeToken(token).replaceAll("~1", "/").replaceAll("~0", "~");
      if (typeof node !== "object" || node === null || !Object.hasOwn(node, key)) {
        throw new UnfollowedReference(reference);
      }
      node = (node as Record<string, unknown>)[key];
    }
    return node;
  }
  const anchored = reference.startsWith("#") ? findAnchor(root, reference.slice(1), 64) : undefined;
  if (anchored === undefined) throw new UnfollowedReference(reference);
  return anchored;
}

function decodeToken(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    return token;
  }
}

function findAnchor(node: unknown, anchor: string, depth: number): unknown {
  if (typeof node !== "object" || node === null || depth <= 0) return undefined;
  if ((node as Record<string, unknown>)["$anchor"] === anchor) return node;
  for (const inner of Object.values(node)) {
    const found = findAnchor(inner, anchor, depth - 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
