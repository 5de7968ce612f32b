/**
 * Shapes of multi round-trip requests (patterns/mrtr): what a server may ask a client for in an
 * `input_required` result, and what the client answers. Revision 2026-07-28.
 */
import type { AudioContent, ContentBlock, ImageContent, JsonSchema, TextContent, Tool } from "./features.js";
import type { JSONObject, MetaObject, Result, Role } from "./types.js";

export type InputRequest = ElicitRequest | CreateMessageRequest | ListRootsRequest;
export type InputResponse = ElicitResult | CreateMessageResult | ListRootsResult;
/** Keys are chosen by the server, unique within the request. */
export type InputRequests = Record<string, InputRequest>;
export type InputResponses = Record<string, InputResponse>;

export interface InputRequiredResult extends Result {
  resultType: "input_required";
  inputRequests?: InputRequests;
  /** Opaque to the client, echoed byte for byte. */
  requestState?: string;
}

// Elicitation (client/elicitation)

export interface ElicitRequest {
  method: "elicitation/create";
  params: ElicitFormParams | ElicitUrlParams;
}

export interface ElicitFormParams {
  mode?: "form";
  message: string;
  requestedSchema: ElicitationSchema;
}

export interface ElicitUrlParams {
  mode: "url";
  message: string;
  url: string;
}

/** The restricted form: a flat object of primitives and enumerations. */
export interface ElicitationSchema {
  $schema?: string;
  type: "object";
  properties: Record<string, ElicitationField>;
  required?: string[];
}

export type ElicitationField = JsonSchema & { type: "string" | "number" | "integer" | "boolean" | "array" };

export interface ElicitResult {
  action: "accept" | "decline" | "cancel";
  /** Present only when a form was accepted. A field that is undefined is left out. */
  content?: Record<string, string | number | boolean | string[] | undefined> | null;
  [key: string]: unknown;
}

// Sampling (client/sampling; deprecated by SEP-2577)

export interface CreateMessageRequest {
  method: "sampling/createMessage";
  params: CreateMessageParams;
}

export interface CreateMessageParams {
  messages: SamplingMessage[];
  maxTokens: number;
  modelPreferences?: {
    hints?: { name?: string }[];
    costPriority?: number;
    speedPriority?: number;
    intelligencePriority?: number;
  };
  systemPrompt?: string;
  includeContext?: "none" | "thisServer" | "allServers";
  temperature?: number;
  stopSequences?: string[];
  metadata?: JSONObject;
  tools?: Tool[];
  toolChoice?: { mode?: "auto" | "required" | "none" };
}

export interface SamplingMessage {
  role: Role;
  content: SamplingContent | SamplingContent[];
  _meta?: MetaObject;
}

export type SamplingContent = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent;

export interface ToolUseContent {
  type: "tool_use";
  id: string;
  name: string;
  input: Record<string, unknown>;
  _meta?: MetaObject;
}

export interface ToolResultContent {
  type: "tool_result";
  toolUseId: string;
  content: ContentBlock[];
  structuredContent?: unknown;
  isError?: boolean;
  _meta?: MetaObject;
}

export interface CreateMessageResult extends SamplingMessage {
  model: string;
  stopReason?: "endTurn" | "stopSequence" | "maxTokens" | "toolUse" | (string & {});
  [key: string]: unknown;
}

// Roots (client/roots; deprecated by SEP-2577)

export interface ListRootsRequest {
  method: "roots/list";
  params?: { _meta?: MetaObject };
}

export interface ListRootsResult {
  roots: Root[];
  [key: string]: unknown;
}

export interface Root {
  /** Begins with `file://`. */
  uri: string;
  name?: string;
  _meta?: MetaObject;
}
