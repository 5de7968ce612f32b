/**
 * A server of an earlier revision behind the client seam: it looks like one of the current revision. Whatever these
 * revisions keep in a session (handshake, log level, subscriptions, questions of the server) is kept here.
 */
import { ErrorCode, McpError } from "../../protocol/errors.js";
import { errorResponse } from "../../protocol/jsonrpc.js";
import type {
  ClientCapabilities,
  Implementation,
  JSONRPCRequest,
  JSONRPCResponse,
} from "../../protocol/types.js";
import type { ClientExchangeOptions, ClientTransport } from "../../transport.js";
import { LEGACY_VERSIONS } from "../versions.js";
import type { Call } from "./call.js";
import { createClocks, createTimer, type Hold } from "./clocks.js";
import type { InputQuestion } from "./questions.js";
import { openSession, type Session } from "./session.js";
import { unlessAborted } from "./waiting.js";
import { type LegacyWire, SessionGone } from "./wire.js";

export interface LegacyTransportOptions {
  readonly clientInfo: Implementation;
  readonly clientCapabilities: ClientCapabilities;
  /** The revision to ask for first. Default 2025-11-25; any of the four is accepted. */
  readonly version?: string | undefined;
  /** Milliseconds that a handshake may take. Default 60,000. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds that an open question waits for its answer. Default 10 minutes: a person may have to decide. */
  readonly inputTimeoutMs?: number | undefined;
  /** Gives up the first handshake. */
  readonly signal?: AbortSignal | undefined;
  /** Answers what the server asks outside of every request. Default: nobody does. */
  readonly answer?: ((question: InputQuestion, signal: AbortSignal) => Promise<unknown>) | undefined;
}

export interface LegacyTransport extends ClientTransport {
  /** The revision that was agreed on. */
  readonly version: string;
  /** What the wire has to say of itself. */
  readonly remark: string | undefined;
}

/** Requests that wait for answers; beyond that the oldest is taken back. */
const MAX_SUSPENDED = 100;

/**
 * Begins a session, and makes a transport of it. Where the session is lost, the next exchange begins another one.
 *
 * @param openWire Called once for each session.
 * @throws McpError as the handshake does; `timeout` where that takes too long.
 */
export async function legacyTransport(
  openWire: (signal: AbortSignal, hold: Hold) => Promise<LegacyWire>,
  options: LegacyTransportOptions,
): Promise<LegacyTransport> {
  const { timeoutMs = 60_000, inputTimeoutMs = 600_000 } = options;
  const version = options.version ?? (LEGACY_VERSIONS[0] as string);
  /** By their `requestState`, in the order in which they began to wait. */
  const suspended = new Map<string, Call>();
  /** All that are open: one that was lost may still have requests on their way. */
  const sessions = new Set<Session>();
  let current: Promise<Session> | undefined;
  /** Of those who wait for a handshake. */
  const clocks = createClocks();
  let remark: string | undefined;
  let closed: Promise<void> | undefined;

  async function begin(signal: AbortSignal | undefined, onEnd: () => void): Promise<Session> {
    const controller = new AbortController();
    const late = new McpError("timeout", `initialize got no answer within ${timeoutMs} ms (timeoutMs)`);
    const timer = createTimer(timeoutMs, () => controller.abort(late));
    const leave = clocks.join(timer.hold);
    const abort = () => controller.abort(signal?.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort, { once: true });
    let opened: LegacyWire | undefined;
    try {
      opened = await openWire(controller.signal, clocks.hold);
      const session = openSession(opened, {
        greeting: { clientInfo: options.clientInfo, capabilities: options.clientCapabilities, version },
        inputTimeoutMs,
        hold: clocks.hold,
        answer: options.answer ?? (async (question) => Promise.reject(unanswered(question))),
        onSuspend,
        onOver: (call) => void suspended.delete(call.requestState),
        onEnd,
      });
      const agreed = await unlessAborted(session, controller.signal);
      remark = opened.remark;
      sessions.add(agreed);
      return agreed;
    } catch (error) {
      await opened?.close().catch(() => {});
      throw error;
    } finally {
      timer.clear();
      leave();
      signal?.removeEventListener("abort", abort);
    }
  }

  function ready(signal?: AbortSignal): Promise<Session> {
    if (current !== undefined) return current;
    const lose = () => {
      if (current === begun) current = undefined;
    };
    const begun: Promise<Session> = begin(signal, () => {
      lose();
      void begun.then((session) => sessions.delete(session)).catch(() => {});
    });
    begun.catch(lose);
    current = begun;
    return begun;
  }

  /** Waits for the session as an exchange does. */
  async function readyFor({ signal, hold }: ClientExchangeOptions): Promise<Session> {
    const leave = clocks.join(hold);
    try {
      return await unlessAborted(ready(), signal);
    } finally {
      leave();
    }
  }

  function onSuspend(call: Call): void {
    suspended.set(call.requestState, call);
    if (suspended.size <= MAX_SUSPENDED) return;
    const [oldest] = suspended.values();
    oldest?.giveUp(`more than ${MAX_SUSPENDED} requests wait for answers`);
  }

  async function inSession(
    exchange: ClientExchangeOptions,
    work: (session: Session) => Promise<JSONRPCResponse>,
  ): Promise<JSONRPCResponse> {
    const begun = ready();
    const session = await readyFor(exchange);
    try {
      return await work(session);
    } catch (error) {
      if (!(error instanceof SessionGone) || closed !== undefined) throw error;
      // The server has not looked at the request, so that it can be sent again whatever it does. Once.
      if (current === begun) {
        current = undefined;
        session.retire((lost) => new McpError("connection_lost", `${lost.method}: ${error.message}`));
      }
      return work(await readyFor(exchange));
    }
  }

  const first = await ready(options.signal);
  return {
    mirrorsArguments: false,
    version: first.revision.version,
    remark,
    async exchange(request, exchange = {}) {
      if (closed !== undefined) throw closedError(request);
      exchange.signal?.throwIfAborted();
      const state = request.params?.["requestState"];
      if (state !== undefined) {
        const call = suspended.get(state as string);
        suspended.delete(state as string);
        if (call) return call.attend(request, exchange);
        const message = "Invalid requestState: no request waits for an answer under it";
        return errorResponse(request.id, { code: ErrorCode.InvalidParams, message });
      }
      if (request.method === "server/discover") {
        const { discovered } = await readyFor(exchange);
        return { jsonrpc: "2.0", id: request.id, result: discovered };
      }
      return inSession(exchange, (session) =>
        request.method === "subscriptions/listen"
          ? session.listen(request, exchange)
          : session.call(request, exchange),
      );
    },
    abandon(requestState) {
      suspended.get(requestState)?.giveUp("the client gave up");
    },
    close() {
      closed ??= (async () => {
        for (const call of [...suspended.values()]) call.giveUp("the client closes the connection");
        await current?.catch(() => {});
        await Promise.all([...sessions].map((session) => session.close(closedError)));
      })();
      return closed;
    },
  };
}

function closedError({ method }: JSONRPCRequest): McpError {
  return new McpError("closed", `${method} was not answered: the connection is closed`);
}

function unanswered({ method }: InputQuestion): McpError {
  return new McpError("input_unavailable", `nobody answers ${method} outside of a request`);
}
