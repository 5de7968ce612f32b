/** What could be cut from a catalogue: each cut is made on a copy, and counted again. */
import type { Tool } from "mica-mcp/client";
import { isObject } from "../json.js";
import { type Amount, amountOf } from "./count.js";
import type { CountTokens } from "./o200k.js";

export interface Saving extends Amount {
  /** Stable, for scripts. */
  readonly id: string;
  /** What to cut, in words. */
  readonly what: string;
  /** Names of the tools that change. */
  readonly tools: readonly string[];
}

interface Cut {
  readonly id: string;
  readonly what: string;
  /** The tool without it; the same object where there is nothing to cut. */
  readonly apply: (tool: Tool, count: CountTokens) => Tool;
}

/** Tokens above which a tool's description is called long, and a parameter's. */
const LONG_DESCRIPTION = 100;
const LONG_PARAMETER = 50;

const CUTS: readonly Cut[] = [
  {
    id: "$schema",
    what: "$schema in the schemas: 2020-12 is what is assumed without it",
    apply: (tool) => inSchemas(tool, (schema) => without(schema, "$schema")),
  },
  {
    id: "additionalProperties",
    what: "additionalProperties that is only true, false or {}: check arguments in the tool instead",
    apply: (tool) =>
      inSchemas(tool, (schema) => {
        const value = schema["additionalProperties"];
        const says = typeof value === "boolean" || (isObject(value) && Object.keys(value).length === 0);
        return says ? without(schema, "additionalProperties") : schema;
      }),
  },
  {
    id: "outputSchema",
    what: "output schemas, where nobody reads structured results",
    apply: (tool) => (tool.outputSchema === undefined ? tool : withoutOutput(tool)),
  },
  {
    id: "titles",
    what: "titles that only repeat a name",
    apply: (tool) => inSchemas(withoutOwnTitles(tool), untitledProperties),
  },
  {
    id: "safeIntegers",
    what: "minimum and maximum that only say that an integer can be written in JSON",
    apply: (tool) =>
      inSchemas(tool, (schema) => {
        let cut = schema;
        if (schema["minimum"] === Number.MIN_SAFE_INTEGER) cut = without(cut, "minimum");
        if (schema["maximum"] === Number.MAX_SAFE_INTEGER) cut = without(cut, "maximum");
        return cut;
      }),
  },
  {
    id: "descriptions",
    what: `descriptions of tools over ${LONG_DESCRIPTION} tokens, cut to their first paragraph`,
    apply: (tool, count) => {
      const { description } = tool;
      if (typeof description !== "string" || count(description) <= LONG_DESCRIPTION) return tool;
      const short = firstParagraph(description);
      return short === description ? tool : { ...tool, description: short };
    },
  },
  {
    id: "parameterDescriptions",
    what: `descriptions inside schemas over ${LONG_PARAMETER} tokens, cut to their first sentence`,
    apply: (tool, count) =>
      inSchemas(tool, (schema) => {
        const { description } = schema;
        if (typeof description !== "string" || count(description) <= LONG_PARAMETER) return schema;
        const short = firstSentence(description);
        return short === description ? schema : { ...schema, description: short };
      }),
  },
];

/** What each cut saves by itself, the largest first, and what all of them save together. */
export function findSavings(
  tools: readonly Tool[],
  count: CountTokens,
): { readonly savings: readonly Saving[]; readonly together: Amount } {
  const before = tools.map((tool) => amountOf([tool], count));
  const savedBy = (cut: (tool: Tool) => Tool) => {
    const changed: string[] = [];
    let read = 0;
    let listed = 0;
    for (const [index, tool] of tools.entries()) {
      const shorter = cut(tool);
      if (shorter === tool) continue;
      const was = before[index] as Amount;
      const is = amountOf([shorter], count);
      if (is.listed === was.listed) continue;
      changed.push(tool.name);
      read += was.read - is.read;
      listed += was.listed - is.listed;
    }
    return { read, listed, tools: changed };
  };
  const savings = CUTS.map(({ id, what, apply }) => ({ id, what, ...savedBy((tool) => apply(tool, count)) }))
    .filter(({ tools: changed }) => changed.length > 0)
    .sort((a, b) => b.read - a.read || b.listed - a.listed);
  const all = (tool: Tool) => CUTS.reduce((cut, { apply }) => apply(cut, count), tool);
  const { read, listed } = savedBy(all);
  return { savings, together: { read, listed } };
}

/** Words whose values are schemas by name: the names are no words of a schema themselves. */
const BY_NAME = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
/** Words whose values are data, whatever they look like. */
const DATA = new Set(["default", "const", "enum", "examples", "example"]);

type Schema = Readonly<Record<string, unknown>>;

/** A tool with every object of its schemas mapped, outermost last. The same tool where nothing changes. */
function inSchemas(tool: Tool, map: (schema: Schema) => Schema): Tool {
  const inputSchema = mapSchema(tool.inputSchema, map);
  const outputSchema = mapSchema(tool.outputSchema, map);
  if (inputSchema === tool.inputSchema && outputSchema === tool.outputSchema) return tool;
  return { ...tool, inputSchema, ...(outputSchema !== undefined && { outputSchema }) } as Tool;
}

function mapSchema(value: unknown, map: (schema: Schema) => Schema): unknown {
  if (Array.isArray(value)) return mapped(value, (each) => mapSchema(each, map));
  if (!isObject(value)) return value;
  return map(
    mapMembers(value, (inner, key) => {
      if (DATA.has(key)) return inner;
      return BY_NAME.has(key) && isObject(inner)
        ? mapMembers(inner, (schema) => mapSchema(schema, map))
        : mapSchema(inner, map);
    }),
  );
}

/** The same object where nothing changes. */
function mapMembers(value: Schema, map: (inner: unknown, key: string) => unknown): Schema {
  const entries = Object.entries(value);
  const next = mapped(entries, (entry) => {
    const inner = map(entry[1], entry[0]);
    return inner === entry[1] ? entry : ([entry[0], inner] as [string, unknown]);
  });
  return next === entries ? value : Object.fromEntries(next);
}

/** The same array where nothing changes. */
function mapped<T>(list: readonly T[], map: (each: T) => T): readonly T[] {
  const next = list.map(map);
  return next.some((each, index) => each !== list[index]) ? next : list;
}

function without(value: object, key: string): Schema {
  if (!Object.hasOwn(value, key)) return value as Schema;
  return Object.fromEntries(Object.entries(value).filter(([each]) => each !== key));
}

function withoutOutput({ outputSchema: _, ...tool }: Tool): Tool {
  return tool;
}

function withoutOwnTitles(tool: Tool): Tool {
  const { title, annotations } = tool as { title?: unknown; annotations?: unknown };
  let cut: Schema = tool as unknown as Schema;
  if (repeats(title, tool.name)) cut = without(cut, "title");
  if (isObject(annotations) && (repeats(annotations["title"], tool.name) || annotations["title"] === title)) {
    if (annotations["title"] !== undefined) {
      cut = { ...cut, annotations: without(annotations, "title") };
    }
  }
  return cut as unknown as Tool;
}

/** Generators write a title for every property, made from its name. */
function untitledProperties(schema: Schema): Schema {
  const { properties } = schema;
  if (!isObject(properties)) return schema;
  const untitled = mapMembers(properties, (inner, name) =>
    isObject(inner) && repeats(inner["title"], name) ? without(inner, "title") : inner,
  );
  return untitled === properties ? schema : { ...schema, properties: untitled };
}

/** `User Name` repeats `user_name`. */
function repeats(title: unknown, name: string): boolean {
  const plain = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  return typeof title === "string" && title !== "" && plain(title) === plain(name);
}

function firstParagraph(text: string): string {
  return text.trim().split(/\n\s*\n/, 1)[0] as string;
}

function firstSentence(text: string): string {
  const end = /[.!?。！？](?=\s|$)/u.exec(text);
  return end === null ? text : text.slice(0, end.index + 1);
}
