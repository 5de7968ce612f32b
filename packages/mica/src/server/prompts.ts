/** Prompts: registration, `prompts/list` and `prompts/get` (server/prompts). */
import { text } from "../protocol/content.js";
import { ErrorCode, ProtocolError } from "../protocol/errors.js";
import type {
  ContentBlock,
  GetPromptResult,
  JsonSchema,
  ListPromptsResult,
  Prompt,
  PromptArgument,
  PromptMessage,
} from "../protocol/features.js";
import { isObject } from "../protocol/jsonrpc.js";
import { checkScopes } from "../protocol/scopes.js";
import type { CacheHints, Icon, MetaObject } from "../protocol/types.js";
import { advertise } from "../schema/advertise.js";
import type { Schema } from "../schema/standard.js";
import { createValidator, describeProblems, type Validate } from "../schema/validate.js";
import type { InputContext } from "./asking-context.js";
import { type Catalogue, createCatalogue, type Registration } from "./catalogue.js";
import { type Completer, checkCompleters } from "./completion.js";
import { checkKeys } from "./definition.js";
import type { ToolArguments } from "./tools.js";

/** What an author says of a prompt. */
export interface PromptDefinition<Input extends Schema | undefined> {
  title?: string;
  description?: string;
  /** Of an object whose values come as strings: that is what the protocol carries. Without it the prompt takes none. */
  input?: Input;
  /** Suggestions for arguments, by name (server/utilities/completion). */
  complete?: Record<string, Completer>;
  icons?: Icon[];
  /** What callers must hold, all of it, where the transport authenticates them (authorization). */
  scopes?: readonly string[];
  _meta?: MetaObject;
}

/** A message of a prompt; a string or block alone is one from the user. */
export type PromptPart =
  | string
  | ContentBlock
  | { role: "user" | "assistant"; content: string | ContentBlock };

/** What a prompt handler returns: one part, a list, or a list with a description of its own. */
export type PromptReturn =
  | PromptPart
  | readonly PromptPart[]
  | { description?: string; messages: readonly PromptPart[] };

export type PromptHandler<Input> = (
  args: ToolArguments<Input>,
  ctx: InputContext,
) => PromptReturn | Promise<PromptReturn>;

interface RegisteredPrompt {
  readonly prompt: Prompt;
  readonly scopes: readonly string[];
  readonly names: readonly string[];
  readonly complete: Record<string, Completer>;
  readonly validate: Validate | undefined;
  readonly handler: (args: never, ctx: InputContext) => PromptReturn | Promise<PromptReturn>;
}

export interface Prompts {
  add<Input extends Schema | undefined>(
    name: string,
    definition: PromptDefinition<Input>,
    handler: PromptHandler<Input>,
  ): Registration;
  readonly catalogue: Catalogue<RegisteredPrompt>;
  /** @throws ProtocolError -32602 where the prompt is unknown or the arguments are not strings. */
  find(params: Record<string, unknown>): RegisteredPrompt;
  /** @throws ProtocolError -32602 naming every invalid argument. */
  get(prompt: RegisteredPrompt, params: Record<string, unknown>, ctx: InputContext): Promise<GetPromptResult>;
}

const KEYS = ["title", "description", "input", "complete", "icons", "scopes", "_meta"];

export function createPrompts(pageSize: number, hints: CacheHints, onChange: () => void): Prompts {
  const catalogue = createCatalogue<RegisteredPrompt>(
    "prompt",
    pageSize,
    (entries): ListPromptsResult => ({ prompts: entries.map(({ prompt }) => prompt), ...hints }),
    onChange,
  );
  return {
    catalogue,
    add: (name, definition, handler) => catalogue.add(name, register(name, definition, handler)),
    find(params) {
      const name = params["name"];
      if (typeof name !== "string") throw invalid("params.name must be a string");
      const found = catalogue.get(name);
      if (found === undefined) throw invalid(`Unknown prompt: ${name}`);
      const args = params["arguments"];
      if (
        args !== undefined &&
        (!isObject(args) || Object.values(args).some((value) => typeof value !== "string"))
      ) {
        throw invalid("params.arguments must be an object of strings");
      }
      return found;
    },
    async get({ prompt, validate, handler }, params, ctx) {
      const given = params["arguments"] ?? {};
      const validation = validate === undefined ? { value: {} } : await validate(given);
      if (validation.problems !== undefined) {
        throw invalid(
          `Invalid arguments for prompt ${JSON.stringify(prompt.name)}:\n${describeProblems(validation.problems)}`,
        );
      }
      return render(await handler(validation.value as never, ctx), prompt.description);
    },
  };
}

function register<Input extends Schema | undefined>(
  name: string,
  definition: PromptDefinition<Input>,
  handler: PromptHandler<Input>,
): RegisteredPrompt {
  const what = `prompt ${JSON.stringify(name)}`;
  if (typeof name !== "string" || name === "") throw new TypeError("prompt: name must be a non-empty string");
  if (typeof handler !== "function")
    throw new TypeError(`${what}: handler must be a function, got ${typeof handler}`);
  checkKeys(definition, KEYS, what);
  const { input, complete = {}, title, description, icons, _meta } = definition;
  const args = input === undefined ? [] : argumentsOf(advertise(input, "input", `${what} input`), what);
  const names = args.map((argument) => argument.name);
  checkCompleters(complete, names, what);
  const prompt: Prompt = { name };
  if (title !== undefined) prompt.title = title;
  if (description !== undefined) prompt.description = description;
  if (args.length) prompt.arguments = args;
  if (icons !== undefined) prompt.icons = icons;
  if (_meta !== undefined) prompt._meta = _meta;
  return {
    prompt,
    scopes: checkScopes(definition.scopes ?? [], `${what}: scopes`),
    names,
    complete,
    validate: input === undefined ? undefined : createValidator(input),
    handler: handler as RegisteredPrompt["handler"],
  };
}

function argumentsOf(schema: JsonSchema, what: string): PromptArgument[] {
  const properties = schema["properties"];
  if (schema["type"] !== "object" || !isObject(properties)) {
    throw new TypeError(`${what} input: the schema must describe an object with properties`);
  }
  const required = (schema["required"] as string[] | undefined) ?? [];
  return Object.entries(properties).map(([name, property]) => {
    refuseStructure(name, property, what);
    const { title, description } = property as { title?: string; description?: string };
    const argument: PromptArgument = { name };
    if (title !== undefined) argument.title = title;
    if (description !== undefined) argument.description = description;
    if (required.includes(name)) argument.required = true;
    return argument;
  });
}

/** What a prompt is called with are strings, so that an argument of another shape could never be given. */
function refuseStructure(name: string, property: unknown, what: string): void {
  const type: unknown = isObject(property) ? property["type"] : undefined;
  const types: unknown[] = Array.isArray(type) ? type : [type];
  // Numbers and booleans may be what a library makes of a string.
  if (!types.every((one) => one === "object" || one === "array" || one === "null")) return;
  throw new TypeError(
    `${what} input: argument ${JSON.stringify(name)} is declared as ${types.join(" or ")}, and prompts are called with strings only; expected a string`,
  );
}

function render(value: PromptReturn, description: string | undefined): GetPromptResult {
  const whole =
    isObject(value) && "messages" in value
      ? (value as { description?: string; messages: readonly PromptPart[] })
      : undefined;
  const parts =
    whole?.messages ?? (Array.isArray(value) ? (value as readonly PromptPart[]) : [value as PromptPart]);
  const said = whole?.description ?? description;
  return { ...(said !== undefined && { description: said }), messages: parts.map(messageOf) };
}

function messageOf(part: PromptPart): PromptMessage {
  if (typeof part === "string") return { role: "user", content: text(part) };
  if (!("role" in part)) return { role: "user", content: part };
  return { role: part.role, content: typeof part.content === "string" ? text(part.content) : part.content };
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, message);
}
