/**
 * What a server of an earlier revision asks its client for (2025-11-25, client/*), as an input request of the current
 * one, and the answer as that revision has it.
 */
import { ErrorCode, ProtocolError } from "../../protocol/errors.js";
import { isObject } from "../../protocol/jsonrpc.js";
import type { ClientCapabilities, ErrorObject, JSONRPCRequest, Result } from "../../protocol/types.js";
import { samplingMessagesFor } from "../content.js";
import type { Revision } from "../versions.js";

/** What stands in an `inputRequests` (patterns/mrtr). */
export interface InputQuestion {
  readonly method: string;
  readonly params?: Record<string, unknown>;
}

/** What the server gets back. */
export type Answer = { result: Result } | { error: ErrorObject };

/** What a key of an input request begins with. */
export const KEY_NAMES: ReadonlyMap<string, string> = new Map([
  ["elicitation/create", "elicitation"],
  ["sampling/createMessage", "sampling"],
  ["roots/list", "roots"],
]);

/**
 * Turns a request of the server into an input request.
 *
 * @throws ProtocolError -32601 or -32602, to be sent, where the client did not declare what it takes.
 */
export function questionOf(
  { method, params }: JSONRPCRequest,
  { roots, sampling, elicitation }: ClientCapabilities,
): InputQuestion {
  if (method === "roots/list") {
    if (roots === undefined) throw undeclared(method);
    return { method };
  }
  const { _meta: _, ...rest } = params ?? {};
  if (method === "sampling/createMessage") {
    if (sampling === undefined) throw undeclared(method);
    if (sampling.tools === undefined && (rest["tools"] ?? rest["toolChoice"]) !== undefined) {
      throw new ProtocolError(
        ErrorCode.InvalidParams,
        `${method}: this client did not declare sampling.tools`,
      );
    }
    return { method, params: rest };
  }
  if (method !== "elicitation/create" || elicitation === undefined) throw undeclared(method);
  // "Clients MUST treat requests without a `mode` field as form mode" (client/elicitation).
  const mode = rest["mode"] ?? "form";
  if ((mode !== "form" && mode !== "url") || elicitation[mode] === undefined) {
    throw new ProtocolError(
      ErrorCode.InvalidParams,
      `${method}: this client did not declare the mode ${JSON.stringify(mode)}`,
    );
  }
  return { method, params: rest };
}

function undeclared(method: string): ProtocolError {
  return new ProtocolError(
    ErrorCode.MethodNotFound,
    `Method not found: ${method} was not declared by this client`,
  );
}

/** An input response as the result of the server's request. */
export function answerFor(method: string, response: unknown, revision: Revision): Result {
  const result: Result = isObject(response) ? response : {};
  const { content } = result;
  if (method !== "sampling/createMessage" || !Array.isArray(content) || revision.samplingTools) return result;
  // One block is all there is room for: text is joined, and before anything else.
  const blocks = samplingMessagesFor([{ role: result["role"], content }], revision)
    .map((message) => (message as { content: unknown }).content)
    .filter(isObject);
  const texts = blocks.filter(({ type }) => type === "text").map(({ text }) => String(text));
  const joined = { type: "text", text: texts.join("\n") };
  return { ...result, content: texts.length > 0 || blocks.length === 0 ? joined : blocks[0] };
}

/** What the server is told where nobody will answer: a form is cancelled, anything else is an error. */
export function noAnswerFor(
  method: string,
  why: string,
): { result: Result } | { error: { code: number; message: string } } {
  if (method === "elicitation/create") return { result: { action: "cancel" } };
  return { error: { code: ErrorCode.InternalError, message: `${method} got no answer: ${why}` } };
}

/** "URL elicitation required" (2025-11-25, client/elicitation, URL Elicitation Required Error). */
export const URL_ELICITATION_REQUIRED = -32042;

/** The pages that must be visited before a request can be repeated; undefined where an error names none. */
export function requiredPages(data: unknown): Map<string, InputQuestion> | undefined {
  const list: unknown = isObject(data) ? data["elicitations"] : undefined;
  if (!Array.isArray(list)) return undefined;
  const pages = new Map<string, InputQuestion>();
  for (const page of list as unknown[]) {
    if (!isObject(page) || typeof page["url"] !== "string") return undefined;
    const id = typeof page["elicitationId"] === "string" ? page["elicitationId"] : page["url"];
    pages.set(id, { method: "elicitation/create", params: { ...page, mode: "url" } });
  }
  return pages.size > 0 ? pages : undefined;
}
