/**
 * What a catalogue costs whoever reads it, in tokens. A tool counts twice: as a model reads it, which is the compact
 * JSON of its name, description and input schema, and as it is listed, which is the compact JSON of all of it.
 * (Hosts wrap tools in words of their own, which nobody can count from here.)
 */
import type { Tool } from "mica-mcp/client";
import type { Catalogue } from "./catalogue.js";
import type { CountTokens } from "./o200k.js";

export interface Amount {
  /** Tokens that a model reads. */
  readonly read: number;
  /** Tokens of all that is listed. */
  readonly listed: number;
}

export interface ToolCost extends Amount {
  readonly name: string;
  /** By key of the tool: the tokens that it would have less without that key. They need not add up to `listed`. */
  readonly keys: Readonly<Record<string, number>>;
}

export interface EntryCost {
  /** A resource's URI, a template's URI template, a prompt's name. */
  readonly name: string;
  readonly tokens: number;
}

export interface CatalogueCost {
  readonly instructions: number;
  readonly tools: readonly ToolCost[];
  /** Over all tools. */
  readonly keys: Readonly<Record<string, number>>;
  readonly resources: readonly EntryCost[];
  readonly resourceTemplates: readonly EntryCost[];
  readonly prompts: readonly EntryCost[];
  readonly total: {
    readonly tools: Amount;
    readonly resources: number;
    readonly resourceTemplates: number;
    readonly prompts: number;
    /** Instructions and tools: what stands in every conversation. */
    readonly everyConversation: number;
  };
}

/** What a model reads of a tool. */
function readPart({ name, description, inputSchema }: Tool): object {
  return { name, description, inputSchema };
}

export function amountOf(tools: readonly Tool[], count: CountTokens): Amount {
  let read = 0;
  let listed = 0;
  for (const tool of tools) {
    read += count(JSON.stringify(readPart(tool)));
    listed += count(JSON.stringify(tool));
  }
  return { read, listed };
}

export function countCatalogue(catalogue: Catalogue, count: CountTokens): CatalogueCost {
  const { instructions, tools, resources, resourceTemplates, prompts } = catalogue;
  const entries = <T extends object>(list: readonly T[], nameOf: (entry: T) => string): EntryCost[] =>
    list.map((entry) => ({ name: nameOf(entry), tokens: count(JSON.stringify(entry)) }));
  const toolCosts = tools.map((tool) => toolCost(tool, count));
  const keys = new Map<string, number>();
  for (const cost of toolCosts) {
    for (const [key, tokens] of Object.entries(cost.keys)) keys.set(key, (keys.get(key) ?? 0) + tokens);
  }
  const counted = {
    instructions: count(instructions),
    tools: toolCosts,
    keys: Object.fromEntries(keys),
    resources: entries(resources, ({ uri }) => uri),
    resourceTemplates: entries(resourceTemplates, ({ uriTemplate }) => uriTemplate),
    prompts: entries(prompts, ({ name }) => name),
  };
  const read = sum(toolCosts.map((cost) => cost.read));
  return {
    ...counted,
    total: {
      tools: { read, listed: sum(toolCosts.map((cost) => cost.listed)) },
      resources: sum(counted.resources.map(({ tokens }) => tokens)),
      resourceTemplates: sum(counted.resourceTemplates.map(({ tokens }) => tokens)),
      prompts: sum(counted.prompts.map(({ tokens }) => tokens)),
      everyConversation: counted.instructions + read,
    },
  };
}

function toolCost(tool: Tool, count: CountTokens): ToolCost {
  const listed = count(JSON.stringify(tool));
  const keys = Object.keys(tool).map((key): [string, number] => {
    const without = Object.fromEntries(Object.entries(tool).filter(([each]) => each !== key));
    return [key, listed - count(JSON.stringify(without))];
  });
  return { name: tool.name, ...amountOf([tool], count), keys: Object.fromEntries(keys) };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
