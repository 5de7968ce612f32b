/** Calling a tool and getting a prompt with arguments as they were typed. */
import {
  type CallOptions,
  type CallToolResult,
  type Client,
  type GetPromptResult,
  type LeftOut,
  McpError,
  type Tool,
} from "mica-mcp/client";
import { type Arguments, type GivenArguments, typeArguments, typePromptArguments } from "./arguments.js";
import { suggestion } from "./closest.js";
import { asUsageError, UsageError } from "./usage-error.js";

/**
 * Types the arguments by the tool's schema, then calls it. Arguments that were given whole are sent as they are,
 * without a look at the tool.
 *
 * @throws UsageError where the tool or an argument is not right; nothing was called then.
 */
export async function callTool(
  client: Client,
  name: string,
  given: GivenArguments,
  options: CallOptions,
): Promise<CallToolResult> {
  const isWhole = given.base !== undefined && given.pairs.length === 0;
  const args = isWhole ? (given.base as Arguments) : (await prepareCall(client, name, given, options)).args;
  return client.callTool(name, args, options).catch(rethrow);
}

/** A tool, and its arguments as they would be sent. @throws UsageError */
export async function prepareCall(
  client: Client,
  name: string,
  given: GivenArguments,
  options: CallOptions,
): Promise<{ readonly tool: Tool; readonly args: Arguments }> {
  const { tools, leftOut } = await client.listTools(options);
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) throw unknownTool(name, tools, leftOut);
  const isWhole = given.base !== undefined && given.pairs.length === 0;
  return { tool, args: isWhole ? (given.base as Arguments) : typeArguments(name, tool.inputSchema, given) };
}

/** The same for a prompt, whose arguments are all text. */
export async function getPrompt(
  client: Client,
  name: string,
  given: GivenArguments,
  options: CallOptions,
): Promise<GetPromptResult> {
  const get = (args: Record<string, string>) => client.getPrompt(name, args, options).catch(rethrow);
  if (given.base !== undefined && given.pairs.length === 0) return get(given.base as Record<string, string>);
  const { prompts, leftOut } = await client.listPrompts(options);
  const prompt = prompts.find((one) => one.name === name);
  if (prompt === undefined) throw unknown("prompt", name, prompts, leftOut);
  return get(typePromptArguments(prompt, given));
}

/** What is wrong with a call of a tool that is not there. */
export function unknownTool(
  name: string,
  tools: readonly { name: string }[],
  leftOut: readonly LeftOut[] = [],
): Error {
  return unknown("tool", name, tools, leftOut);
}

function rethrow(error: unknown): never {
  throw asUsageError(error);
}

function unknown(
  what: string,
  name: string,
  known: readonly { name: string }[],
  leftOut: readonly LeftOut[],
): Error {
  const invalid = leftOut.find((one) => one.name === name);
  if (invalid !== undefined) {
    const message = `The server's definition of the ${what} ${JSON.stringify(name)} is invalid: ${invalid.reason}`;
    return new McpError("invalid_response", message);
  }
  const names = known.map((one) => one.name);
  const has = names.length ? `the server has ${names.join(", ")}` : "the server has none";
  const message = `unknown ${what} ${JSON.stringify(name)}; ${has}${suggestion(name, names)}`;
  return new UsageError(message, [{ path: name, message }]);
}
