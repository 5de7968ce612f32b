/** A server that has one of everything, checked, and a client of an earlier revision that speaks to it in memory. */
import { onTestFinished } from "vitest";
import { createLegacySession, type LegacySession } from "../../src/legacy/session.js";
import { DEFAULT_LEGACY_LIMITS, type LegacyLimits } from "../../src/legacy-options.js";
import { isErrorResponse } from "../../src/protocol/jsonrpc.js";
import type {
  ErrorObject,
  JSONRPCMessage,
  JSONRPCRequest,
  RequestId,
  Result,
} from "../../src/protocol/types.js";
import type { Server } from "../../src/server/server.js";
import type { RequestHandler } from "../../src/transport.js";
import { checkedServer } from "../support/wire-schema.js";
import { everythingServer } from "./everything-server.js";
import { assertFits, type Version } from "./legacy-schema.js";

/** {@link everythingServer}, with whatever it says checked against the schema of the current revision. */
export function everything(): Server {
  return checkedServer(everythingServer());
}

type Message = Record<string, unknown> & {
  id?: RequestId;
  method?: string;
  params?: Record<string, unknown>;
  result?: Result;
  error?: ErrorObject;
};

export type Answerer = (
  request: Message,
) =>
  | Record<string, unknown>
  | { error: ErrorObject }
  | undefined
  | Promise<Record<string, unknown> | undefined>;

export interface LegacyClient {
  readonly session: LegacySession;
  /** Everything the server has sent, each checked against the schema of the revision. */
  readonly received: Message[];
  readonly problems: string[];
  /** Sends one message as it is, and resolves when the session is done with it. */
  send(message: Record<string, unknown>): Promise<void>;
  /** Sends a request, and resolves to its response. */
  request(method: string, params?: Record<string, unknown>, id?: RequestId): Promise<Message>;
  result<T = Result>(method: string, params?: Record<string, unknown>): Promise<T>;
  error(method: string, params?: Record<string, unknown>): Promise<ErrorObject>;
  notify(method: string, params?: Record<string, unknown>): Promise<void>;
  initialize(capabilities?: Record<string, unknown>): Promise<Result>;
  /** The messages of one method, requests and notifications. */
  of(method: string): Message[];
}

export interface ClientOptions {
  limits?: Partial<LegacyLimits>;
  /** Answers requests of the server: with a result, with `{ error }`, or not at all. */
  answer?: Answerer;
  /** Which revision to check against; default: the one that is asked for. */
  checkAs?: Version;
}

/** @example const client = legacyClient(everything(), "2025-06-18"); await client.initialize(); */
export function legacyClient(
  handler: RequestHandler,
  version: string,
  { limits, answer, checkAs = version as Version }: ClientOptions = {},
): LegacyClient {
  const received: Message[] = [];
  const problems: string[] = [];
  const faults: unknown[] = [];
  const methods = new Map<RequestId, string>();
  let lastId = 0;
  onTestFinished(() => {
    if (faults.length > 0) throw faults[0];
  });

  function arrive(message: JSONRPCMessage): void {
    const copy = JSON.parse(JSON.stringify(message)) as Message;
    received.push(copy);
    try {
      assertFits(checkAs, copy, copy.method === undefined ? methods.get(copy.id as RequestId) : undefined);
    } catch (error) {
      faults.push(error);
    }
    if (copy.method === undefined || copy.id === undefined || answer === undefined) return;
    const { id } = copy;
    void Promise.resolve(answer(copy)).then((answered) => {
      if (answered === undefined) return;
      return send("error" in answered ? { id, ...answered } : { id, result: answered });
    });
  }

  const channel = { send: arrive, canAsk: true };
  const session = createLegacySession({
    handler,
    limits: { ...DEFAULT_LEGACY_LIMITS, ...limits },
    send: arrive,
    onProblem: (problem) => void problems.push(problem),
    onNote: (note) => void problems.push(note),
  });

  async function send(message: Record<string, unknown>): Promise<void> {
    const whole = { jsonrpc: "2.0", ...message };
    const { id, method } = message as Message;
    if (id !== undefined && method !== undefined) methods.set(id, method);
    await session.receive(JSON.parse(JSON.stringify(whole)) as JSONRPCMessage, channel);
    if (faults.length > 0) throw faults[0];
  }

  async function request(
    method: string,
    params?: Record<string, unknown>,
    id: RequestId = ++lastId,
  ): Promise<Message> {
    const from = received.length;
    await send({ id, method, ...(params && { params }) } as unknown as JSONRPCRequest &
      Record<string, unknown>);
    const response = received
      .slice(from)
      .find((message) => message.id === id && message.method === undefined);
    if (response === undefined) throw new Error(`no response to ${method}`);
    return response;
  }

  return {
    session,
    received,
    problems,
    send,
    request,
    async result<T>(method: string, params?: Record<string, unknown>) {
      const response = await request(method, params);
      if (isErrorResponse(response as never))
        throw new Error(`got an error: ${JSON.stringify(response.error)}`);
      return response.result as T;
    },
    async error(method, params) {
      const response = await request(method, params);
      if (response.error === undefined) throw new Error(`got a result: ${JSON.stringify(response.result)}`);
      return response.error;
    },
    notify: (method, params) => send({ method, ...(params && { params }) }),
    async initialize(capabilities = {}) {
      const params = {
        protocolVersion: version,
        capabilities,
        clientInfo: { name: "old", version: "0.1.0" },
      };
      const response = await request("initialize", params);
      if (response.result === undefined) throw new Error(`got an error: ${JSON.stringify(response.error)}`);
      await send({ method: "notifications/initialized" });
      return response.result;
    },
    of: (method) => received.filter((message) => message.method === method),
  };
}
