/** Reads what a server answers to one POST: a JSON document, an event stream, or a refusal. */
import type { IncomingMessage } from "node:http";
import { McpError } from "../protocol/errors.js";
import { decodeMessage, isErrorResponse, isNotification, isResponse } from "../protocol/jsonrpc.js";
import type {
  JSONRPCErrorResponse,
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
} from "../protocol/types.js";
import { createSseParser } from "./sse.js";
import { HttpStatusError } from "./status-error.js";

export interface AnswerContext {
  readonly request: JSONRPCRequest;
  /** The endpoint as it may stand in messages. */
  readonly endpoint: string;
  readonly maxResponseBytes: number;
  readonly maxDepth: number;
  readonly onNotification: ((notification: JSONRPCNotification) => void) | undefined;
}

/** Characters of a body that stand in a message. */
const SNIPPET = 200;
/** Milliseconds that a stream may stay open after its response, before the connection is given up. */
const LINGER_MS = 1_000;

/**
 * Settles with the response, as soon as it is there.
 *
 * @throws McpError `connection_lost` where the answer breaks off, `limit_exceeded`, `invalid_response`, or
 *   `connect_failed` where the server did not let the request in.
 */
export function readAnswer(incoming: IncomingMessage, context: AnswerContext): Promise<JSONRPCResponse> {
  const given = incoming.headers["content-type"] ?? "";
  const type = given === "application/json" ? given : given.split(";", 1)[0]?.trim().toLowerCase();
  const encoding = incoming.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    incoming.destroy();
    const problem = `${where(context)} answered with Content-Encoding ${encoding}, which was not asked for`;
    return Promise.reject(new McpError("invalid_response", problem));
  }
  if (incoming.statusCode === 200 && type === "text/event-stream") return readStream(incoming, context);
  return readBody(incoming, context).then((body) => judge(incoming, type, body, context));
}

function readStream(incoming: IncomingMessage, context: AnswerContext): Promise<JSONRPCResponse> {
  return new Promise((resolve, reject) => {
    let settled = false;
    const stop = () => {
      settled = true;
      incoming.off("data", onData);
      incoming.resume();
    };
    const fail = (error: unknown) => {
      if (settled) return;
      stop();
      incoming.destroy();
      reject(error);
    };
    const parser = createSseParser(
      ({ event, data }) => {
        // An event without data, or of another kind, carries no message.
        if (settled || event !== "message" || data === "") return;
        const message = decode(data, context);
        if (isNotification(message)) return context.onNotification?.(message);
        const response = expectResponse(message, context);
        stop();
        const linger = setTimeout(() => incoming.destroy(), LINGER_MS);
        incoming.once("close", () => clearTimeout(linger));
        resolve(response);
      },
      { maxEventLength: context.maxResponseBytes },
    );
    const onData = (chunk: Buffer) => {
      try {
        parser.push(chunk);
      } catch (error) {
        fail(error);
      }
    };
    incoming.on("data", onData);
    incoming.on("error", (cause) => fail(brokenOff(context, cause)));
    incoming.on("close", () => {
      if (!settled) fail(brokenOff(context));
    });
  });
}

function readBody(incoming: IncomingMessage, context: AnswerContext): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    incoming.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length <= context.maxResponseBytes) {
        chunks.push(chunk);
        return;
      }
      incoming.destroy();
      const limit = `maxResponseBytes, ${context.maxResponseBytes}`;
      reject(new McpError("limit_exceeded", `The answer of ${where(context)} is longer than ${limit} bytes`));
    });
    incoming.on("end", () => {
      const [first = Buffer.alloc(0)] = chunks;
      resolve((chunks.length > 1 ? Buffer.concat(chunks) : first).toString("utf8"));
    });
    incoming.on("error", (cause) => reject(brokenOff(context, cause)));
    incoming.on("close", () => {
      if (!incoming.readableEnded) reject(brokenOff(context));
    });
  });
}

function judge(
  { statusCode = 0, headers, statusMessage }: IncomingMessage,
  type: string | undefined,
  body: string,
  context: AnswerContext,
): JSONRPCResponse {
  const challenged = statusCode === 401 || (statusCode === 403 && headers["www-authenticate"] !== undefined);
  if (type === "application/json" && statusCode === 200)
    return expectResponse(decode(body, context), context);
  if (type === "application/json" && statusCode >= 400 && !challenged) {
    const error = readError(body, context);
    if (error !== undefined && (error.id !== undefined || !speaksOfCaller(statusCode))) return error;
  }
  const said = type === "application/json" ? readError(body, context)?.error.message : undefined;
  const cause = new HttpStatusError(
    `HTTP ${statusCode} ${statusMessage ?? ""}`.trim(),
    statusCode,
    headers,
    snippet(said ?? body),
  );
  throw refused(cause, type, context);
}

function refused(cause: HttpStatusError, type: string | undefined, context: AnswerContext): McpError {
  const { status, wwwAuthenticate, location, body } = cause;
  const answered = `${where(context)} answered ${cause.message}`;
  const rest = body === "" ? "" : `: ${body}`;
  if (status >= 300 && status < 400) {
    const to = location === undefined ? "" : ` to ${location}`;
    return new McpError("connect_failed", `${answered}, a redirect${to}; redirects are not followed`, {
      cause,
    });
  }
  if (status === 401 || status === 403) {
    const challenge = wwwAuthenticate === undefined ? "" : `; WWW-Authenticate: ${wwwAuthenticate}`;
    return new McpError("connect_failed", `${answered}${challenge}${rest}`, { cause });
  }
  if (isTemporary(status)) return new McpError("connect_failed", `${answered}${rest}`, { cause });
  const expected =
    status === 200
      ? ` with Content-Type ${type || "missing"}; expected application/json or text/event-stream`
      : "";
  return new McpError("invalid_response", `${answered}${expected}${rest}`, { cause });
}

/** Statuses that say "not now": a JSON-RPC error under one of them speaks of the server, not of the request. */
function isTemporary(status: number): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429;
}

/** Whether an error without an id is about who asks, or when, and not about the request: it was not even read. */
function speaksOfCaller(status: number): boolean {
  return status === 403 || isTemporary(status);
}

function readError(body: string, { maxDepth }: AnswerContext): JSONRPCErrorResponse | undefined {
  try {
    const message = decodeMessage(body, maxDepth);
    return isResponse(message) && isErrorResponse(message) ? message : undefined;
  } catch {
    return undefined;
  }
}

function decode(text: string, context: AnswerContext): JSONRPCMessage {
  try {
    return decodeMessage(text, context.maxDepth);
  } catch (cause) {
    const why = (cause as Error).message;
    throw new McpError(
      "invalid_response",
      `${where(context)} answered with no message of the protocol (${why}): ${snippet(text)}`,
      { cause },
    );
  }
}

function expectResponse(message: JSONRPCMessage, context: AnswerContext): JSONRPCResponse {
  if (!isResponse(message)) {
    const what = isNotification(message) ? "a notification" : "a request of its own";
    throw new McpError(
      "invalid_response",
      `${where(context)} answered with ${what} (${message.method}); expected a response`,
    );
  }
  const { id } = context.request;
  if (message.id === id || (message.id === undefined && isErrorResponse(message))) return message;
  const ids = `expected id ${JSON.stringify(id)}, got ${JSON.stringify(message.id)}`;
  throw new McpError("invalid_response", `${where(context)} answered another request: ${ids}`);
}

function brokenOff(context: AnswerContext, cause?: unknown): McpError {
  const message = `The connection to ${where(context)} was lost before the response came`;
  return new McpError("connection_lost", message, cause === undefined ? undefined : { cause });
}

function where({ endpoint, request }: AnswerContext): string {
  return `${endpoint} (${request.method})`;
}

function snippet(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > SNIPPET ? `${line.slice(0, SNIPPET)}...` : line;
}
