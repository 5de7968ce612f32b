/** The schemas of a catalogue, and the way through one. */
import { subschemasOf } from "mica-mcp/schema";
import { isObject } from "../../json.js";
import type { Members } from "../audited.js";
import type { Catalogue } from "../catalogue.js";

export interface ToolSchema {
  readonly tool: string;
  readonly member: "inputSchema" | "outputSchema";
  /** Whatever stands there. */
  readonly schema: unknown;
}

/** The schemas of all tools, those that are missing left out. */
export function toolSchemas({ tools }: Pick<Catalogue, "tools">): ToolSchema[] {
  return (tools?.entries ?? []).flatMap((tool) =>
    (["inputSchema", "outputSchema"] as const)
      .filter((member) => tool[member] !== undefined)
      .map((member) => ({ tool: String(tool["name"]), member, schema: tool[member] })),
  );
}

export interface Place {
  readonly node: Members;
  /** Like `properties.tags.items`; empty for the root. */
  readonly path: string;
  /** Subschemas on the way. */
  readonly depth: number;
  /** Whether it applies to the same value as the schema around it. */
  readonly inPlace: boolean;
}

const IN_PLACE = /^(?:allOf|anyOf|oneOf|not|if|then|else|dependentSchemas|dependencies)\b/;
/** Subschemas that are looked at, and how deep: a server may send any. */
const WALK_LIMITS = { places: 10_000, depth: 100 } as const;

/** Every subschema that is an object, the root first. */
export function placesOf(schema: unknown): Place[] {
  const places: Place[] = [];
  const open: Place[] = isObject(schema) ? [{ node: schema, path: "", depth: 0, inPlace: false }] : [];
  while (open.length > 0 && places.length < WALK_LIMITS.places) {
    const place = open.pop() as Place;
    places.push(place);
    if (place.depth >= WALK_LIMITS.depth) continue;
    const inner: Place[] = [];
    for (const [step, node] of subschemasOf(place.node)) {
      if (!isObject(node)) continue;
      const path = place.path === "" ? step : `${place.path}.${step}`;
      inner.push({ node, path, depth: place.depth + 1, inPlace: IN_PLACE.test(step) });
    }
    open.push(...inner.reverse());
  }
  return places;
}

/** Where something stands: `search, inputSchema at properties.tags`. */
export function at({ tool, member }: ToolSchema, path: string): string {
  return `${tool}, ${member}${path === "" ? "" : ` at ${path}`}`;
}
