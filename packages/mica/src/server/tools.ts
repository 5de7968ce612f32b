/** Tools: registration, `tools/list` and `tools/call` (server/tools). */
import type { ToolOutput } from "../protocol/content.js";
import { ErrorCode, ProtocolError, ToolError } from "../protocol/errors.js";
import type {
  CallToolResult,
  JsonSchema,
  ListToolsResult,
  Tool,
  ToolAnnotations,
} from "../protocol/features.js";
import { isObject } from "../protocol/jsonrpc.js";
import { checkScopes } from "../protocol/scopes.js";
import type { CacheHints, Icon, MetaObject } from "../protocol/types.js";
import { advertise } from "../schema/advertise.js";
import { type HeaderParam, headerParams, readPath } from "../schema/header-params.js";
import type { InferInput, InferOutput, Schema } from "../schema/standard.js";
import { createValidator, type Validate, type Validation } from "../schema/validate.js";
import type { MirroredHeader } from "../transport.js";
import type { AskingContext, InputContext } from "./asking-context.js";
import type { Background } from "./background.js";
import { type Catalogue, createCatalogue, type Registration } from "./catalogue.js";
import { checkKeys } from "./definition.js";
import { concealed, type OnError } from "./failure.js";
import type { TaskOptions, ToolTask } from "./run-tool.js";
import { failed, invalidArguments, render } from "./tool-results.js";

/** What an author says of a tool. Everything but the scopes is advertised as it stands, and nothing else is. */
export interface ToolDefinition<Input extends Schema | undefined, Output extends Schema | undefined> {
  title?: string;
  /** Read by the model to decide when to call. */
  description?: string;
  /** Of an object. Without it the tool takes no arguments. */
  input?: Input;
  /** Opt-in: results are then checked and also sent as `structuredContent`. */
  output?: Output;
  annotations?: ToolAnnotations;
  icons?: Icon[];
  /**
   * Whether calls are answered with a task, to be asked about later: for what takes minutes or days. Needs the
   * extension of `mica-mcp/tasks`. Short for `{ support }`.
   */
  task?: TaskOptions["support"] | TaskOptions;
  /** What callers must hold, all of it, where the transport authenticates them (authorization). */
  scopes?: readonly string[];
  _meta?: MetaObject;
}

export type ToolArguments<Input> = Input extends Schema ? InferOutput<Input> : Record<string, never>;
export type ToolReturn<Output> = Output extends Schema ? InferInput<Output> | ToolOutput : unknown;

/**
 * Called once per call (once per round where it asks for input). Return a string for text, any other value for
 * compact JSON, or `content(...)`; throw `ToolError` to tell the model what went wrong.
 */
export type ToolHandler<Input, Output> = (
  args: ToolArguments<Input>,
  ctx: InputContext,
) => ToolReturn<Output> | Promise<ToolReturn<Output>>;

interface RegisteredTool {
  readonly name: string;
  readonly tool: Tool;
  readonly scopes: readonly string[];
  readonly task: ToolTask | undefined;
  readonly validateInput: Validate;
  readonly validateOutput: Validate | undefined;
  readonly headers: readonly HeaderParam[];
  readonly handler: (args: never, ctx: InputContext) => unknown;
}

export interface Tools {
  add<Input extends Schema | undefined, Output extends Schema | undefined>(
    name: string,
    definition: ToolDefinition<Input, Output>,
    handler: ToolHandler<Input, Output>,
  ): Registration;
  readonly catalogue: Catalogue<RegisteredTool>;
  /** Looks a tool up and checks the shape of a call. @throws ProtocolError -32602 */
  find(params: Record<string, unknown>): RegisteredTool;
  /** A promise only where something had to be waited for. */
  call(
    tool: RegisteredTool,
    params: Record<string, unknown>,
    ctx: AskingContext,
  ): CallToolResult | Promise<CallToolResult>;
  mirroredHeaders(params: Record<string, unknown> | undefined): readonly MirroredHeader[];
}

const KEYS = ["title", "description", "input", "output", "annotations", "icons", "scopes", "task", "_meta"];
const NO_HEADERS: readonly MirroredHeader[] = [];
const NO_ARGUMENTS: JsonSchema = { type: "object", additionalProperties: false };

export function createTools(
  pageSize: number,
  hints: CacheHints,
  onChange: () => void,
  onError: OnError,
  background: () => Background | undefined,
): Tools {
  const catalogue = createCatalogue<RegisteredTool>(
    "tool",
    pageSize,
    (entries): ListToolsResult => ({ tools: entries.map(({ tool }) => tool), ...hints }),
    onChange,
  );

  /** @throws what is no failure of the tool */
  function failureOf(error: unknown, name: string, ctx: AskingContext): CallToolResult {
    // A round that has to end is no failure; whatever the handler made of the signal is void.
    if (ctx.isWaiting || error instanceof ProtocolError) throw error;
    if (error instanceof ToolError) return failed(error.message);
    return failed(concealed(error, `Tool ${JSON.stringify(name)}`, onError, ctx));
  }

  return {
    catalogue,
    add(name, definition, handler) {
      const registered = register(name, definition, handler);
      if (registered.task !== undefined) checkTask(registered.task, name, background());
      return catalogue.add(name, registered);
    },
    find(params) {
      const name = params["name"];
      if (typeof name !== "string")
        throw new ProtocolError(ErrorCode.InvalidParams, "params.name must be a string");
      const found = catalogue.get(name);
      if (found === undefined) throw new ProtocolError(ErrorCode.InvalidParams, `Unknown tool: ${name}`);
      const args = params["arguments"];
      if (args !== undefined && !isObject(args)) {
        throw new ProtocolError(ErrorCode.InvalidParams, "params.arguments must be an object");
      }
      return found;
    },
    call(registered, params, ctx) {
      const onFailure = (error: unknown) => failureOf(error, registered.name, ctx);
      try {
        const validation = registered.validateInput(params["arguments"] ?? {});
        const result =
          validation instanceof Promise
            ? validation.then((found) => perform(registered, found, ctx))
            : perform(registered, validation, ctx);
        return result instanceof Promise ? result.catch(onFailure) : result;
      } catch (error) {
        return onFailure(error);
      }
    },
    mirroredHeaders(params) {
      const name = params?.["name"];
      const headers = typeof name === "string" ? catalogue.get(name)?.headers : undefined;
      if (headers === undefined || headers.length === 0) return NO_HEADERS;
      const args = params?.["arguments"];
      return headers.map(({ header, path, type }) => ({ header, type, value: readPath(args, path) }));
    },
  };
}

/** Has the handler called, once the arguments are known to fit, and its value rendered. */
function perform(
  tool: RegisteredTool,
  validation: Validation,
  ctx: AskingContext,
): CallToolResult | Promise<CallToolResult> {
  if (validation.problems !== undefined) return invalidArguments(tool.name, validation.problems);
  const value = tool.handler(validation.value as never, ctx);
  return isThenable(value) ? Promise.resolve(value).then((late) => render(tool, late)) : render(tool, value);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function"
  );
}

function register<Input extends Schema | undefined, Output extends Schema | undefined>(
  name: string,
  definition: ToolDefinition<Input, Output>,
  handler: ToolHandler<Input, Output>,
): RegisteredTool {
  const what = `tool ${JSON.stringify(name)}`;
  if (typeof name !== "string" || !/^[A-Za-z0-9_.-]{1,128}$/.test(name)) {
    throw new TypeError(
      `${what}: a name is 1 to 128 of the characters A-Z a-z 0-9 _ - . (server/tools, Tool Names)`,
    );
  }
  if (typeof handler !== "function")
    throw new TypeError(`${what}: handler must be a function, got ${typeof handler}`);
  checkKeys(definition, KEYS, what);
  const { input, output, title, description, annotations, icons, _meta } = definition;
  const inputSchema =
    input === undefined ? NO_ARGUMENTS : objectSchema(advertise(input, "input", `${what} input`), what);
  const scanned = headerParams(inputSchema);
  if (scanned.problem !== undefined) throw new TypeError(`${what}: ${scanned.problem}`);
  const tool: Tool = { name, inputSchema };
  if (title !== undefined) tool.title = title;
  if (description !== undefined) tool.description = description;
  if (output !== undefined) tool.outputSchema = advertise(output, "output", `${what} output`);
  if (annotations !== undefined) tool.annotations = annotations;
  if (icons !== undefined) tool.icons = icons;
  if (_meta !== undefined) tool._meta = _meta;
  return {
    name,
    tool,
    scopes: checkScopes(definition.scopes ?? [], `${what}: scopes`),
    task: definition.task === undefined ? undefined : readTask(definition.task, `${what}: task`),
    validateInput: input === undefined ? validateNoArguments : createValidator(input),
    validateOutput: output === undefined ? undefined : createValidator(output),
    headers: scanned.params,
    handler: handler as RegisteredTool["handler"],
  };
}

function checkTask(task: ToolTask, name: string, background: Background | undefined): void {
  const what = `tool ${JSON.stringify(name)}: task`;
  if (background === undefined) {
    throw new TypeError(`${what} needs createServer({ extensions: [tasks()] }), of mica-mcp/tasks`);
  }
  background.check(task, what);
}

/** Times are the extension's to check. */
function readTask(given: TaskOptions["support"] | TaskOptions, what: string): ToolTask {
  const task = typeof given === "string" ? { support: given } : given;
  checkKeys(task, ["support", "begins", "ttlMs", "pollIntervalMs"], what);
  const { support, begins = "call" } = task;
  if (support !== "optional" && support !== "required") {
    throw new TypeError(`${what}: expected "optional" or "required", got ${JSON.stringify(support)}`);
  }
  if (begins !== "call" && begins !== "handler") {
    throw new TypeError(`${what}: begins must be "call" or "handler", got ${JSON.stringify(begins)}`);
  }
  return { ...task, begins };
}

/** "`type: "object"` is required at the root" of an input schema; a union of objects may leave it out. */
function objectSchema(schema: JsonSchema, what: string): JsonSchema {
  if (schema["type"] === "object") return schema;
  if (
    schema["type"] === undefined &&
    (schema["anyOf"] || schema["oneOf"] || schema["allOf"] || schema["$ref"])
  ) {
    return { type: "object", ...schema };
  }
  throw new TypeError(
    `${what} input: the schema must describe an object, got type ${JSON.stringify(schema["type"])}`,
  );
}

const validateNoArguments: Validate = (value) => {
  const names = Object.keys(value as object);
  return names.length === 0
    ? { value }
    : { problems: names.map((path) => ({ path, message: "this tool takes no arguments" })) };
};
