/** THE table of rules: what `mica audit` looks at, in the order in which it looks. */
import type { Rule } from "./rule.js";
import { ANNOTATIONS } from "./rules/annotations.js";
import { AUTHORIZATION } from "./rules/authorization.js";
import { CACHING } from "./rules/caching.js";
import { CAPABILITIES } from "./rules/capabilities.js";
import { DISCLOSURE } from "./rules/disclosure.js";
import { ENVELOPE } from "./rules/envelope.js";
import { FRAMING } from "./rules/framing.js";
import { HANDSHAKE } from "./rules/handshake.js";
import { HIDDEN_TEXT } from "./rules/hidden-text.js";
import { HTTP_ARGUMENTS } from "./rules/http-arguments.js";
import { HTTP_EARLIER } from "./rules/http-earlier.js";
import { HTTP_HEADERS } from "./rules/http-headers.js";
import { HTTP_ORIGIN } from "./rules/http-origin.js";
import { HTTP_REQUESTS } from "./rules/http-requests.js";
import { MODEL_INSTRUCTIONS } from "./rules/model-instructions.js";
import { NAMES } from "./rules/names.js";
import { PAGINATION } from "./rules/pagination.js";
import { PARSING } from "./rules/parsing.js";
import { PRIMITIVES } from "./rules/primitives.js";
import { PROCESS_STATE } from "./rules/process-state.js";
import { PROMPTS } from "./rules/prompts.js";
import { REQUEST_STATE } from "./rules/request-state.js";
import { REQUESTS } from "./rules/requests.js";
import { RESOURCES } from "./rules/resources.js";
import { SCHEMA_SENSE } from "./rules/schema-sense.js";
import { SCHEMAS } from "./rules/schemas.js";
import { SHUTDOWN } from "./rules/shutdown.js";
import { STDOUT } from "./rules/stdout.js";
import { SUBSCRIBING } from "./rules/subscribing.js";
import { TOOL_RESULTS } from "./rules/tool-results.js";
import { TRAFFIC } from "./rules/traffic.js";
import { VERSIONS } from "./rules/versions.js";

export const RULES: readonly Rule[] = [
  ...STDOUT,
  ...TRAFFIC,
  ...SHUTDOWN,
  ...FRAMING,
  ...PARSING,
  ...REQUESTS,
  ...VERSIONS,
  ...HANDSHAKE,
  ...ENVELOPE,
  ...CACHING,
  ...SUBSCRIBING,
  ...HTTP_HEADERS,
  ...HTTP_ARGUMENTS,
  ...HTTP_REQUESTS,
  ...HTTP_EARLIER,
  ...HTTP_ORIGIN,
  ...AUTHORIZATION,
  ...CAPABILITIES,
  ...PAGINATION,
  ...NAMES,
  ...SCHEMAS,
  ...SCHEMA_SENSE,
  ...ANNOTATIONS,
  ...HIDDEN_TEXT,
  ...MODEL_INSTRUCTIONS,
  ...PRIMITIVES,
  ...TOOL_RESULTS,
  ...RESOURCES,
  ...PROMPTS,
  ...DISCLOSURE,
  ...REQUEST_STATE,
  ...PROCESS_STATE,
];
