/**
 * One session with an initialize-era client (2025-11-25, basic/lifecycle): what a connection remembered before every
 * request said it again. Requests come in as messages and leave as modern exchanges; answers take the way back.
 */

import type { LegacyLimits } from "../legacy-options.js";
import { ErrorCode, ProtocolError } from "../protocol/errors.js";
import { isNotification, isRequest, resultResponse } from "../protocol/jsonrpc.js";
import {
  type JSONRPCMessage,
  type JSONRPCNotification,
  type LoggingLevel,
  PROTOCOL_VERSION,
  type Result,
} from "../protocol/types.js";
import type { AuthInfo, RequestHandler } from "../transport.js";
import { createAsking } from "./asking.js";
import { type Changes, followChanges } from "./changes.js";
import { exchange } from "./exchange.js";
import { type Handshake, shakeHands } from "./handshake.js";
import { describe, trackInFlight } from "./in-flight.js";
import type { Channel, OpenRequest } from "./open-request.js";
import { ownMethods } from "./own-methods.js";
import { DEFAULT_LOG_LEVEL, modernParams, UNKNOWN_CLIENT } from "./requests.js";
import { LEGACY_VERSIONS, type Revision } from "./versions.js";

export interface LegacySessionOptions {
  readonly handler: RequestHandler;
  readonly limits: LegacyLimits;
  /** Who is told of changes, by the last credential that was shown; every channel says itself who sends on it. */
  auth?(): AuthInfo | undefined;
  /**
   * Given where one message is all there is to a session: requests are served under this revision without a
   * handshake, nothing is remembered, and no change is reported.
   */
  readonly stateless?: Revision | undefined;
  /** Sends what belongs to no request of the client: notifications of changes. */
  send(notification: JSONRPCNotification): void;
  /** Told, in one sentence, of what went wrong here without an answer of its own. */
  onProblem(text: string): void;
  /** Told of what the client does that has no effect. Default: nobody is. */
  onNote?(text: string): void;
}

export interface LegacySession {
  /**
   * Takes one message. Resolves once it is dealt with: a request when its response has been sent, or when it is
   * cancelled. Never rejects.
   */
  receive(message: JSONRPCMessage, channel: Channel): Promise<void>;
  /** What was agreed on; undefined before the handshake. */
  readonly revision: Revision | undefined;
  /** Another credential of the same client has been shown: it is told of changes for as long as that lasts. */
  renew(): void;
  /** Resolves once a handshake that is under way has ended. */
  settled(): Promise<void>;
  /** Resolves when no handler runs any more. */
  idle(): Promise<void>;
  /** Nothing more will be received: questions that are open get no answer, and changes are no longer reported. */
  hangUp(): void;
  /** There is no time left: answers every open request with an error, and aborts it. */
  giveUp(): void;
  /** Ends everything without another word. Safe to call twice. */
  close(): void;
}

export function createLegacySession(options: LegacySessionOptions): LegacySession {
  const { handler, limits, stateless, onProblem, onNote = () => {} } = options;
  const asking = createAsking(limits.inputTimeoutMs);
  let shaking: Promise<void> | undefined;
  let handshake: Handshake | undefined;
  let logLevel: LoggingLevel = DEFAULT_LOG_LEVEL;
  let changes: Changes | undefined;
  let hungUp = false;

  const revision = (): Revision | undefined => stateless ?? handshake?.revision;

  const methods = ownMethods({
    whenReady,
    offered: () => handshake?.offered ?? {},
    changes: follow,
    setLogLevel(level) {
      logLevel = level;
    },
  });
  methods.set("initialize", initialize);
  const inFlight = trackInFlight({
    maxInFlight: limits.maxInFlight,
    answer: async (open) => (methods.get(open.request.method) ?? pass)(open),
    revision,
    onProblem,
  });

  /** Everything that both eras have. */
  async function pass(open: OpenRequest): Promise<Result | undefined> {
    const agreed = await whenReady(open.request.method);
    if (open.isOver) return undefined;
    const client = handshake?.client ?? UNKNOWN_CLIENT;
    return exchange(open, { handler, revision: agreed, client, logLevel, asking, limits, onNote });
  }

  async function initialize(open: OpenRequest): Promise<undefined> {
    if (handshake !== undefined || shaking !== undefined) {
      throw new ProtocolError(
        ErrorCode.InvalidRequest,
        "Invalid request: this session is initialized already",
      );
    }
    const shake = shakeHands(open, handler, stateless !== undefined).then((agreed) => {
      handshake = agreed;
      // Before anything that waits for it is answered.
      open.respond(resultResponse(open.request.id, agreed.result));
    });
    const over = (): void => {
      shaking = undefined;
    };
    shaking = shake.then(over, over);
    await shake;
  }

  /** Some clients send everything at once, without waiting for the first answer. */
  async function whenReady(method: string): Promise<Revision> {
    if (shaking !== undefined) await shaking;
    const agreed = revision();
    if (agreed !== undefined) return agreed;
    throw new ProtocolError(
      ErrorCode.InvalidRequest,
      `Invalid request: ${method} came before initialize. Send initialize first (${LEGACY_VERSIONS.join(", ")}), or give every request the _meta of ${PROTOCOL_VERSION}`,
    );
  }

  function follow(): Changes {
    changes ??= followChanges({
      handler,
      auth: () => options.auth?.(),
      lists: listsOf(handshake),
      params: modernParams(undefined, handshake?.client ?? UNKNOWN_CLIENT, logLevel),
      send: options.send,
      onProblem,
    });
    if (hungUp) changes.close();
    return changes;
  }

  /** The client is ready to hear of changes, which it gets without asking for them. */
  async function begin(): Promise<void> {
    if (shaking !== undefined) await shaking;
    if (Object.keys(listsOf(handshake)).length === 0) return;
    try {
      await follow().start();
    } catch (error) {
      onProblem(`changes cannot be reported to this client: ${describe(error)}`);
    }
  }

  function hangUp(): void {
    hungUp = true;
    asking.end("the connection is closing");
    changes?.close();
  }

  return {
    async receive(message, channel) {
      if (isRequest(message)) return inFlight.serve(message, channel);
      if (!isNotification(message)) {
        if (!asking.settle(message))
          onNote(`ignored a response: nothing waits for ${JSON.stringify(message.id)}`);
      } else if (message.method === "notifications/cancelled") inFlight.cancel(message);
      else if (message.method === "notifications/initialized") await begin();
    },
    get revision() {
      return revision();
    },
    renew: () => void changes?.renew(),
    settled: () => shaking ?? Promise.resolve(),
    idle: inFlight.idle,
    hangUp,
    giveUp() {
      hangUp();
      inFlight.giveUp();
    },
    close() {
      hangUp();
      inFlight.dropAll("The session is over");
    },
  };
}

function listsOf(handshake: Handshake | undefined) {
  const { tools, prompts, resources } = handshake?.offered ?? {};
  return {
    ...(tools?.listChanged && { toolsListChanged: true }),
    ...(prompts?.listChanged && { promptsListChanged: true }),
    ...(resources?.listChanged && { resourcesListChanged: true }),
  };
}
