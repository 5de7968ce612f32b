/** Names: of the allowed characters, each once, and none that is taken for another (server/tools, Tool Names). */
import type { Catalogue, Listing } from "../catalogue.js";
import type { Found, Rule } from "../rule.js";
import { LOOK_ALIKES } from "./look-alikes.js";

export const NAMES: readonly Rule[] = [
  {
    id: "tool-name",
    severity: "warning",
    section: "server/tools, Tool Names",
    title: "Tool names are 1 to 128 letters, digits, underscores, hyphens and dots",
    run: ({ catalogue, speaking }) =>
      toolNames(namesOf(catalogue.tools, "name"), speaking.revision >= "2025-11-25"),
  },
  {
    id: "duplicate-name",
    severity: "warning",
    section: "server/tools, Tool Names",
    title: "Names and URIs are unique",
    run: ({ catalogue }) => duplicates(catalogue),
  },
  {
    id: "look-alike-names",
    severity: "note",
    section: "server/tools, Tool Names",
    title: "No two names differ in nothing but case, separators or look-alike letters",
    run: ({ catalogue }) => [
      ...lookAlikes("tools", namesOf(catalogue.tools, "name")),
      ...lookAlikes("prompts", namesOf(catalogue.prompts, "name")),
    ],
  },
  {
    id: "shadowed-name",
    severity: "note",
    section: "server/tools, Tool Names",
    title: "No tool has the name of a tool that hosts bring themselves",
    run: ({ catalogue }) => shadowed(namesOf(catalogue.tools, "name")),
  },
];

/** What the entries of a list are known by. Entries without it are none of the matter here. */
const KEYS = {
  tools: "name",
  prompts: "name",
  resources: "uri",
  resourceTemplates: "uriTemplate",
} as const satisfies Record<keyof Catalogue, string>;

function namesOf(listing: Listing | undefined, key: string): string[] {
  const names = listing?.entries.map((entry) => entry[key]) ?? [];
  return [...new Set(names.filter((name) => typeof name === "string"))];
}

/** @param isWritten Whether the revision says what names may look like; before that it is a judgement. */
export function toolNames(names: readonly string[], isWritten = true): Found[] {
  return names
    .filter((name) => !/^[A-Za-z0-9_.-]{1,128}$/.test(name))
    .map((name) => ({
      message: `The tool name ${shortened(name)} ${
        name === ""
          ? "is empty"
          : /^[A-Za-z0-9_.-]+$/.test(name)
            ? `has ${name.length} characters`
            : `has characters that hosts refuse: ${strange(name)}`
      }`,
      evidence: `"name": ${JSON.stringify(name)}`,
      fix: "Rename it: 1 to 128 of A-Z, a-z, 0-9, underscore, hyphen and dot.",
      ...(!isWritten && { severity: "note" as const }),
    }));
}

function strange(name: string): string {
  const characters = [...new Set(name.replaceAll(/[A-Za-z0-9_.-]/g, ""))].slice(0, 5);
  return characters.map((one) => `${JSON.stringify(one)} (${codePoint(one)})`).join(", ");
}

export function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Within one page: what comes again on another page is a matter of pagination. */
function duplicates(catalogue: Catalogue): Found[] {
  const found: Found[] = [];
  for (const [list, key] of Object.entries(KEYS) as [keyof Catalogue, string][]) {
    const repeated = new Set<string>();
    for (const { items } of catalogue[list]?.pages ?? []) {
      for (const name of repeatedIn(items, key)) repeated.add(name);
    }
    const method = catalogue[list]?.method ?? list;
    for (const name of repeated) {
      found.push({
        message: `${method} lists ${shortened(name)} more than once`,
        evidence: `several entries with "${key}": ${JSON.stringify(name)}`,
        fix: `Give every entry a ${key} of its own: only one of them can be reached.`,
      });
    }
  }
  return found;
}

function repeatedIn(items: readonly unknown[], key: string): string[] {
  const names = items.map((item) => (item as Record<string, unknown> | null | undefined)?.[key]);
  return [
    ...new Set(
      names.filter((name, index): name is string => typeof name === "string" && names.indexOf(name) < index),
    ),
  ];
}

export function lookAlikes(what: string, names: readonly string[]): Found[] {
  const groups = new Map<string, string[]>();
  for (const name of names) groups.set(skeleton(name), [...(groups.get(skeleton(name)) ?? []), name]);
  return [...groups.values()]
    .filter((group) => group.length > 1)
    .map((group) => ({
      message: `The ${what} ${group.map(shortened).join(" and ")} are easily taken for each other`,
      evidence: group.map((name) => `${JSON.stringify(name)} = ${points(name)}`).join("\n"),
      fix: "Keep one of them, or name what makes them different.",
      // Letters of another script are no accident of style.
      ...(group.some((name) => /[^\x20-\x7e]/.test(name)) && { severity: "warning" as const }),
    }));
}

/** What a name looks like at a glance. */
export function skeleton(name: string): string {
  const plain = name.normalize("NFKC").replaceAll(/[\s\p{Default_Ignorable_Code_Point}_.-]/gu, "");
  return [...plain]
    .map((one) => LOOK_ALIKES.get(one) ?? one)
    .join("")
    .toLowerCase()
    .replaceAll("0", "o")
    .replaceAll(/[1i|]/g, "l");
}

function points(name: string): string {
  return [...name]
    .slice(0, 40)
    .map((one) => (/[\x21-\x7e]/.test(one) ? one : codePoint(one)))
    .join(" ");
}

/** Tools that hosts have built in: a model that has both cannot tell which it calls. */
const BUILT_IN = new Set(
  `bash shell computer python code_interpreter code_execution web_search web_fetch text_editor
  str_replace_editor str_replace_based_edit_tool apply_patch todo_write read write edit multiedit grep glob
  ls task webfetch websearch notebookedit execute_command run_terminal_cmd`.split(/\s+/),
);

function shadowed(names: readonly string[]): Found[] {
  return names
    .filter((name) => BUILT_IN.has(name.toLowerCase()))
    .map((name) => ({
      message: `The tool ${shortened(name)} has the name of a tool that hosts bring themselves`,
      evidence: `"name": ${JSON.stringify(name)}`,
      fix: `Say whose it is in its name, such as "notes_${name.toLowerCase()}".`,
    }));
}

/** A name as it may stand in a message. */
export function shortened(name: string, most = 60): string {
  return JSON.stringify(name.length > most ? `${name.slice(0, most)}...` : name);
}
