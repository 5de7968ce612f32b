/** `mica-mcp/client`: writing a client. Loads a transport at first use, and a JSON Schema validator likewise. */
export type { Client, RequestOptions } from "../client/client.js";
export type { EraBranch } from "../client/era.js";
export type { EraReport } from "../client/fallback.js";
export { fieldProblem } from "../client/form-answer.js";
export type { InputContext, InputHandlers } from "../client/input-handlers.js";
export type { SubscriptionEvent } from "../client/listen-reader.js";
export type {
  LeftOut,
  ListOptions,
  ListOutcome,
  PromptListing,
  ResourceListing,
  ResourceTemplateListing,
  ToolListing,
} from "../client/lists.js";
export {
  type CachedCallOptions,
  type CallOptions,
  type ClientLimits,
  type ClientOptions,
  DEFAULT_CLIENT_LIMITS,
} from "../client/options.js";
export type { ListenOptions, Subscription } from "../client/subscriptions.js";
export type { ClientTasks } from "../client/tasks.js";
export type { ClientWarning, ClientWarningCode } from "../client/warnings.js";
export {
  type CommandTarget,
  type ConnectOptions,
  type ConnectTarget,
  connect,
  type TransportTarget,
  type UrlTarget,
} from "../connect.js";
export type { HttpClientLimits, HttpHeaders, HttpTransportOptions } from "../http/client.js";
export type { AuthChallenge, AuthorizedRequest, HttpAuth } from "../http/client-auth.js";
export { HttpStatusError } from "../http/status-error.js";
export { ErrorCode, McpError, type McpErrorCode, ProtocolError } from "../protocol/errors.js";
export type * from "../protocol/features.js";
export type * from "../protocol/input-requests.js";
export type * from "../protocol/tasks.js";
export type * from "../protocol/types.js";
export { PROTOCOL_VERSION } from "../protocol/types.js";
export type { ClientExchangeOptions, ClientTransport, MirroredHeader } from "../transport.js";
