/**
 * What a session with a server of an earlier revision runs on: messages in both directions. Lines of a process,
 * Streamable HTTP with a session, HTTP+SSE and memory each make one.
 */
import { McpError } from "../../protocol/errors.js";
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from "../../protocol/types.js";
import type { Revision } from "../versions.js";
import type { Hold } from "./clocks.js";

export interface LegacyWire {
  /** Says who takes what arrives. Called once, before anything is sent. */
  receive(receiver: WireReceiver): void;
  /**
   * Sends one message. For a request it rejects as soon as it turns out that no response will come.
   *
   * @param hold Stops the clock of whoever waits for it, while a person signs in.
   * @throws McpError; {@link SessionGone} where the server did not look at the message, because the session is over.
   */
  send(message: JSONRPCMessage, hold?: Hold): Promise<void>;
  /** The handshake is over. Resolves when the first request may be sent. */
  agreed?(revision: Revision): Promise<void>;
  /** Resolves when what the server sends by itself arrives, or never will. @throws McpError where it should and does not. */
  hearing?(): Promise<void>;
  /** Nothing is wanted any more for this request, which has been cancelled. */
  forget?(id: RequestId): void;
  /** The session is over for the server: what still runs may end, but there is nothing to say goodbye to. */
  retire?(): void;
  /** Where this stands for a report: whatever was assigned or refused in the handshake. */
  readonly remark?: string | undefined;
  /** Safe to call twice. */
  close(): Promise<void>;
}

/** Made by a session, called by its wire. Nothing here throws. */
export interface WireReceiver {
  /**
   * One message of the server.
   *
   * @param about The request on whose stream it arrived, where the wire has streams.
   * @returns Whether it belonged to anything.
   */
  message(message: JSONRPCMessage, about?: RequestId): boolean;
  /** An answer that is none. Says whether anything waited for it. */
  unreadable(id: RequestId | undefined, error: McpError): boolean;
  /** What the server sent by itself may have been lost: subscriptions have to begin anew. */
  missed(why: (request: JSONRPCRequest) => McpError): void;
  /** Nothing more will arrive, and nothing can be sent. */
  closed(why: (request: JSONRPCRequest) => McpError): void;
}

/** The server has ended the session, and has not processed what it was sent. */
export class SessionGone extends McpError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("connection_lost", message, options);
  }
}
