/**
 * Earlier clients over HTTP (2025-11-25, basic/transports, Streamable HTTP), with sessions or without. The guard and
 * the size of the body have been seen to; here begins what those revisions have of their own.
 */
import type { AcceptedForms } from "../http/admit.js";
import { emptyAnswer, errorAnswer, refuse } from "../http/answer.js";
import type { ReadHeader } from "../http/check.js";
import type { Outlet } from "../http/exchange.js";
import type { Legacy } from "../legacy-options.js";
import { unsupportedVersion } from "../protocol/errors.js";
import { checkMessage, DecodeError, isObject, isRequest } from "../protocol/jsonrpc.js";
import { METHODS } from "../protocol/methods.js";
import type { JSONRPCMessage } from "../protocol/types.js";
import type { AuthInfo, RequestHandler } from "../transport.js";
import { receiveBatch, refuseBatch } from "./batch.js";
import { memoryEventStore } from "./event-store.js";
import { type HttpSession, type HttpSessions, keepSessions } from "./http-sessions.js";
import { listen } from "./listen.js";
import { createReply, plainStream, type Reply } from "./reply.js";
import { createLegacySession, type LegacySession } from "./session.js";
import { ASSUMED_WITHOUT_HEADER, LEGACY_VERSIONS, REVISIONS, type Revision } from "./versions.js";

/** One HTTP request of an earlier client. */
export interface LegacyCall {
  readonly method: "POST" | "GET" | "DELETE";
  /** The parsed body of a POST. */
  readonly body?: unknown;
  readonly header: ReadHeader;
  readonly forms: AcceptedForms;
  readonly outlet: Outlet;
  readonly auth?: AuthInfo | undefined;
}

export interface LegacyHttp {
  /** Answers through the outlet. The result is to be called when the connection is closed. */
  handle(call: LegacyCall): () => void;
  /** No request will come any more: ends streams that only wait, and questions that nobody will answer. */
  hangUp(): void;
  /** Ends every session. */
  close(): void;
  /** Sessions that are open. */
  readonly sessionCount: number;
}

export interface LegacyHttpSettings extends Legacy {
  /** Deepest nesting of a message, in levels. */
  readonly maxDepth: number;
  onProblem(text: string): void;
}

type Body = { readonly single: JSONRPCMessage } | { readonly batch: readonly unknown[] };

const nothing = (): void => {};

export function legacyHttp(handler: RequestHandler, settings: LegacyHttpSettings): LegacyHttp {
  const { limits, maxDepth, onProblem } = settings;
  const store = settings.sessions?.eventStore ?? memoryEventStore();
  const sessions: HttpSessions | undefined =
    settings.sessions && keepSessions({ handler, limits, sessions: settings.sessions, store, onProblem });

  function handle(call: LegacyCall): () => void {
    const { method, header, outlet } = call;
    const version = header("mcp-protocol-version");
    // What initialize asks for stands in its body.
    if (version !== undefined && !REVISIONS.has(version) && !isInitialize(call.body)) {
      const served = [...handler.supportedVersions, ...LEGACY_VERSIONS];
      outlet.answer(errorAnswer(400, undefined, unsupportedVersion(version, served).toErrorObject()));
      return nothing;
    }
    if (method !== "POST" && sessions !== undefined) return onSession(call, sessions);
    let body: Body;
    try {
      body = Array.isArray(call.body) ? { batch: call.body } : { single: checkMessage(call.body, maxDepth) };
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      outlet.answer(errorAnswer(400, error.id, error.toErrorObject()));
      return nothing;
    }
    if (sessions === undefined) return alone(call, body, version);
    if (isInitialize(call.body) && header("mcp-session-id") === undefined) return begin(call, body, sessions);
    return onSession(call, sessions, body);
  }

  /** Without sessions: one POST is all there is to it. */
  function alone(call: LegacyCall, body: Body, version: string | undefined): () => void {
    const revision = (version && REVISIONS.get(version)) || ASSUMED_WITHOUT_HEADER;
    const session = createLegacySession({ handler, limits, stateless: revision, send: nothing, onProblem });
    const reply = createReply({
      ...call,
      auth: call.auth,
      isBatch: "batch" in body,
      canAsk: false,
      openStream: (headers) => plainStream(call.outlet, headers),
    });
    void take(body, session, revision, call, reply);
    // Nobody can come back for the response, so nothing need go on.
    return () => session.close();
  }

  function begin(call: LegacyCall, body: Body, sessions: HttpSessions): () => void {
    const opened = sessions.open(call.auth);
    if (opened === undefined) {
      const why = `${settings.sessions?.max} sessions are open, which is legacy.sessions.max`;
      call.outlet.answer(refuse(503, why, { "retry-after": "30" }));
      return nothing;
    }
    const leave = opened.enter();
    const reply = createReply({
      ...call,
      auth: call.auth,
      // Before the response, the client cannot know of which session it should say anything.
      forms: { ...call.forms, stream: !call.forms.json },
      isBatch: false,
      canAsk: false,
      openStream: (headers) => plainStream(call.outlet, headers),
    });
    void opened.session.receive((body as { single: JSONRPCMessage }).single, reply.channel).then(() => {
      const isAgreed = opened.session.revision !== undefined;
      reply.finish(isAgreed ? { "mcp-session-id": opened.id } : {});
      if (!isAgreed) opened.end();
    });
    return leave;
  }

  function onSession(call: LegacyCall, sessions: HttpSessions, body?: Body): () => void {
    const { method, header, outlet, auth } = call;
    const id = header("mcp-session-id");
    if (id === undefined) {
      const why =
        "The Mcp-Session-Id header is missing: this server keeps sessions, which begin with initialize";
      outlet.answer(refuse(400, why));
      return nothing;
    }
    const found = sessions.find(id, auth);
    if (found === undefined) {
      outlet.answer(
        refuse(404, "There is no such session, or no longer: send initialize to begin a new one"),
      );
      return nothing;
    }
    const leave = found.enter();
    if (method === "GET") return listen(call, found, store, leave, onProblem);
    if (method === "DELETE") {
      found.end();
      outlet.answer(emptyAnswer(204));
      return leave;
    }
    return post(call, found, body!, leave);
  }

  function post(
    call: LegacyCall,
    { session, openStream }: HttpSession,
    body: Body,
    leave: () => void,
  ): () => void {
    const { outlet, forms } = call;
    let disconnect = nothing;
    const reply = createReply({
      ...call,
      auth: call.auth,
      isBatch: "batch" in body,
      canAsk: true,
      openStream(headers) {
        const stream = openStream();
        stream.connect(outlet, 0, headers);
        disconnect = () => stream.disconnect(outlet);
        return stream;
      },
    });
    const mayTakeLong =
      "single" in body && isRequest(body.single) && METHODS.get(body.single.method)?.mayAskForInput;
    if (mayTakeLong && forms.stream) reply.stream();
    void take(body, session, session.revision, call, reply);
    // "Disconnection SHOULD NOT be interpreted as the client cancelling its request."
    return () => {
      disconnect();
      leave();
    };
  }

  async function take(
    body: Body,
    session: LegacySession,
    revision: Revision | undefined,
    { outlet }: LegacyCall,
    reply: Reply,
  ): Promise<void> {
    if ("batch" in body) {
      const refusal = refuseBatch(body.batch, revision, limits.maxBatch);
      if (refusal !== undefined) {
        outlet.answer(errorAnswer(400, undefined, refusal));
        return;
      }
      await receiveBatch(body.batch, session, reply.channel, maxDepth);
    } else {
      const done = session.receive(body.single, reply.channel);
      if (isRequest(body.single)) await done;
    }
    reply.finish();
  }

  return {
    handle,
    hangUp: () => sessions?.hangUp(),
    close: () => sessions?.close(),
    get sessionCount() {
      return sessions?.size ?? 0;
    },
  };
}

function isInitialize(body: unknown): boolean {
  return isObject(body) && body["method"] === "initialize" && body["id"] !== undefined;
}
