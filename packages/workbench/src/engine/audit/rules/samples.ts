/** What the server answers to ordinary requests: calls of tools that may be called, reads, prompts. Asked once. */
import { isObject } from "../../json.js";
import type { Audited, Members } from "../audited.js";
import type { RawExchange } from "../wire/raw.js";
import { destructiveVerb } from "./annotations.js";
import { isUriName, SAMPLE_URI, sampleArguments } from "./sample-values.js";

export interface Sample {
  /** `tool find_notes`, `resource notes://all`. */
  readonly what: string;
  readonly method: "tools/call" | "resources/read" | "prompts/get";
  readonly params: Members;
  /** As it is listed. */
  readonly definition: Members;
}

export interface Sampled extends Sample {
  readonly exchange: RawExchange;
}

/** Most of each kind: an audit is no load test. */
export const MOST_SAMPLES = 12;

export function samplesOf(audited: Audited): Sample[] {
  const { tools, resources, prompts } = audited.catalogue;
  return [
    ...callableTools(audited, tools?.entries ?? []).flatMap((definition): Sample[] => {
      const args = sampleArguments(definition["inputSchema"]);
      const { name } = definition;
      if (args === undefined) return [];
      return [
        { what: `tool ${String(name)}`, method: "tools/call", params: { name, arguments: args }, definition },
      ];
    }),
    ...(resources?.entries ?? []).slice(0, MOST_SAMPLES).flatMap((definition): Sample[] => {
      const { uri } = definition;
      if (typeof uri !== "string") return [];
      return [{ what: `resource ${uri}`, method: "resources/read", params: { uri }, definition }];
    }),
    ...(prompts?.entries ?? []).slice(0, MOST_SAMPLES).flatMap((definition): Sample[] => {
      const { name } = definition;
      if (typeof name !== "string") return [];
      const params = { name, arguments: promptArguments(definition) };
      return [{ what: `prompt ${name}`, method: "prompts/get", params, definition }];
    }),
  ];
}

/** A tool that lies about being read-only is not called to prove it; one that was allowed by name is. */
export function callableTools({ mayCall }: Audited, tools: readonly Members[]): Members[] {
  const byName = new Map(tools.map((tool) => [tool["name"], tool]));
  return [...byName.values()]
    .filter(({ name, annotations }) => {
      if (typeof name !== "string" || !mayCall(name)) return false;
      const isAnnotated = isObject(annotations) && annotations["readOnlyHint"] === true;
      return !isAnnotated || destructiveVerb(name) === undefined;
    })
    .slice(0, MOST_SAMPLES);
}

export function promptArguments({ arguments: declared }: Members): Record<string, string> {
  const all = Array.isArray(declared) ? declared.filter(isObject) : [];
  return Object.fromEntries(
    all
      .filter(({ required, name }) => required === true && typeof name === "string")
      .map(({ name }) => [String(name), isUriName(String(name)) ? SAMPLE_URI : "sample"]),
  );
}

export function sampledOf(audited: Audited): Promise<readonly Sampled[]> {
  return audited.once("samples", async () => {
    const all: Sampled[] = [];
    for (const sample of samplesOf(audited)) {
      all.push({ ...sample, exchange: await audited.request(sample.method, sample.params) });
    }
    return all;
  });
}
