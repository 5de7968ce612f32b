/** Results of tools: well-formed, as their output schema says, and errors where there is nothing else to say. */
import { isObject, shown } from "../../json.js";
import type { Audited, Members } from "../audited.js";
import type { Found, Rule } from "../rule.js";
import { Inapplicable } from "../rule.js";
import { errorOf, type RawExchange, resultOf, seen } from "../wire/raw.js";
import { contentProblems } from "./content-blocks.js";
import { type Provoked, provokedOf } from "./provoked.js";
import { isValid, problemWith } from "./sample-values.js";
import { type Sampled, sampledOf } from "./samples.js";

const OUTPUT = "server/tools, Output Schema";

export const TOOL_RESULTS: readonly Rule[] = [
  {
    id: "content-blocks",
    severity: "error",
    section: "server/tools, Tool Result",
    title: "Results of tools hold well-formed content",
    run: async (audited) => (await callsOf(audited)).flatMap(malformedContent),
  },
  {
    id: "structured-missing",
    severity: "error",
    section: OUTPUT,
    title: "A tool with an output schema gives a structured result",
    run: async (audited) => (await callsOf(audited)).flatMap(missingStructure),
  },
  {
    id: "structured-valid",
    severity: "error",
    section: OUTPUT,
    title: "Structured results are valid by the output schema",
    run: async (audited) =>
      (await callsOf(audited)).flatMap((one) => invalidStructure(one, audited.era === "legacy")),
  },
  {
    id: "structured-text",
    severity: "warning",
    section: "server/tools, Structured Content",
    title: "A structured result also has a text, for clients that read no other",
    run: async (audited) => (await callsOf(audited)).flatMap(missingText),
  },
  {
    id: "unknown-tool",
    severity: "warning",
    section: "server/tools, Error Handling",
    title: "A call of an unknown tool is a protocol error",
    run: async (audited) => (await provokedOf(audited)).flatMap(unknownTool),
  },
  {
    id: "invalid-arguments",
    severity: "error",
    section: "server/tools, Security Considerations",
    title: "Arguments that the input schema forbids are refused",
    async run(audited) {
      const { tools } = audited.catalogue;
      return perTool((await provokedOf(audited)).flatMap((one) => accepted(one, tools?.entries ?? [])));
    },
  },
  {
    id: "arguments-error",
    severity: "note",
    section: "server/tools, Error Handling",
    title: "Invalid arguments are a tool error, which the model sees and can mend",
    async run(audited) {
      // Earlier revisions do not say which of the two it is.
      if (audited.speaking.revision < "2025-11-25") throw new Inapplicable("its revision leaves it open");
      return perTool((await provokedOf(audited)).flatMap(protocolErrors));
    },
  },
];

async function callsOf(audited: Audited): Promise<Sampled[]> {
  const calls = (await sampledOf(audited)).filter(({ method }) => method === "tools/call");
  if (calls.length === 0) {
    throw new Inapplicable(
      "no tool is annotated as read-only and can be called; --allow-writes allows others",
    );
  }
  return calls;
}

/** The result of a call that has come to its end. */
function completed(exchange: RawExchange): Members | undefined {
  const result = resultOf(exchange);
  return (result?.["resultType"] ?? "complete") === "complete" ? result : undefined;
}

function malformedContent({ what, exchange }: Sampled): Found[] {
  const result = completed(exchange);
  if (result === undefined) return [];
  const problems = contentProblems(result["content"]);
  const { isError } = result;
  if (isError !== undefined && typeof isError !== "boolean")
    problems.push(`isError must be true or false, got ${shown(isError)}`);
  return problems.slice(0, 5).map((problem) => ({
    message: `The result of the ${what} is malformed: ${problem}`,
    evidence: seen(exchange),
    fix: 'Answer { "content": [{ "type": "text", "text": "..." }] }, or another block of the schema.',
  }));
}

/** Errors need no structure: they say what went wrong. */
function successOf({ exchange, definition }: Sampled): { result: Members; schema: Members } | undefined {
  const result = completed(exchange);
  const schema = definition["outputSchema"];
  return result && result["isError"] !== true && isObject(schema) ? { result, schema } : undefined;
}

function missingStructure(call: Sampled): Found[] {
  const { result } = successOf(call) ?? {};
  if (result === undefined || "structuredContent" in result) return [];
  return [
    {
      message: `The ${call.what} has an outputSchema, and its result no structuredContent`,
      evidence: seen(call.exchange),
      fix: "Give the result as structuredContent too, or drop the outputSchema.",
    },
  ];
}

function invalidStructure(call: Sampled, mustBeObject: boolean): Found[] {
  const { what, exchange } = call;
  const structured = completed(exchange)?.["structuredContent"];
  if (structured === undefined) return [];
  if (mustBeObject && !isObject(structured)) {
    const message = `The structuredContent of the ${what} must be an object in this revision`;
    return [
      { message, evidence: seen(exchange), fix: 'Put the value into an object, such as { "items": [...] }.' },
    ];
  }
  const { schema } = successOf(call) ?? {};
  const problem = schema && problemWith(structured, schema);
  if (problem === undefined) return [];
  return [
    {
      message: `The structuredContent of the ${what} is against its outputSchema: ${problem}`,
      evidence: `${shown(structured, 300)} by ${shown(schema, 300)}`,
      fix: "Make the result what the schema says, or the schema what the result is: clients refuse it as it is.",
    },
  ];
}

function missingText({ what, exchange }: Sampled): Found[] {
  const result = completed(exchange);
  const content = result?.["content"];
  if (result?.["structuredContent"] === undefined || !Array.isArray(content)) return [];
  if (content.some((block) => isObject(block) && block["type"] === "text")) return [];
  return [
    {
      message: `The ${what} gives structuredContent and no text`,
      evidence: seen(exchange),
      fix: "Add the same as JSON in a text block.",
    },
  ];
}

function unknownTool({ kind, exchange }: Provoked): Found[] {
  if (kind !== "unknown tool" || resultOf(exchange) === undefined) return [];
  const isError = resultOf(exchange)?.["isError"] === true;
  return [
    {
      message: `A call of an unknown tool is answered with a result${isError ? "" : " that claims success"}`,
      evidence: `${exchange.sent}\nwas answered with ${seen(exchange)}`,
      fix: 'Answer with the error { "code": -32602, "message": "Unknown tool: ..." }.',
      ...(!isError && { severity: "error" as const }),
    },
  ];
}

type PerTool = Found & { readonly what: string };

function accepted({ kind, what, params, exchange }: Provoked, tools: readonly Members[]): PerTool[] {
  if (kind !== "missing arguments" && kind !== "wrong arguments") return [];
  const result = completed(exchange);
  if (result === undefined || result["isError"] === true) return [];
  const schema = tools.find(({ name }) => name === params["name"])?.["inputSchema"];
  const args = params["arguments"] as Members;
  const problem = isObject(schema) && !isValid(args, schema) ? problemWith(args, schema) : undefined;
  if (problem === undefined) return [];
  return [
    {
      what,
      message: `The ${what} accepts arguments that its inputSchema forbids (${kind})`,
      evidence: `${shown(args, 200)}: ${problem}; answered with ${seen(exchange)}`,
      fix: "Validate the arguments by the inputSchema, and answer with isError and what is wrong with them.",
    },
  ];
}

function protocolErrors({ kind, what, params, exchange }: Provoked): PerTool[] {
  if (kind !== "missing arguments" && kind !== "wrong arguments") return [];
  const code = errorOf(exchange)?.code;
  // Those of the specification are about the message (a mirrored header, a capability), not about the arguments.
  if (typeof code !== "number" || (code <= -32020 && code >= -32099)) return [];
  return [
    {
      what,
      message: `The ${what} answers invalid arguments with a protocol error`,
      evidence: `${shown(params["arguments"], 200)} was answered with ${seen(exchange)}`,
      fix: "Answer with a result that has isError and names every problem.",
    },
  ];
}

/** The first of each tool: what is wrong with it shows in one. */
function perTool(all: readonly PerTool[]): Found[] {
  const first = new Map<string, Found>();
  for (const { what, ...found } of all) if (!first.has(what)) first.set(what, found);
  return [...first.values()];
}
