/** Shapes of the server features (tools, resources, prompts, completion, subscriptions), revision 2026-07-28. */
import type {
  Annotations,
  CacheHints,
  Icon,
  LoggingLevel,
  MetaObject,
  PaginatedResult,
  ProgressToken,
  Result,
  Role,
} from "./types.js";

// Content (server/tools, Tool Result)

export interface TextContent {
  type: "text";
  text: string;
  annotations?: Annotations;
  _meta?: MetaObject;
}

export interface ImageContent {
  type: "image";
  /** Base64. */
  data: string;
  mimeType: string;
  annotations?: Annotations;
  _meta?: MetaObject;
}

export interface AudioContent {
  type: "audio";
  /** Base64. */
  data: string;
  mimeType: string;
  annotations?: Annotations;
  _meta?: MetaObject;
}

export interface ResourceLink extends Resource {
  type: "resource_link";
}

export interface EmbeddedResource {
  type: "resource";
  resource: ResourceContents;
  annotations?: Annotations;
  _meta?: MetaObject;
}

export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;

// Tools (server/tools)

/** A JSON Schema object; 2020-12 unless `$schema` says otherwise (basic, JSON Schema Usage). */
export type JsonSchema = Record<string, unknown>;

/** Hints only: untrusted unless the server is trusted. */
export interface ToolAnnotations {
  title?: string;
  /** Default false. */
  readOnlyHint?: boolean;
  /** Default true; meaningful only for tools that are not read-only. */
  destructiveHint?: boolean;
  /** Default false; meaningful only for tools that are not read-only. */
  idempotentHint?: boolean;
  /** Default true. */
  openWorldHint?: boolean;
}

export interface Tool {
  name: string;
  title?: string;
  description?: string;
  icons?: Icon[];
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  annotations?: ToolAnnotations;
  _meta?: MetaObject;
}

export interface ListToolsResult extends PaginatedResult, CacheHints {
  tools: Tool[];
}

export interface CallToolResult extends Result {
  content: ContentBlock[];
  structuredContent?: unknown;
  isError?: boolean;
}

// Resources (server/resources)

export interface Resource {
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  icons?: Icon[];
  annotations?: Annotations;
  /** Bytes of the raw content. */
  size?: number;
  _meta?: MetaObject;
}

export interface ResourceTemplate {
  /** RFC 6570. */
  uriTemplate: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  icons?: Icon[];
  annotations?: Annotations;
  _meta?: MetaObject;
}

export interface TextResourceContents {
  uri: string;
  mimeType?: string;
  text: string;
  _meta?: MetaObject;
}

export interface BlobResourceContents {
  uri: string;
  mimeType?: string;
  /** Base64. */
  blob: string;
  _meta?: MetaObject;
}

export type ResourceContents = TextResourceContents | BlobResourceContents;

export interface ListResourcesResult extends PaginatedResult, CacheHints {
  resources: Resource[];
}

export interface ListResourceTemplatesResult extends PaginatedResult, CacheHints {
  resourceTemplates: ResourceTemplate[];
}

export interface ReadResourceResult extends Result, CacheHints {
  contents: ResourceContents[];
}

// Prompts (server/prompts)

export interface PromptArgument {
  name: string;
  title?: string;
  description?: string;
  required?: boolean;
}

export interface Prompt {
  name: string;
  title?: string;
  description?: string;
  icons?: Icon[];
  arguments?: PromptArgument[];
  _meta?: MetaObject;
}

export interface PromptMessage {
  role: Role;
  content: ContentBlock;
}

export interface ListPromptsResult extends PaginatedResult, CacheHints {
  prompts: Prompt[];
}

export interface GetPromptResult extends Result {
  description?: string;
  messages: PromptMessage[];
}

// Completion (server/utilities/completion)

export type CompletionReference =
  | { type: "ref/prompt"; name: string; title?: string }
  | { type: "ref/resource"; uri: string };

export interface CompleteResult extends Result {
  completion: {
    /** At most 100, best first. */
    values: string[];
    total?: number;
    hasMore?: boolean;
  };
}

// Notifications

/** What a subscription asks for (patterns/subscriptions, Notification Filter). */
export interface SubscriptionFilter {
  toolsListChanged?: boolean;
  promptsListChanged?: boolean;
  resourcesListChanged?: boolean;
  /** URIs to receive `notifications/resources/updated` for. */
  resourceSubscriptions?: string[];
  /** Tasks to receive `notifications/tasks` for (SEP-2663, Task Status Notifications). */
  taskIds?: string[];
}

export interface ProgressParams {
  progressToken: ProgressToken;
  progress: number;
  total?: number;
  message?: string;
}

export interface LoggingMessageParams {
  level: LoggingLevel;
  logger?: string;
  data: unknown;
}
