/** Judges the head of a request, before its body is read. Pure, and shared by both bindings. */
import type { RequestHandler } from "../transport.js";
import { type Answer, preflight, refuse } from "./answer.js";
import type { ReadHeader } from "./check.js";
import type { HttpLimits } from "./limits.js";

/** What a binding knows of a request before its body. */
export interface RequestHead {
  readonly method: string;
  /** Path and query, or a whole URL. */
  readonly target: string;
  /** Every name by which the request addresses the server. */
  readonly hosts: readonly string[];
  readonly header: ReadHeader;
}

/** The forms of answer that a client takes: a JSON document, an event stream. */
export interface AcceptedForms {
  readonly json: boolean;
  readonly stream: boolean;
}

const BOTH: AcceptedForms = { json: true, stream: true };

/** Whether earlier clients are served, and stream by GET and end sessions by DELETE. Undefined: they are not. */
export type Earlier = { readonly keepsSessions: boolean } | undefined;

/**
 * Answers what needs no credentials: a request that is for no endpoint, and the question of a browser before it sends
 * one. Comes after the guard.
 *
 * @param path Where the endpoint is, or undefined where the author's own router decided that.
 */
export function answerBefore(
  { method, target, header }: RequestHead,
  path: string | undefined,
  earlier: Earlier,
): Answer | undefined {
  if (path !== undefined && pathOf(target) !== path) {
    return refuse(404, `No MCP endpoint at ${quote(pathOf(target))}: it is at ${path}`);
  }
  if (method !== "OPTIONS" || header("origin") === undefined) return undefined;
  const methods = earlier?.keepsSessions ? "POST, GET, DELETE" : "POST";
  return preflight(header("access-control-request-headers"), methods);
}

/** Refuses a request that no body could save. Comes after its caller is known, where that is asked. */
export function refuseHead(
  { method, header }: RequestHead,
  { supportedVersions }: RequestHandler,
  limits: HttpLimits,
  earlier: Earlier,
): Answer | undefined {
  if (method !== "POST") {
    // Earlier revisions stream by GET and end sessions by DELETE (Earlier Streamable HTTP Revisions).
    if (earlier?.keepsSessions && (method === "GET" || method === "DELETE")) return undefined;
    const versions =
      supportedVersions.join(", ") + (earlier ? ", and earlier revisions without sessions" : "");
    const allow = earlier?.keepsSessions ? "POST, GET, DELETE" : "POST";
    return refuse(405, `${method} is not supported: this endpoint speaks MCP ${versions}, by ${allow} only`, {
      allow,
    });
  }
  const type = header("content-type");
  const problem = typeProblem(type);
  if (problem !== undefined) return refuse(415, `content-type must be ${problem}, got ${quote(type)}`);
  const encoding = header("content-encoding");
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    return refuse(415, `content-encoding must be absent or identity, got ${quote(encoding)}`);
  }
  const length = header("content-length");
  return length !== undefined && Number(length) > limits.maxBodyBytes ? tooLarge(limits) : undefined;
}

/** 413, for a body that is announced or turns out larger than allowed. */
export function tooLarge({ maxBodyBytes }: HttpLimits): Answer {
  return refuse(413, `The body is larger than maxBodyBytes, ${maxBodyBytes} bytes`, { connection: "close" });
}

/** 406, for a client that takes neither form of answer. */
export function notAcceptable(accept: string | undefined): Answer {
  return refuse(406, `accept must list application/json and text/event-stream, got ${quote(accept)}`);
}

/**
 * Which forms an `Accept` admits. Clients must list both; without the header, both are taken to be listed.
 * Undefined where it admits neither.
 */
export function readAccept(accept: string | undefined): AcceptedForms | undefined {
  if (accept === undefined || accept === "application/json, text/event-stream") return BOTH;
  const admitted = new Set<string>();
  const refused = new Set<string>();
  for (const part of accept.toLowerCase().split(",")) {
    const [range = "", ...parameters] = part.split(";").map((piece) => piece.trim());
    const weightless = parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
    (weightless ? refused : admitted).add(range);
  }
  const admits = (type: string, range: string): boolean =>
    admitted.has(type) || (!refused.has(type) && (admitted.has(range) || admitted.has("*/*")));
  const json = admits("application/json", "application/*");
  const stream = admits("text/event-stream", "text/*");
  return json || stream ? { json, stream } : undefined;
}

/** What a content type should have been; undefined where it is that. JSON "MUST be encoded using UTF-8" (RFC 8259, 8.1). */
function typeProblem(contentType: string | undefined): string | undefined {
  if (contentType === "application/json") return undefined;
  if (!/^application\/json[ \t]*(?:;|$)/i.test(contentType ?? "")) return "application/json";
  const charsets = [...contentType!.matchAll(/;[ \t]*charset[ \t]*=[ \t]*("[^"]*"|[^;]*)/gi)];
  const isUtf8 = charsets.every(([, charset]) => /^"?(?:utf-?8|us-ascii)"?[ \t]*$/i.test(charset!));
  return isUtf8 ? undefined : "application/json in UTF-8";
}

/** The authority of a request target that is a whole URL: host and port, and user information if there is any. */
export function authorityOf(target: string): string | undefined {
  return /^[a-z]+:\/\/([^/?#]*)/i.exec(target)?.[1];
}

/** The path of a request target, which may be a whole URL and may have a query. */
export function pathOf(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, "");
  const end = path.search(/[?#]/);
  return end < 0 ? path : path.slice(0, end);
}

function quote(value: string | undefined): string {
  const text = JSON.stringify(value) ?? "none";
  return text.length > 120 ? `${text.slice(0, 117)}..."` : text;
}
