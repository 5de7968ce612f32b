/**
 * The schema of the specification as a check: what Mica sends in a test must fit it. `checkedServer` and
 * `checkedTransport` stand around the two seams and look at every message that passes.
 */
import { readdirSync, readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { onTestFinished } from "vitest";
import { encodeMessage, isErrorResponse } from "../../src/protocol/jsonrpc.js";
import type {
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
} from "../../src/protocol/types.js";
import type { ClientTransport, RequestHandler, ServerExchange } from "../../src/transport.js";

const SPEC = new URL("../fixtures/spec-2026-07-28/", import.meta.url);

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
const specSchema = JSON.parse(readFileSync(new URL("schema.json", SPEC), "utf8")) as {
  $defs: Record<string, unknown>;
};
ajv.addSchema(specSchema, "spec");

/** Names of all definitions of the schema. */
export const definitions: readonly string[] = Object.keys(specSchema.$defs);

const validators = new Map<string, ValidateFunction>();

/** What is wrong with a value, by a definition of the schema such as `CallToolResult`; undefined where nothing is. */
export function problemOf(definition: string, value: unknown): string | undefined {
  let validate = validators.get(definition);
  if (validate === undefined) {
    if (!definitions.includes(definition)) throw new TypeError(`the schema defines no ${definition}`);
    validate = ajv.compile({ $ref: `spec#/$defs/${definition}` });
    validators.set(definition, validate);
  }
  if (validate(value)) return undefined;
  const text = JSON.stringify(value);
  const shown = text.length > 2_000 ? `${text.slice(0, 2_000)}...` : text;
  return `not a valid ${definition}: ${ajv.errorsText(validate.errors, { dataVar: definition })}\n${shown}`;
}

/** @throws Error saying what is wrong. */
export function assertValid(definition: string, value: unknown): void {
  const problem = problemOf(definition, value);
  if (problem !== undefined) throw new Error(problem);
}

const REQUESTS = new Map([
  ["server/discover", "DiscoverRequest"],
  ["tools/list", "ListToolsRequest"],
  ["tools/call", "CallToolRequest"],
  ["resources/list", "ListResourcesRequest"],
  ["resources/templates/list", "ListResourceTemplatesRequest"],
  ["resources/read", "ReadResourceRequest"],
  ["prompts/list", "ListPromptsRequest"],
  ["prompts/get", "GetPromptRequest"],
  ["completion/complete", "CompleteRequest"],
  ["subscriptions/listen", "SubscriptionsListenRequest"],
]);

const NOTIFICATIONS = new Map([
  ["notifications/cancelled", "CancelledNotification"],
  ["notifications/progress", "ProgressNotification"],
  ["notifications/message", "LoggingMessageNotification"],
  ["notifications/tools/list_changed", "ToolListChangedNotification"],
  ["notifications/prompts/list_changed", "PromptListChangedNotification"],
  ["notifications/resources/list_changed", "ResourceListChangedNotification"],
  ["notifications/resources/updated", "ResourceUpdatedNotification"],
  ["notifications/subscriptions/acknowledged", "SubscriptionsAcknowledgedNotification"],
]);

/** Errors of which the schema says more than that they are errors. */
const ERRORS = new Map([
  [-32020, "HeaderMismatchError"],
  [-32021, "MissingRequiredClientCapabilityError"],
  [-32022, "UnsupportedProtocolVersionError"],
]);

/** @throws Error where a request does not fit the schema. A method that the schema does not know is only a request. */
export function assertValidRequest(request: JSONRPCRequest): void {
  assertValid("JSONRPCRequest", request);
  const definition = REQUESTS.get(request.method);
  if (definition !== undefined) assertValid(definition, request);
}

/** @throws Error where a notification does not fit the schema, or is none that the schema knows. */
export function assertValidNotification(notification: JSONRPCNotification): void {
  const definition = NOTIFICATIONS.get(notification.method);
  if (definition === undefined) throw new Error(`the schema knows no notification ${notification.method}`);
  assertValid(definition, notification);
}

/** @throws Error where a response does not fit the schema, as the answer to a request of this method. */
export function assertValidResponse(method: string, response: JSONRPCResponse): void {
  if (isErrorResponse(response)) {
    assertValid("JSONRPCErrorResponse", response);
    const definition = ERRORS.get(response.error.code);
    if (definition !== undefined) assertValid(definition, response);
    return;
  }
  assertValid("JSONRPCResultResponse", response);
  assertValid(resultDefinition(method, response.result.resultType), response.result);
}

/** `tools/call` as `CallToolResult`; a result that asks for input is `InputRequiredResult` whatever the method. */
export function resultDefinition(method: string, resultType?: unknown): string {
  if (resultType === "input_required") return "InputRequiredResult";
  const definition = REQUESTS.get(method);
  if (definition === undefined) throw new Error(`the schema knows no result of ${method}`);
  return definition.replace(/Request$/, "Result");
}

/**
 * The same server, with everything it sends checked. What does not fit fails the request, and the test.
 *
 * @example const server = checkedServer(createServer({ name: "test", version: "1.0.0" }));
 */
export function checkedServer<T extends RequestHandler>(server: T): T {
  const problems: Error[] = [];
  const look = (check: () => void) => {
    try {
      check();
    } catch (error) {
      problems.push(error as Error);
    }
  };
  onTestFinished(() => {
    if (problems.length) throw problems[0];
  });
  return {
    ...server,
    async handle(request: JSONRPCRequest, exchange: ServerExchange) {
      const response = await server.handle(request, {
        get signal() {
          return exchange.signal;
        },
        auth: exchange.auth,
        notify(notification) {
          const sent = overTheWire(notification);
          if (sent !== undefined) look(() => assertValidNotification(sent));
          exchange.notify(notification);
        },
      });
      const sent = overTheWire(response);
      if (sent !== undefined) look(() => assertValidResponse(request.method, sent));
      if (problems.length) throw problems[0];
      return response;
    },
  };
}

/**
 * The same transport, with every request that goes through it checked.
 *
 * @example const client = await connect({ transport: checkedTransport(memoryTransport(server)) }, ...);
 */
export function checkedTransport<T extends ClientTransport>(transport: T): T {
  return Object.create(transport, {
    exchange: {
      value: async (...[request, options]: Parameters<ClientTransport["exchange"]>) => {
        assertValidRequest(overTheWire(request) ?? request);
        return transport.exchange(request, options);
      },
    },
  }) as T;
}

/** As the other side reads it; undefined where it has no JSON, which is the binding's matter. */
function overTheWire<T extends JSONRPCMessage>(message: T): T | undefined {
  let text: string;
  try {
    text = encodeMessage(message);
  } catch {
    return undefined;
  }
  return JSON.parse(text) as T;
}

export interface Example {
  /** The definition that the example is of. */
  readonly definition: string;
  readonly file: string;
  readonly text: string;
}

/** Every example of the specification. */
export function readExamples(): Example[] {
  const root = new URL("examples/", SPEC);
  return readdirSync(root).flatMap((definition) =>
    readdirSync(new URL(`${definition}/`, root)).map((file) => ({
      definition,
      file,
      text: readFileSync(new URL(`${definition}/${file}`, root), "utf8"),
    })),
  );
}
