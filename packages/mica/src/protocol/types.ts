/**
 * The envelope of the protocol, revision 2026-07-28: JSON-RPC messages, `_meta`, capabilities,
 * identities and caching hints. Names are the specification's own. Types only: nothing here runs.
 */

/** The revision this library speaks natively. */
export const PROTOCOL_VERSION = "2026-07-28";

/** "Requests MUST include a string or integer ID" (basic, Requests). `0` and `""` are ordinary ids. */
export type RequestId = string | number;
/** Chosen by the client, unique across its active requests (patterns/progress). */
export type ProgressToken = string | number;
/** Opaque position in a list; `""` is an ordinary cursor (server/utilities/pagination). */
export type Cursor = string;

/** Free-form `_meta`; keys follow the prefix rules of basic, `_meta`. */
export type MetaObject = Record<string, unknown>;

export interface JSONRPCRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: string;
  params?: Record<string, unknown>;
}

export interface JSONRPCNotification {
  jsonrpc: "2.0";
  method: string;
  params?: Record<string, unknown>;
}

export interface JSONRPCResultResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: Result;
}

export interface JSONRPCErrorResponse {
  jsonrpc: "2.0";
  /** Absent only where the id of the request could not be read. */
  id?: RequestId;
  error: ErrorObject;
}

export type JSONRPCResponse = JSONRPCResultResponse | JSONRPCErrorResponse;
export type JSONRPCMessage = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse;

/** The `error` member of an error response (basic, Error Responses). */
export interface ErrorObject {
  code: number;
  message: string;
  data?: unknown;
}

/** Every result names its type; an absent one means `"complete"` (basic, ResultType). */
export interface Result {
  resultType?: "complete" | "input_required" | (string & {});
  _meta?: MetaObject;
  [key: string]: unknown;
}

/** Caching hints, required on cacheable results (server/utilities/caching). */
export interface CacheHints {
  /** Milliseconds for which the result may be considered fresh; 0 means stale at once. */
  ttlMs: number;
  /** `public` results may be served to anyone; `private` ones only within one authorization context. */
  cacheScope: "public" | "private";
}

export interface PaginatedResult extends Result {
  nextCursor?: Cursor;
}

/** An image for a user interface (basic, `icons`). */
export interface Icon {
  /** An `https:` or `data:` URI. */
  src: string;
  mimeType?: string;
  /** `"48x48"` and the like, or `"any"` for scalable formats. */
  sizes?: string[];
  theme?: "light" | "dark";
}

/** Name and version of a client or server. Self-reported: for display, never for decisions. */
export interface Implementation {
  name: string;
  version: string;
  title?: string;
  description?: string;
  websiteUrl?: string;
  icons?: Icon[];
}

export type JSONObject = Record<string, unknown>;

/** What a client can do, declared on every request (basic, per-request protocol fields). */
export interface ClientCapabilities {
  experimental?: Record<string, JSONObject>;
  roots?: JSONObject;
  sampling?: { context?: JSONObject; tools?: JSONObject };
  elicitation?: { form?: JSONObject; url?: JSONObject };
  extensions?: Record<string, JSONObject>;
  [key: string]: unknown;
}

/** What a server offers, declared in the result of `server/discover`. */
export interface ServerCapabilities {
  experimental?: Record<string, JSONObject>;
  logging?: JSONObject;
  completions?: JSONObject;
  prompts?: { listChanged?: boolean };
  resources?: { subscribe?: boolean; listChanged?: boolean };
  tools?: { listChanged?: boolean };
  extensions?: Record<string, JSONObject>;
  [key: string]: unknown;
}

/** Severities of RFC 5424, least to most severe (server/utilities/logging). */
export type LoggingLevel =
  | "debug"
  | "info"
  | "notice"
  | "warning"
  | "error"
  | "critical"
  | "alert"
  | "emergency";

export type Role = "user" | "assistant";

/** Hints on how to use or show something (server/resources, Annotations). */
export interface Annotations {
  audience?: Role[];
  /** 0 (entirely optional) to 1 (effectively required). */
  priority?: number;
  /** ISO 8601. */
  lastModified?: string;
}

/** Result of `server/discover`. */
export interface DiscoverResult extends Result, CacheHints {
  supportedVersions: string[];
  capabilities: ServerCapabilities;
  instructions?: string;
}
