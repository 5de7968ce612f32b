/** What the server answers to requests that name what is not there, or hold what cannot be right. Asked once. */
import { parseUriTemplate } from "mica-mcp";
import { isObject } from "../../json.js";
import type { Audited, Members } from "../audited.js";
import { LISTS, type Listing, type ListName } from "../catalogue.js";
import { type RawExchange, resultOf } from "../wire/raw.js";
import { sampleArguments, wrongArguments } from "./sample-values.js";
import { callableTools, MOST_SAMPLES, promptArguments } from "./samples.js";

export interface Provocation {
  readonly kind:
    | "unknown tool"
    | "missing arguments"
    | "wrong arguments"
    | "unknown resource"
    | "unknown template value"
    | "unknown prompt"
    | "missing prompt arguments"
    | "unknown cursor";
  readonly what: string;
  readonly method: string;
  readonly params: Members;
}

export interface Provoked extends Provocation {
  readonly exchange: RawExchange;
}

export const UNKNOWN = {
  name: "mica_no_such_name",
  uri: "mica-no-such-scheme://nowhere/mica",
  cursor: "mica-no-such-cursor",
} as const;

function provocationsOf(audited: Audited): Provocation[] {
  const { tools, resources, resourceTemplates, prompts } = audited.catalogue;
  const { name, uri, cursor } = UNKNOWN;
  return [
    ...(tools ? [provoke("unknown tool", `tool ${name}`, "tools/call", { name, arguments: {} })] : []),
    ...callableTools(audited, tools?.entries ?? []).flatMap(toolProvocations),
    ...(resources ? [provoke("unknown resource", `resource ${uri}`, "resources/read", { uri })] : []),
    ...(resourceTemplates?.entries ?? []).slice(0, MOST_SAMPLES).flatMap(templateProvocations),
    ...(prompts ? [provoke("unknown prompt", `prompt ${name}`, "prompts/get", { name, arguments: {} })] : []),
    ...(prompts?.entries ?? []).slice(0, MOST_SAMPLES).flatMap(promptProvocations),
    ...(Object.keys(LISTS) as ListName[])
      .filter((list) => isReadable(audited.catalogue[list]))
      .map((list) => provoke("unknown cursor", LISTS[list].method, LISTS[list].method, { cursor })),
  ];
}

/** Of a list that fails without a cursor, an invalid one tells nothing. */
function isReadable(listing: Listing | undefined): boolean {
  const [first] = listing?.pages ?? [];
  return first !== undefined && resultOf(first.exchange) !== undefined;
}

function provoke(kind: Provocation["kind"], what: string, method: string, params: Members): Provocation {
  return { kind, what, method, params };
}

function toolProvocations({ name, inputSchema }: Members): Provocation[] {
  const what = `tool ${String(name)}`;
  const required =
    isObject(inputSchema) && Array.isArray(inputSchema["required"]) ? inputSchema["required"] : [];
  const wrong = wrongArguments(inputSchema);
  return [
    ...(required.length > 0
      ? [provoke("missing arguments", what, "tools/call", { name, arguments: {} })]
      : []),
    ...(wrong ? [provoke("wrong arguments", what, "tools/call", { name, arguments: wrong })] : []),
    // Right but for one that is missing: some servers look at the first only.
    ...lastLeftOut(inputSchema, required).map((args) =>
      provoke("missing arguments", what, "tools/call", { name, arguments: args }),
    ),
  ];
}

function lastLeftOut(schema: unknown, required: readonly unknown[]): Members[] {
  const args = sampleArguments(schema);
  const last = required.at(-1);
  if (args === undefined || required.length < 2 || typeof last !== "string") return [];
  return [Object.fromEntries(Object.entries(args).filter(([name]) => name !== last))];
}

function templateProvocations({ uriTemplate }: Members): Provocation[] {
  try {
    const { variables, expand } = parseUriTemplate(String(uriTemplate));
    if (variables.length === 0) return [];
    const uri = expand(Object.fromEntries(variables.map((name) => [name, UNKNOWN.name])));
    return [provoke("unknown template value", `resource ${uri}`, "resources/read", { uri })];
  } catch {
    return [];
  }
}

function promptProvocations(prompt: Members): Provocation[] {
  const { name } = prompt;
  if (typeof name !== "string" || Object.keys(promptArguments(prompt)).length === 0) return [];
  return [provoke("missing prompt arguments", `prompt ${name}`, "prompts/get", { name, arguments: {} })];
}

export function provokedOf(audited: Audited): Promise<readonly Provoked[]> {
  return audited.once("provoked", async () => {
    const all: Provoked[] = [];
    for (const one of provocationsOf(audited)) {
      all.push({ ...one, exchange: await audited.request(one.method, one.params) });
    }
    return all;
  });
}
