/**
 * Streamable HTTP as it was with sessions (2025-11-25, basic/transports): one POST for each message, and a stream for
 * what the server sends by itself.
 */
import type { IncomingMessage } from "node:http";
import { McpError } from "../../protocol/errors.js";
import { encodeMessage } from "../../protocol/jsonrpc.js";
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from "../../protocol/types.js";
import type { Revision } from "../versions.js";
import type { Hold } from "./clocks.js";
import { contentType, type HttpClient, isEventStream, readBody, statusError } from "./http-client.js";
import { deliver, readMessages } from "./messages.js";
import { followStream, noticeAnswer } from "./request-stream.js";
import { openServerStream, type ServerStream } from "./server-stream.js";
import { atMost } from "./waiting.js";
import { type LegacyWire, SessionGone, type WireReceiver } from "./wire.js";

/** How long the end of a session may take, in milliseconds. */
const GOODBYE_MS = 1_000;
/** How long requests wait for the stream of the server, in milliseconds: some send its head with an event only. */
const STREAM_WAIT_MS = 500;

/** "The session ID MUST only contain visible ASCII characters." */
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/** @param isAsked Whether the server may have questions, which may come on its own stream: then that must be open. */
export function streamableWire(http: HttpClient, isAsked: boolean): LegacyWire {
  const { endpoint } = http;
  const open = new Map<RequestId, AbortController>();
  let receiver: WireReceiver;
  let sessionId: string | undefined;
  let revision: Revision | undefined;
  let stream: ServerStream | undefined;
  let isRetired = false;
  let closing: Promise<void> | undefined;

  function headers(accept: string): Record<string, string> {
    return {
      accept,
      ...(sessionId !== undefined && { "mcp-session-id": sessionId }),
      ...(revision?.versionHeader && { "mcp-protocol-version": revision.version }),
    };
  }

  async function post(message: JSONRPCMessage, hold?: Hold, signal?: AbortSignal): Promise<IncomingMessage> {
    return http.send({
      method: "POST",
      headers: headers("application/json, text/event-stream"),
      body: encodeMessage(message),
      signal,
      hold,
      repeatable: !("method" in message) || message.method !== "tools/call",
    });
  }

  /** Resolves when the response has been delivered. */
  async function ask(request: JSONRPCRequest, hold: Hold | undefined): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    open.set(request.id, controller);
    try {
      const incoming = await post(request, hold, signal);
      if (request.method === "initialize") sessionId = assignedSession(incoming);
      if (isEventStream(incoming)) {
        await followStream(incoming, {
          http,
          request,
          receiver,
          signal,
          hold,
          headers: () => headers("text/event-stream"),
        });
      } else await takeBody(incoming, request);
    } finally {
      open.delete(request.id);
    }
  }

  function assignedSession(incoming: IncomingMessage): string | undefined {
    const assigned = incoming.headers["mcp-session-id"];
    if (typeof assigned !== "string" || VISIBLE_ASCII.test(assigned)) return assigned as string | undefined;
    incoming.destroy();
    throw new McpError("invalid_response", `${endpoint} assigned a session id that is not visible ASCII`);
  }

  async function takeBody(incoming: IncomingMessage, request: JSONRPCRequest): Promise<void> {
    const { statusCode = 0 } = incoming;
    const body = await readBody(incoming, http);
    if (statusCode !== 200 || contentType(incoming) !== "application/json") {
      const refusal = refused(incoming, body, request.method);
      const mayBeError = statusCode >= 400 && statusCode < 500 && statusCode !== 401;
      if (refusal instanceof SessionGone || !mayBeError || !holdsError(body)) throw refusal;
    }
    const answer = noticeAnswer(request, receiver);
    deliver(body, answer.receiver, endpoint, request.id, http.limits.maxDepth);
    if (answer.came) return;
    throw new McpError("invalid_response", `${endpoint} answered ${request.method} without a response to it`);
  }

  function refused(incoming: IncomingMessage, body: string, what: string): McpError {
    const error = statusError(incoming, `${endpoint} (${what})`, body);
    if (sessionId === undefined || revision === undefined) return error;
    // "The server MUST respond with 404" once it has ended a session; not a few respond with 400 and words.
    const { statusCode } = incoming;
    const isGone = statusCode === 404 || (statusCode === 400 && /session/i.test(body));
    return isGone ? new SessionGone(error.message, { cause: error.cause }) : error;
  }

  async function goodbye(): Promise<void> {
    if (sessionId === undefined || isRetired) return;
    const signal = AbortSignal.timeout(GOODBYE_MS);
    const incoming = await http.send({
      method: "DELETE",
      headers: headers("*/*"),
      signal,
      repeatable: false,
    });
    incoming.resume();
  }

  return {
    get remark() {
      return `Streamable HTTP ${sessionId === undefined ? "without" : "with"} a session`;
    },
    receive(by) {
      receiver = by;
    },
    async send(message, hold) {
      if ("method" in message && "id" in message) return ask(message, hold);
      const incoming = await post(message, hold);
      const { statusCode = 0 } = incoming;
      const body = await readBody(incoming, http);
      const what = "method" in message ? message.method : "a response";
      if (statusCode < 200 || statusCode >= 300) throw refused(incoming, body, what);
    },
    async agreed(agreed) {
      revision = agreed;
      stream = openServerStream(http, () => headers("text/event-stream"), receiver);
      if (isAsked) await atMost(STREAM_WAIT_MS, stream.opened()).catch(() => {});
    },
    hearing: async () => stream && atMost(STREAM_WAIT_MS, stream.opened()),
    forget: (id) => open.get(id)?.abort(new McpError("aborted", "The request was cancelled")),
    retire() {
      isRetired = true;
      stream?.close();
    },
    close() {
      closing ??= (async () => {
        stream?.close();
        await goodbye().catch(() => {});
        for (const controller of open.values())
          controller.abort(new McpError("closed", "The session is over"));
      })();
      return closing;
    },
  };
}

/** Whether a body is a JSON-RPC error response, with or without an id. */
function holdsError(body: string): boolean {
  return readMessages(body).every((read) => "message" in read && "error" in read.message);
}
