/** The one place where the results of tools are rendered (server/tools, Tool Result and Error Handling). */
import { ToolOutput, text } from "../protocol/content.js";
import type { CallToolResult } from "../protocol/features.js";
import { describeProblems, type Problem, type Validate } from "../schema/validate.js";

/** What rendering needs to know of a tool. */
interface Rendered {
  readonly name: string;
  /** Absent where the tool has no output schema. */
  readonly validateOutput: Validate | undefined;
}

/** The result of a tool whose handler returned `value`. @throws Error where that does not fit its output schema */
export function render(tool: Rendered, value: unknown): CallToolResult | Promise<CallToolResult> {
  if (value instanceof ToolOutput) return renderOutput(tool, value);
  const { name, validateOutput } = tool;
  return validateOutput === undefined
    ? { content: blocksOf(value) }
    : renderStructured(name, validateOutput, value);
}

async function renderStructured(name: string, validate: Validate, value: unknown): Promise<CallToolResult> {
  const structuredContent = await checkOutput(name, validate, value);
  return { content: blocksOf(structuredContent), structuredContent };
}

async function renderOutput(tool: Rendered, { blocks, options }: ToolOutput): Promise<CallToolResult> {
  const { structured, isError, _meta } = options;
  const result: CallToolResult = { content: blocks };
  if (isError) result.isError = true;
  if (_meta !== undefined) result._meta = _meta;
  // A failure has no output to check.
  if (tool.validateOutput !== undefined && !isError) {
    result.structuredContent = await checkOutput(tool.name, tool.validateOutput, structured);
  } else if (structured !== undefined) result.structuredContent = structured;
  return result;
}

/** "Servers MUST provide structured results that conform to this schema" (server/tools, Output Schema). */
async function checkOutput(name: string, validate: Validate, value: unknown): Promise<unknown> {
  const validation = await validate(value);
  if (validation.problems === undefined) return validation.value;
  throw new Error(
    `the result of ${name} does not fit its output schema:\n${describeProblems(validation.problems)}`,
  );
}

function blocksOf(value: unknown): CallToolResult["content"] {
  if (value === undefined) return [];
  if (typeof value === "string") return [text(value)];
  const json = JSON.stringify(value);
  if (json === undefined) throw new TypeError(`the handler returned a ${typeof value}, which has no JSON`);
  return [text(json)];
}

/** A failure that the model may read. */
export function failed(message: string): CallToolResult {
  return { content: [text(message)], isError: true };
}

/** "Input validation errors" are for the model to read and correct (server/tools, Error Handling). */
export function invalidArguments(name: string, problems: readonly Problem[]): CallToolResult {
  return failed(`Invalid arguments for tool ${JSON.stringify(name)}:\n${describeProblems(problems)}`);
}
