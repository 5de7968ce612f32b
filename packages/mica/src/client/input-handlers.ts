/** Who answers what a server asks for (patterns/mrtr): the handlers of a client, and the capabilities they make. */
import { McpError } from "../protocol/errors.js";
import type {
  CreateMessageParams,
  CreateMessageResult,
  ElicitFormParams,
  ElicitResult,
  ElicitUrlParams,
  InputResponse,
  Root,
} from "../protocol/input-requests.js";
import { isObject } from "../protocol/jsonrpc.js";
import type { ClientCapabilities, Implementation } from "../protocol/types.js";
import { shown } from "./exchange.js";
import { fillDefaults, formProblem } from "./form-answer.js";

/** What a handler may want to know of the question it answers. */
export interface InputContext {
  /** The server's name for the question, unique within the request. */
  readonly key: string;
  /** Everything that the server asks for in this round, by key: the question itself among it. */
  readonly requests: Readonly<Record<string, unknown>>;
  /** The request that cannot go on without the answer; empty where a server of an earlier revision asks by itself. */
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Who asks, as it calls itself: show it to the person who answers. */
  readonly server: Implementation | undefined;
  /** Aborts when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

export interface InputHandlers {
  /**
   * Shows a form to a person. Called once per question, one form at a time per client: a handler must not wait
   * for a call of the same client that may show a form itself. What it throws fails the call.
   */
  onElicit?: (request: ElicitFormParams, context: InputContext) => ElicitResult | Promise<ElicitResult>;
  /** Asks a person for consent to open a URL, and opens it. Never fetch the URL; show all of it first. */
  onElicitUrl?: (request: ElicitUrlParams, context: InputContext) => ElicitResult | Promise<ElicitResult>;
  /** Asks a language model. Called in parallel. Deprecated by the specification, not by this library. */
  onSample?: (
    request: CreateMessageParams,
    context: InputContext,
  ) => CreateMessageResult | Promise<CreateMessageResult>;
  /** What `onSample` can do beyond plain text. Default: nothing. */
  sampling?: { tools?: boolean; context?: boolean };
  /** The directories that servers are told of. */
  roots?: readonly Root[] | ((context: InputContext) => readonly Root[] | Promise<readonly Root[]>);
  /** Whether fields that an accepted form leaves out get the form's defaults. Default false. */
  elicitDefaults?: boolean;
}

/** The capabilities that handlers amount to (basic, `_meta`). */
export function capabilitiesOf(handlers: InputHandlers): ClientCapabilities {
  const { onElicit, onElicitUrl, onSample, sampling, roots } = handlers;
  const capabilities: ClientCapabilities = {};
  if (onElicit || onElicitUrl) {
    capabilities.elicitation = { ...(onElicit && { form: {} }), ...(onElicitUrl && { url: {} }) };
  }
  if (onSample) {
    capabilities.sampling = {
      ...(sampling?.tools && { tools: {} }),
      ...(sampling?.context && { context: {} }),
    };
  }
  if (roots) capabilities.roots = {};
  return capabilities;
}

/** @throws TypeError naming the handler that is no function, or the root that is none. */
export function checkHandlers(handlers: InputHandlers): void {
  for (const name of ["onElicit", "onElicitUrl", "onSample"] as const) {
    const handler: unknown = handlers[name];
    if (handler !== undefined && typeof handler !== "function") {
      throw new TypeError(`options.${name}: expected a function, got ${shown(handler)}`);
    }
  }
  if (handlers.roots !== undefined && typeof handlers.roots !== "function")
    checkRoots("options.roots", handlers.roots);
}

/** How one question is answered, and whether a person does it. */
export interface Answerer {
  readonly asksPerson: boolean;
  answer(context: InputContext): Promise<InputResponse>;
}

/**
 * Finds who answers an input request.
 *
 * @throws McpError `invalid_response` where the request is malformed, `input_unavailable` where nobody answers it.
 */
export function answererFor(handlers: InputHandlers, key: string, request: unknown): Answerer {
  const method = isObject(request) ? request["method"] : undefined;
  const params = isObject(request) ? (request["params"] ?? {}) : undefined;
  if (typeof method !== "string" || !isObject(params)) {
    throw malformed(key, "a request with a method and params", request);
  }
  switch (method) {
    case "elicitation/create":
      return elicitation(handlers, key, params);
    case "sampling/createMessage":
      return sampling(handlers, key, params);
    case "roots/list":
      if (handlers.roots === undefined) throw unavailable(key, method, "options.roots");
      return {
        asksPerson: false,
        answer: async (context) => ({ roots: await listRoots(handlers.roots, context) }),
      };
    default:
      throw new McpError(
        "input_unavailable",
        `The server asks for ${shown(method)} (${shown(key)}), which this client does not know`,
      );
  }
}

function elicitation(handlers: InputHandlers, key: string, params: Record<string, unknown>): Answerer {
  const mode = params["mode"] ?? "form";
  if (typeof params["message"] !== "string") throw malformed(key, "an elicitation with a message", params);
  if (mode === "url") {
    const { onElicitUrl } = handlers;
    if (!onElicitUrl) throw unavailable(key, "elicitation/create in URL mode", "onElicitUrl");
    if (typeof params["url"] !== "string" || !URL.canParse(params["url"])) {
      throw malformed(key, "an elicitation with a valid url", params);
    }
    const request = params as unknown as ElicitUrlParams;
    // "URL mode: the content field is omitted" (client/elicitation, Response Actions).
    return {
      asksPerson: true,
      answer: async (context) => ({ action: readAction("onElicitUrl", await onElicitUrl(request, context)) }),
    };
  }
  if (mode !== "form") throw unavailable(key, `elicitation/create in mode ${shown(mode)}`);
  const { onElicit, elicitDefaults } = handlers;
  if (!onElicit) throw unavailable(key, "elicitation/create in form mode", "onElicit");
  const schema = params["requestedSchema"];
  if (!isObject(schema) || !isObject(schema["properties"])) {
    throw malformed(key, "an elicitation whose requestedSchema has properties", params);
  }
  const request = params as unknown as ElicitFormParams;
  return {
    asksPerson: true,
    answer: async (context) => {
      const result = await onElicit(request, context);
      const action = readAction("onElicit", result);
      // Content is looked at only on accept: the other actions carry none.
      if (action !== "accept") return { action };
      const given = result.content ?? {};
      const content = elicitDefaults ? fillDefaults(request.requestedSchema, given) : given;
      const problem = formProblem(request.requestedSchema, content);
      if (problem !== undefined)
        throw new TypeError(`the accepted content does not fit the form: ${problem}`);
      return { action, content };
    },
  };
}

function sampling(handlers: InputHandlers, key: string, params: Record<string, unknown>): Answerer {
  const { onSample } = handlers;
  if (!onSample) throw unavailable(key, "sampling/createMessage", "onSample");
  if (!Array.isArray(params["messages"]))
    throw malformed(key, "sampling/createMessage with messages", params);
  if ((params["tools"] ?? params["toolChoice"]) !== undefined && !handlers.sampling?.tools) {
    throw unavailable(key, "sampling/createMessage with tools", "onSample with sampling.tools");
  }
  return {
    asksPerson: false,
    answer: async (context) => {
      const result = await onSample(params as unknown as CreateMessageParams, context);
      if (isMessage(result)) return result;
      throw new TypeError(`onSample must return role, content and model, got ${shown(result)}`);
    },
  };
}

function isMessage(result: unknown): boolean {
  if (!isObject(result) || typeof result["role"] !== "string" || typeof result["model"] !== "string")
    return false;
  return isObject(result["content"]) || Array.isArray(result["content"]);
}

function readAction(handler: string, result: unknown): ElicitResult["action"] {
  const action = isObject(result) ? result["action"] : undefined;
  if (action === "accept" || action === "decline" || action === "cancel") return action;
  throw new TypeError(
    `${handler} must return an action "accept", "decline" or "cancel", got ${shown(result)}`,
  );
}

async function listRoots(roots: InputHandlers["roots"], context: InputContext): Promise<Root[]> {
  const list = typeof roots === "function" ? await roots(context) : (roots ?? []);
  checkRoots("roots", list);
  return [...list];
}

/** "This MUST be a `file://` URI in the current specification" (client/roots, Root). */
function checkRoots(what: string, roots: unknown): asserts roots is readonly Root[] {
  if (!Array.isArray(roots))
    throw new TypeError(`${what}: expected an array or a function, got ${shown(roots)}`);
  for (const [index, root] of roots.entries()) {
    const uri = isObject(root) ? root["uri"] : undefined;
    if (typeof uri === "string" && uri.startsWith("file://") && URL.canParse(uri)) continue;
    throw new TypeError(`${what}[${index}].uri: expected a file:// URI, got ${shown(uri)}`);
  }
}

function malformed(key: string, expected: string, got: unknown): McpError {
  return new McpError(
    "invalid_response",
    `inputRequests[${shown(key)}]: expected ${expected}, got ${shown(got)}`,
  );
}

function unavailable(key: string, what: string, option?: string): McpError {
  const remedy = option === undefined ? "" : `; ${option} would answer it`;
  return new McpError(
    "input_unavailable",
    `The server asks for ${what} (${shown(key)}), which this client did not declare${remedy}`,
  );
}
