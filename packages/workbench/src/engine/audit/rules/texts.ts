/** All that a server says of itself in words, and where each text stands. */
import { isObject } from "../../json.js";
import type { Members, Speaking } from "../audited.js";
import type { Catalogue } from "../catalogue.js";
import { placesOf } from "./schema-walk.js";

export interface Text {
  /** Like `tool find_notes, description`. */
  readonly where: string;
  readonly text: string;
  /** `name`: an identifier. `title`: shown to people. `description`: read by models. `instructions`: meant for them. */
  readonly kind: "name" | "title" | "description" | "instructions";
}

export function textsOf(catalogue: Catalogue, { instructions }: Pick<Speaking, "instructions">): Text[] {
  const { tools, resources, resourceTemplates, prompts } = catalogue;
  return [
    ...textOf("instructions", "instructions", instructions),
    ...(tools?.entries ?? []).flatMap(toolTexts),
    ...(resources?.entries ?? []).flatMap((entry) => ownTexts("resource", entry)),
    ...(resourceTemplates?.entries ?? []).flatMap((entry) => ownTexts("resource template", entry)),
    ...(prompts?.entries ?? []).flatMap((entry) => [
      ...ownTexts("prompt", entry),
      ...listOf(entry["arguments"]).flatMap((argument) =>
        ownTexts(`prompt ${String(entry["name"])}, argument`, argument),
      ),
    ]),
  ];
}

function toolTexts(tool: Members): Text[] {
  const name = String(tool["name"]);
  const { annotations } = tool;
  const inSchemas = (["inputSchema", "outputSchema"] as const).flatMap((member) =>
    placesOf(tool[member]).flatMap(({ node, path }) => {
      const where = `tool ${name}, ${member}${path === "" ? "" : ` at ${path}`}`;
      return [
        ...textOf(`${where}, description`, "description", node["description"]),
        ...textOf(`${where}, title`, "title", node["title"]),
      ];
    }),
  );
  return [
    ...ownTexts("tool", tool),
    ...(isObject(annotations)
      ? textOf(`tool ${name}, annotations.title`, "title", annotations["title"])
      : []),
    ...inSchemas,
  ];
}

function ownTexts(what: string, entry: Members): Text[] {
  const name = String(entry["name"]);
  return [
    ...textOf(`${what} ${name}, name`, "name", entry["name"]),
    ...textOf(`${what} ${name}, title`, "title", entry["title"]),
    ...textOf(`${what} ${name}, description`, "description", entry["description"]),
  ];
}

function textOf(where: string, kind: Text["kind"], text: unknown): Text[] {
  return typeof text === "string" ? [{ where: visible(where), kind, text }] : [];
}

function listOf(value: unknown): Members[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A text as it may be printed: what cannot be seen is written as its code point. */
export function visible(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu,
    (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** What stands around a place in a text, in quotes. */
export function around(text: string, index: number, length: number, margin = 40): string {
  const from = Math.max(0, index - margin);
  const to = Math.min(text.length, index + length + margin);
  return `${from > 0 ? "..." : ""}${JSON.stringify(visible(text.slice(from, to)))}${to < text.length ? "..." : ""}`;
}
