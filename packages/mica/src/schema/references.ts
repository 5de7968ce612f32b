/** References within a schema: what they resolve to, and whether they end (JSON Schema Core, sections 8.2 and 9.2). */
import type { JsonSchema } from "../protocol/features.js";
import { isObject } from "../protocol/jsonrpc.js";
import type { Dialect } from "./dialect.js";
import { subschemasOf } from "./keywords.js";

/** Where a schema without an `$id` is; a name that nobody can serve (RFC 2606, section 2). */
const NOWHERE = "https://schema.invalid/";

export interface Target {
  readonly schema: unknown;
  /** Which one it is, whatever the reference looked like. */
  readonly uri: string;
}

export interface References {
  /** The base URI in force within a schema of the document. */
  baseOf(node: JsonSchema): string;
  /** What a reference there means: a part of the document, something outside of it, or nothing at all. */
  resolve(reference: string, base: string): Target | "outside" | "nothing";
  /** The schema at a base URI. */
  resource(uri: string): JsonSchema | undefined;
  /** The schema with a dynamic anchor, in the resource at a base URI. */
  dynamicAnchor(uri: string, name: string): JsonSchema | undefined;
  /** Whether what references mean depends on the way that led to them. */
  readonly hasDynamicScope: boolean;
}

export function readReferences(root: JsonSchema, dialect: Dialect): References {
  const isEarly = dialect === "4" || dialect === "7";
  const idKeyword = dialect === "4" ? "id" : "$id";
  const resources = new Map<string, JsonSchema>([[NOWHERE, root]]);
  const anchors = new Map<string, JsonSchema>();
  const dynamicAnchors = new Map<string, JsonSchema>();
  const bases = new Map<unknown, string>();
  let hasDynamicScope = false;

  const visit = (node: unknown, outer: string) => {
    if (!isObject(node) || bases.has(node)) return;
    let base = outer;
    // Before 2019-09 nothing beside a $ref counts.
    const id = isEarly && node["$ref"] !== undefined ? undefined : node[idKeyword];
    if (typeof id === "string") {
      if (isEarly && id.startsWith("#")) anchors.set(outer + id, node);
      else base = absolute(id, outer)?.uri ?? outer;
    }
    bases.set(node, base);
    if (base !== outer) resources.set(base, node);
    const { $anchor, $dynamicAnchor, $recursiveAnchor } = node;
    if (typeof $anchor === "string") anchors.set(`${base}#${$anchor}`, node);
    if (typeof $dynamicAnchor === "string") {
      anchors.set(`${base}#${$dynamicAnchor}`, node);
      dynamicAnchors.set(`${base}#${$dynamicAnchor}`, node);
    }
    hasDynamicScope ||= typeof $dynamicAnchor === "string" || $recursiveAnchor === true;
    for (const [, inner] of subschemasOf(node)) visit(inner, base);
  };
  visit(root, NOWHERE);

  return {
    baseOf: (node) => bases.get(node) ?? NOWHERE,
    resource: (uri) => resources.get(uri),
    dynamicAnchor: (uri, name) => dynamicAnchors.get(`${uri}#${name}`),
    hasDynamicScope,
    resolve(reference, base) {
      const target = absolute(reference, base);
      const resource = target && resources.get(target.uri);
      if (target === undefined || resource === undefined) return "outside";
      const { uri, fragment } = target;
      if (fragment === "") return { schema: resource, uri };
      const found = fragment.startsWith("/") ? follow(resource, fragment) : anchors.get(`${uri}#${fragment}`);
      if (found === undefined) return "nothing";
      // What stands where no keyword puts a schema has the base of its resource.
      if (!bases.has(found)) visit(found, uri);
      return { schema: found, uri: `${uri}#${fragment}` };
    },
  };
}

function absolute(reference: string, base: string): { uri: string; fragment: string } | undefined {
  try {
    const url = new URL(reference, base);
    const fragment = decodeURIComponent(url.hash.slice(1));
    url.hash = "";
    return { uri: url.href, fragment };
  } catch {
    return undefined;
  }
}

function follow(resource: JsonSchema, pointer: string): unknown {
  let node: unknown = resource;
  for (const token of pointer.slice(1).split("/")) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, key)) return undefined;
    node = (node as Record<string, unknown>)[key];
  }
  return node;
}

/** Keywords that apply a subschema to the very value that the schema itself is applied to. */
const IN_PLACE = /^(allOf|anyOf|oneOf|not|if|then|else|dependentSchemas|dependencies)\b/;

/**
 * The path of a schema that, by references and compositions alone, applies itself to the same value again: validating
 * with it would never end.
 */
export function findEndless(root: JsonSchema, references: References): string | undefined {
  const done = new Set<unknown>();
  const open = new Set<unknown>();
  const visit = (node: unknown, path: string): string | undefined => {
    if (!isObject(node) || done.has(node)) return undefined;
    if (open.has(node)) return path || "the schema";
    open.add(node);
    let found: string | undefined;
    for (const reference of [node["$ref"], node["$dynamicRef"], node["$recursiveRef"]]) {
      if (typeof reference !== "string") continue;
      const target = references.resolve(reference, references.baseOf(node));
      if (typeof target === "object") found ??= visit(target.schema, path);
    }
    for (const [step, inner] of subschemasOf(node)) {
      if (found === undefined && IN_PLACE.test(step)) found = visit(inner, path ? `${path}.${step}` : step);
    }
    open.delete(node);
    if (found === undefined) done.add(node);
    return found;
  };
  const all: [node: unknown, path: string][] = [[root, ""]];
  for (const [node, path] of all) {
    const found = visit(node, path);
    if (found !== undefined) return found;
    if (!isObject(node)) continue;
    for (const [step, inner] of subschemasOf(node)) all.push([inner, path ? `${path}.${step}` : step]);
  }
  return undefined;
}
