/** The schemas of the earlier revisions as a check: whatever Mica sends to a client of one must fit it. */
import { readFileSync } from "node:fs";
import { Ajv, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

export const VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const;
export type Version = (typeof VERSIONS)[number];

type Message = Record<string, unknown>;

interface Schema {
  readonly place: string;
  readonly names: ReadonlySet<string>;
  readonly ajv: Ajv;
  readonly compiled: Map<string, ValidateFunction>;
}

const schemas = new Map<Version, Schema>();

function schemaOf(version: Version): Schema {
  let schema = schemas.get(version);
  if (schema === undefined) {
    const file = new URL(`../fixtures/spec-${version}/schema.json`, import.meta.url);
    const whole = JSON.parse(readFileSync(file, "utf8")) as Message;
    const place = "$defs" in whole ? "$defs" : "definitions";
    const options = { strict: false, allErrors: true };
    const ajv = place === "$defs" ? new Ajv2020(options) : new Ajv(options);
    addFormats.default(ajv);
    ajv.addSchema(whole, "spec");
    schema = { place, names: new Set(Object.keys(whole[place] as Message)), ajv, compiled: new Map() };
    schemas.set(version, schema);
  }
  return schema;
}

/** @throws Error saying what is wrong with a value, by a definition of the schema of that revision. */
export function assertValid(version: Version, definition: string, value: unknown): void {
  const { place, names, ajv, compiled } = schemaOf(version);
  if (!names.has(definition)) throw new Error(`${version} has no ${definition}: ${JSON.stringify(value)}`);
  let validate = compiled.get(definition);
  if (validate === undefined) {
    validate = ajv.compile({ $ref: `spec#/${place}/${definition}` });
    compiled.set(definition, validate);
  }
  if (validate(value)) return;
  const why = ajv.errorsText(validate.errors, { dataVar: definition });
  throw new Error(`not a valid ${definition} of ${version}: ${why}\n${JSON.stringify(value)}`);
}

const SERVER_REQUESTS: Record<string, string> = {
  ping: "PingRequest",
  "sampling/createMessage": "CreateMessageRequest",
  "elicitation/create": "ElicitRequest",
  "roots/list": "ListRootsRequest",
};

const SERVER_NOTIFICATIONS: Record<string, string> = {
  "notifications/cancelled": "CancelledNotification",
  "notifications/progress": "ProgressNotification",
  "notifications/message": "LoggingMessageNotification",
  "notifications/tools/list_changed": "ToolListChangedNotification",
  "notifications/prompts/list_changed": "PromptListChangedNotification",
  "notifications/resources/list_changed": "ResourceListChangedNotification",
  "notifications/resources/updated": "ResourceUpdatedNotification",
};

const RESULTS: Record<string, string> = {
  initialize: "InitializeResult",
  ping: "EmptyResult",
  "logging/setLevel": "EmptyResult",
  "resources/subscribe": "EmptyResult",
  "resources/unsubscribe": "EmptyResult",
  "tools/list": "ListToolsResult",
  "tools/call": "CallToolResult",
  "resources/list": "ListResourcesResult",
  "resources/templates/list": "ListResourceTemplatesResult",
  "resources/read": "ReadResourceResult",
  "prompts/list": "ListPromptsResult",
  "prompts/get": "GetPromptResult",
  "completion/complete": "CompleteResult",
};

/**
 * Checks one message of the server.
 *
 * @param method that of the request which it answers, where it is a response
 * @throws Error where it does not fit, or is of a kind that the revision does not know.
 */
export function assertFits(version: Version, message: Message, method?: string): void {
  const isNewest = version === "2025-11-25";
  if ("error" in message) {
    assertValid(version, isNewest ? "JSONRPCErrorResponse" : "JSONRPCError", message);
    return;
  }
  if ("result" in message) {
    assertValid(version, isNewest ? "JSONRPCResultResponse" : "JSONRPCResponse", message);
    const definition = RESULTS[method ?? ""];
    if (definition === undefined) throw new Error(`nothing is known of results of ${method}`);
    assertValid(version, definition, message["result"]);
    assertPlain(message["result"] as Message);
    return;
  }
  const name = String(message["method"]);
  const definition = "id" in message ? SERVER_REQUESTS[name] : SERVER_NOTIFICATIONS[name];
  if (definition === undefined) throw new Error(`a server does not send ${name}`);
  assertValid(version, definition, message);
}

/** Nothing of the current revision may be left, although the earlier schemas would let it pass. */
function assertPlain(result: Message): void {
  const meta = Object.keys((result["_meta"] ?? {}) as Message);
  const left = [...Object.keys(result), ...meta].filter(
    (key) =>
      ["resultType", "ttlMs", "cacheScope"].includes(key) || key.startsWith("io.modelcontextprotocol/"),
  );
  if (left.length > 0) throw new Error(`left over from the current revision: ${left.join(", ")}`);
}
