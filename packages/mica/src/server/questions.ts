/** The kinds of question a server may put to a client, what each needs, and how its answer is read (patterns/mrtr). */
import type {
  CreateMessageParams,
  CreateMessageResult,
  InputRequest,
  Root,
} from "../protocol/input-requests.js";
import { isObject } from "../protocol/jsonrpc.js";
import type { ClientCapabilities } from "../protocol/types.js";
import { toElicitationSchema } from "../schema/elicitation.js";
import type { InferOutput, Schema } from "../schema/standard.js";
import { createValidator, describeProblems } from "../schema/validate.js";

export type Kind = "elicit" | "elicitUrl" | "sample" | "sampleTools" | "roots";

/** A form. */
export interface ElicitQuestion<S extends Schema = Schema> {
  elicit: { message: string; schema: S };
}
/** A page to visit. */
export interface ElicitUrlQuestion {
  elicitUrl: { message: string; url: string };
}
/** A message from the client's model. */
export interface SampleQuestion {
  sample: CreateMessageParams;
}
/** The client's roots. */
export interface RootsQuestion {
  roots: true;
}
export type AnyQuestion = ElicitQuestion | ElicitUrlQuestion | SampleQuestion | RootsQuestion;

/** "Accept, decline, cancel" (client/elicitation, Response Actions): only an accepted form has content. */
export type ElicitAnswer<Content> =
  | { action: "accept"; content: Content }
  | { action: "decline" }
  | { action: "cancel" };
export interface UrlAnswer {
  action: "accept" | "decline" | "cancel";
}

/** The answers to a record of questions. */
export type Answers<Q extends Record<string, AnyQuestion>> = {
  [Key in keyof Q]: Q[Key] extends ElicitQuestion<infer S>
    ? ElicitAnswer<InferOutput<S>>
    : Q[Key] extends ElicitUrlQuestion
      ? UrlAnswer
      : Q[Key] extends SampleQuestion
        ? CreateMessageResult
        : Root[];
};

export interface Prepared {
  readonly kind: Kind;
  readonly request: InputRequest;
  /** What the client must have declared. */
  readonly required: ClientCapabilities;
  readonly read: (answer: Record<string, unknown>) => Read | Promise<Read>;
}

/** A usable answer, or what is wrong with it. */
export type Read = { readonly value: unknown; readonly problem?: undefined } | { readonly problem: string };

/** @throws TypeError naming the question and what is wrong with it. */
export function prepare(key: string, question: AnyQuestion): Prepared {
  const what = `question ${JSON.stringify(key)}`;
  if (typeof key !== "string" || key === "")
    throw new TypeError(`${what}: the key must be a non-empty string`);
  if ("elicit" in question) return prepareForm(question.elicit, what);
  if ("elicitUrl" in question) return prepareUrl(question.elicitUrl, what);
  if ("sample" in question) {
    const withTools = question.sample.tools !== undefined || question.sample.toolChoice !== undefined;
    return {
      kind: withTools ? "sampleTools" : "sample",
      request: { method: "sampling/createMessage", params: question.sample },
      required: { sampling: withTools ? { tools: {} } : {} },
      read: readMessage,
    };
  }
  return { kind: "roots", request: { method: "roots/list" }, required: { roots: {} }, read: readRoots };
}

function prepareForm({ message, schema }: ElicitQuestion["elicit"], what: string): Prepared {
  const validate = createValidator(schema);
  const requestedSchema = toElicitationSchema(schema, what);
  return {
    kind: "elicit",
    request: { method: "elicitation/create", params: { mode: "form", message, requestedSchema } },
    required: { elicitation: { form: {} } },
    async read(answer) {
      const { action, content } = answer;
      // Content is looked at only on accept: whatever else comes with a decline or cancel is ignored.
      if (action === "decline" || action === "cancel") return { value: { action } };
      if (action !== "accept") return { problem: 'action must be "accept", "decline" or "cancel"' };
      const validation = await validate(content ?? {});
      return validation.problems === undefined
        ? { value: { action, content: validation.value } }
        : { problem: describeProblems(validation.problems) };
    },
  };
}

function prepareUrl({ message, url }: ElicitUrlQuestion["elicitUrl"], what: string): Prepared {
  if (!URL.canParse(url))
    throw new TypeError(`${what}: url must be an absolute URL, got ${JSON.stringify(url)}`);
  return {
    kind: "elicitUrl",
    request: { method: "elicitation/create", params: { mode: "url", message, url } },
    required: { elicitation: { url: {} } },
    read: ({ action }) =>
      action === "accept" || action === "decline" || action === "cancel"
        ? { value: { action } }
        : { problem: 'action must be "accept", "decline" or "cancel"' },
  };
}

function readMessage(answer: Record<string, unknown>): Read {
  const { role, content, model } = answer;
  const hasContent = Array.isArray(content) ? content.every(isObject) : isObject(content);
  if ((role !== "user" && role !== "assistant") || !hasContent || typeof model !== "string") {
    return { problem: "a message needs role, content and model" };
  }
  return { value: answer };
}

function readRoots({ roots }: Record<string, unknown>): Read {
  if (!Array.isArray(roots) || roots.some((root) => !isObject(root) || typeof root["uri"] !== "string")) {
    return { problem: "roots must be a list of objects with a uri" };
  }
  return { value: roots };
}

/** A malformed answer is a problem like any other: the question is asked again. */
export function readAnswer(prepared: Prepared, answer: unknown): Read | Promise<Read> {
  return isObject(answer) ? prepared.read(answer) : { problem: "an answer must be an object" };
}

/** Whether the declared capabilities cover a kind of question. `elicitation: {}` means forms (client/elicitation). */
export function isSupported(kind: Kind, { elicitation, sampling, roots }: ClientCapabilities): boolean {
  switch (kind) {
    case "elicit":
      return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
    case "elicitUrl":
      return elicitation?.url !== undefined;
    case "sample":
      return sampling !== undefined;
    case "sampleTools":
      return sampling?.tools !== undefined;
    case "roots":
      return roots !== undefined;
  }
}
