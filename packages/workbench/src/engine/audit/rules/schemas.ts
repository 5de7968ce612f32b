/** Schemas of tools: there, objects, valid, complete in themselves (server/tools, Tool; basic, JSON Schema Usage). */
import { schemaProblems } from "mica-mcp/schema";
import { isObject, shown } from "../../json.js";
import type { Audited } from "../audited.js";
import type { Found, Rule } from "../rule.js";
import { placesOf, type ToolSchema, toolSchemas } from "./schema-walk.js";

export const SCHEMAS: readonly Rule[] = [
  {
    id: "input-schema",
    severity: "error",
    section: "server/tools, Tool",
    title: 'Every tool has an input schema of type "object"',
    run: ({ catalogue }) =>
      (catalogue.tools?.entries ?? []).flatMap((tool) =>
        inputSchema(String(tool["name"]), tool["inputSchema"]),
      ),
  },
  {
    id: "output-schema",
    severity: "error",
    section: "server/tools, Output Schema",
    title: 'Output schemas are JSON Schema objects, of type "object" in revisions before 2026-07-28',
    run: ({ catalogue, era }) => toolSchemas(catalogue).flatMap((one) => outputSchema(one, era === "legacy")),
  },
  schemaRule(["keyword", "not_a_schema", "not_json", "endless"], {
    id: "schema-valid",
    severity: "error",
    section: "basic, Schema Validation",
    title: "Schemas are valid by their dialect",
    fix: "Mend the keyword: a client that validates refuses the tool.",
  }),
  schemaRule(["nowhere"], {
    id: "schema-dangling-reference",
    severity: "error",
    section: "basic, Schema Validation",
    title: "Every $ref leads to a part of its schema",
    fix: "Put what it refers to into $defs of the same schema, or write it in place.",
  }),
  schemaRule(["outside"], {
    id: "schema-remote-reference",
    severity: "warning",
    section: "basic, $ref Resolution",
    title: "No $ref leaves its schema",
    fix: "Put what it refers to into $defs of the same schema: clients must not fetch it.",
  }),
  schemaRule(["dialect"], {
    id: "schema-dialect",
    severity: "warning",
    section: "basic, Schema Dialect",
    title: "The dialect of every schema is one that clients know",
    fix: "Leave $schema out and write JSON Schema 2020-12.",
  }),
];

type Kind = ReturnType<typeof schemaProblems>[number]["kind"];

function schemaRule(kinds: readonly Kind[], { fix, ...rule }: Omit<Rule, "run"> & { fix: string }): Rule {
  return {
    ...rule,
    run: ({ catalogue }: Audited) =>
      toolSchemas(catalogue).flatMap((one): Found[] =>
        problemsOf(one.schema)
          .filter(({ kind }) => kinds.includes(kind))
          .slice(0, 20)
          .map(({ path, message }) => ({
            message: `${one.tool}, ${one.member}: ${message}`,
            evidence: evidenceAt(one.schema, path),
            fix,
          })),
      ),
  };
}

interface Problem {
  readonly kind: Kind;
  readonly path: string;
  readonly message: string;
}

/** What is no object is a matter of the rules for it. The meta-schema also wants the members of some lists unique. */
export function problemsOf(schema: unknown): readonly Problem[] {
  if (!isObject(schema)) return [];
  const problems: Problem[] = [...schemaProblems(schema)];
  if (problems.some(({ kind }) => kind === "too_large" || kind === "not_json")) return problems;
  for (const { node, path } of placesOf(schema)) {
    for (const keyword of ["required", "type"]) {
      const list = node[keyword];
      if (!Array.isArray(list) || new Set(list).size === list.length) continue;
      const message = `${path || "the schema"}: ${keyword} must name each once, got ${shown(list)}`;
      problems.push({ kind: "keyword", path, message });
    }
  }
  return problems;
}

function evidenceAt(schema: unknown, path: string): string {
  const place = placesOf(schema).find((one) => one.path === path);
  return shown(place?.node ?? schema, 200);
}

export function inputSchema(tool: string, schema: unknown): Found[] {
  const fix =
    'Give it { "type": "object", "properties": {...} }; without parameters "additionalProperties": false.';
  if (!isObject(schema)) {
    const what = schema === undefined ? "has no inputSchema" : "has an inputSchema that is no object";
    return [{ message: `${tool} ${what}`, evidence: `"inputSchema": ${shown(schema)}`, fix }];
  }
  if (schema["type"] === "object") return [];
  const got = schema["type"] === undefined ? "none" : shown(schema["type"]);
  const message = `${tool}: the type of the inputSchema must be "object", got ${got}`;
  return [{ message, evidence: `"inputSchema": ${shown(schema, 200)}`, fix }];
}

export function outputSchema({ tool, member, schema }: ToolSchema, mustBeObject: boolean): Found[] {
  if (member !== "outputSchema") return [];
  const evidence = `"outputSchema": ${shown(schema, 200)}`;
  if (!isObject(schema)) {
    const fix = "Describe the output, or leave the outputSchema out.";
    return [{ message: `${tool} has an outputSchema that is no object`, evidence, fix }];
  }
  if (!mustBeObject || schema["type"] === "object") return [];
  const message = `${tool}: the type of the outputSchema must be "object" in this revision`;
  return [{ message, evidence, fix: 'Put the value into an object, such as { "items": [...] }.' }];
}
