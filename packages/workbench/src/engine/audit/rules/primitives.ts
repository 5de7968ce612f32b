/** Primitives by who is to use them: models call tools, applications attach resources, people start prompts (server, Overview). */
import { isObject } from "../../json.js";
import type { Members } from "../audited.js";
import type { Found, Rule } from "../rule.js";

export const PRIMITIVES: readonly Rule[] = [
  {
    id: "reads-as-tools",
    severity: "note",
    section: "server, Overview",
    title: "What an application should attach is a resource",
    run: ({ catalogue, speaking }) =>
      speaking.capabilities["resources"] === undefined ? readsAsTools(catalogue.tools?.entries ?? []) : [],
  },
  {
    id: "prompts-as-tools",
    severity: "note",
    section: "server, Overview",
    title: "What a person should start is a prompt",
    run: ({ catalogue, speaking }) =>
      speaking.capabilities["prompts"] === undefined ? promptsAsTools(catalogue.tools?.entries ?? []) : [],
  },
];

/** Reads that take nothing always give the same thing: there is nothing for a model to decide. */
const READ = /^(?:get|read|show|list|fetch|describe|view|load)(?![a-z])/;

export function readsAsTools(tools: readonly Members[]): Found[] {
  const reads = tools.filter(
    ({ name, inputSchema, annotations }) =>
      typeof name === "string" &&
      READ.test(name) &&
      isObject(annotations) &&
      annotations["readOnlyHint"] === true &&
      isObject(inputSchema) &&
      Object.keys(isObject(inputSchema["properties"]) ? inputSchema["properties"] : {}).length === 0,
  );
  if (reads.length === 0) return [];
  return [
    found(reads, ["is a read", "are reads"], "without arguments, and the server offers no resources", [
      "Offer them as resources (too): an application can then attach them without a call by the model,",
      "and their definitions do not stand in every context.",
    ]),
  ];
}

/** A text to begin with, by its name: `get_prompt`, `code_review_prompt`, `list_prompts`. */
const PROMPT = /(?:^|[_.-])(?:prompts?|prompt_?templates?)$|(?:P|^p)rompts?(?:Templates?)?$/;

export function promptsAsTools(tools: readonly Members[]): Found[] {
  const prompts = tools.filter(({ name }) => typeof name === "string" && PROMPT.test(name));
  if (prompts.length === 0) return [];
  return [
    found(prompts, ["gives a prompt", "give prompts"], "and the server offers none", [
      "Offer them as prompts: people start them by name, from the menu of their host.",
    ]),
  ];
}

function found(
  tools: readonly Members[],
  [one, several]: readonly [one: string, several: string],
  what: string,
  fix: readonly string[],
): Found {
  const names = tools.map(({ name }) => String(name));
  const few = names.slice(0, 5).join(", ");
  return {
    message:
      names.length === 1
        ? `The tool ${few} ${one} ${what}`
        : `The tools ${few}${names.length > 5 ? ` and ${names.length - 5} more` : ""} ${several} ${what}`,
    evidence: tools
      .slice(0, 5)
      .map(({ name, description }) => `${String(name)}: ${JSON.stringify(description ?? "").slice(0, 120)}`)
      .join("\n"),
    fix: fix.join(" "),
  };
}
