/** `mica-mcp`: writing a server. Loads no third-party package. */
export type { ChangeBus, ChangeEvent } from "../bus/bus.js";
export { memoryBus } from "../bus/memory.js";
export {
  audio,
  content,
  embedded,
  image,
  resourceLink,
  type ToolOutput,
  type ToolOutputOptions,
  text,
} from "../protocol/content.js";
export { ErrorCode, ProtocolError, ToolError } from "../protocol/errors.js";
export type * from "../protocol/features.js";
export type * from "../protocol/input-requests.js";
export type * from "../protocol/types.js";
export { PROTOCOL_VERSION } from "../protocol/types.js";
export type { InferInput, InferOutput, Schema, StandardSchema } from "../schema/standard.js";
export type { InputContext } from "../server/asking-context.js";
export type { Registration } from "../server/catalogue.js";
export type { Completer, CompletionContext } from "../server/completion.js";
export type { HandlerContext } from "../server/context.js";
export type {
  ExtensionHost,
  ExtensionParts,
  Listening,
  ListenPart,
  ServerExtension,
} from "../server/extension.js";
export type { OnError } from "../server/failure.js";
export {
  DEFAULT_CACHE_HINTS,
  DEFAULT_LIMITS,
  type ServerCacheHints,
  type ServerLimits,
} from "../server/limits.js";
export type { ServerOptions } from "../server/options.js";
export type { PromptDefinition, PromptHandler, PromptPart, PromptReturn } from "../server/prompts.js";
export type { Answers, AnyQuestion, ElicitAnswer, UrlAnswer } from "../server/questions.js";
export { type ContentsItem, contents, type ResourceOutput } from "../server/resource-contents.js";
export type {
  ResourceDefinition,
  ResourceReader,
  ResourceTemplateDefinition,
  TemplateReader,
} from "../server/resources.js";
export type { StepInfo } from "../server/round.js";
export type { TaskOptions } from "../server/run-tool.js";
export { DEFAULT_STATE_OPTIONS, type StateOptions } from "../server/sealed-state.js";
export { createServer, type Server } from "../server/server.js";
export type { ToolArguments, ToolDefinition, ToolHandler, ToolReturn } from "../server/tools.js";
export {
  parseUriTemplate,
  type TemplateValues,
  type TemplateVariables,
  type UriTemplate,
} from "../server/uri-template.js";
export type { AuthInfo, MirroredHeader, RequestHandler, ServerExchange } from "../transport.js";
