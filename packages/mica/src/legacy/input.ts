/**
 * Answers to `input_required` from a client that is asked directly (2025-11-25, client/*): each input request becomes
 * a request of the server, and its result an input response (patterns/mrtr).
 */
import { ErrorCode, missingCapability, ProtocolError } from "../protocol/errors.js";
import type { ElicitationSchema, ElicitFormParams } from "../protocol/input-requests.js";
import { isErrorResponse, isObject } from "../protocol/jsonrpc.js";
import type { ClientCapabilities, ErrorObject, JSONRPCMessage, Result } from "../protocol/types.js";
import { type Asked, type Asking, NoAnswer } from "./asking.js";
import { samplingMessagesFor } from "./content.js";
import { basicForm } from "./forms.js";
import { toolFor } from "./results.js";
import type { Revision } from "./versions.js";

/** What is known of the client that is asked. */
export interface Asker {
  readonly asking: Asking;
  readonly revision: Revision;
  readonly capabilities: ClientCapabilities;
  send(message: JSONRPCMessage): void;
  /** Told of answers that the handler does not get to see. */
  onNote(text: string): void;
}

/** The questions of one round. */
export interface Round {
  /**
   * By the keys of the input requests. Rejects with a ProtocolError where one of them cannot be asked or was answered
   * with an error; the others are then taken back.
   */
  readonly responses: Promise<Record<string, unknown>>;
  withdraw(reason: string): void;
}

interface Question {
  readonly method: string;
  readonly params: Record<string, unknown> | undefined;
  /** The input response for a result. */
  read(result: Result): unknown;
  /** The input response where there is no result; without it the caller sees an error. */
  readonly otherwise?: unknown;
}

/** Asks everything at once. @throws ProtocolError where a question cannot be put to this client. */
export function askRound(inputRequests: unknown, asker: Asker): Round {
  const questions = Object.entries(isObject(inputRequests) ? inputRequests : {}).map(
    ([key, request]): [string, Question] => [key, questionFor(key, request, asker)],
  );
  const asked: Asked[] = [];
  const withdraw = (reason: string): void => {
    for (const { withdraw } of asked) withdraw(reason);
  };
  const answers = questions.map(async ([key, question]): Promise<[string, unknown]> => {
    const one = asker.asking.ask(question.method, question.params, asker.send);
    asked.push(one);
    return [key, await readAnswer(question, one, asker)];
  });
  const responses = Promise.all(answers).then(Object.fromEntries, (error: unknown) => {
    withdraw("Another question of the same request was not answered");
    throw error;
  }) as Promise<Record<string, unknown>>;
  return { responses, withdraw };
}

async function readAnswer(question: Question, { answer }: Asked, { onNote }: Asker): Promise<unknown> {
  try {
    const response = await answer;
    if (!isErrorResponse(response)) return question.read(response.result);
    throw refused(question.method, response.error);
  } catch (error) {
    const canGoOn = error instanceof NoAnswer || error instanceof ClientError;
    if (question.otherwise === undefined || !canGoOn) throw error;
    onNote(error.message);
    return question.otherwise;
  }
}

class ClientError extends ProtocolError {}

function refused(method: string, { code, message }: ErrorObject): ClientError {
  const text = `The client answered ${method} with error ${code}: ${message}`;
  return new ClientError(ErrorCode.InternalError, text, { code, message });
}

function questionFor(key: string, request: unknown, { revision, capabilities }: Asker): Question {
  const method = isObject(request) ? String(request["method"]) : "";
  const given = isObject(request) ? request["params"] : undefined;
  const params = isObject(given) ? given : {};
  const what = `Question ${JSON.stringify(key)}`;
  switch (method) {
    case "elicitation/create":
      return elicitation(params, what, revision, capabilities);
    case "sampling/createMessage":
      if (capabilities.sampling === undefined) throw missingCapability({ sampling: {} }, what);
      return {
        method,
        params: samplingFor(params, what, revision, capabilities),
        read: (result) => result,
      };
    case "roots/list":
      if (capabilities.roots === undefined) throw missingCapability({ roots: {} }, what);
      return { method, params: undefined, read: (result) => result };
    default:
      throw new ProtocolError(
        ErrorCode.InternalError,
        `${what} is ${JSON.stringify(method)}, which no client answers`,
      );
  }
}

function elicitation(
  params: Record<string, unknown>,
  what: string,
  revision: Revision,
  { elicitation }: ClientCapabilities,
): Question {
  const method = "elicitation/create";
  const otherwise = { action: "cancel" };
  if (params["mode"] === "url") {
    if (elicitation?.url === undefined) throw missingCapability({ elicitation: { url: {} } }, what);
    return {
      method,
      params: { ...params, elicitationId: crypto.randomUUID() },
      read: (result) => result,
      otherwise,
    };
  }
  if (elicitation?.form === undefined) throw missingCapability({ elicitation: { form: {} } }, what);
  if (revision.elicitation === "full") return { method, params, read: (result) => result, otherwise };
  const { message, requestedSchema } = params as unknown as ElicitFormParams;
  const form = basicForm(requestedSchema as ElicitationSchema);
  return {
    method,
    params: { message, requestedSchema: form.requestedSchema },
    read: (result) =>
      isObject(result["content"]) ? { ...result, content: form.read(result["content"]) } : result,
    otherwise,
  };
}

function samplingFor(
  params: Record<string, unknown>,
  what: string,
  revision: Revision,
  { sampling }: ClientCapabilities,
): Record<string, unknown> {
  const { messages, tools, toolChoice, ...rest } = params;
  const known = { ...rest, messages: samplingMessagesFor(messages, revision) };
  if (tools === undefined && toolChoice === undefined) return known;
  if (sampling?.tools === undefined) throw missingCapability({ sampling: { tools: {} } }, what);
  return {
    ...known,
    ...(Array.isArray(tools) && { tools: tools.filter(isObject).map((tool) => toolFor(tool, revision)) }),
    ...(toolChoice !== undefined && { toolChoice }),
  };
}
