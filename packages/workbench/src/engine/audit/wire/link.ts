/** A connection to a server that is spoken to in one era, message by message. */
import { isObject } from "../../json.js";
import type { Era, Members } from "../audited.js";
import { type RawExchange, type RawOptions, resultOf } from "./raw.js";

export type Sent = Members | string | Uint8Array;
export type Headers = Readonly<Record<string, string | undefined>>;

export interface Link {
  readonly era: Era;
  /** Spoken with the server; what it chose in its answer to `initialize`, once there is one. */
  revision: string;
  /** The answer to `initialize`, once there is one. */
  readonly handshake: RawExchange | undefined;
  nextId(): number;
  /** Does the handshake where the era has one and it is not done yet. */
  open(): Promise<RawExchange | undefined>;
  send(message: Sent, headers: Headers, options: Sending): Promise<RawExchange>;
  headersOf(message: unknown): Record<string, string>;
  close(): Promise<void>;
}

export interface Sending extends RawOptions {
  readonly signal: AbortSignal;
  readonly answerMs: number;
}

/** What a message is as JSON; undefined where it is none. */
export function readMessage(message: Sent): unknown {
  if (!(message instanceof Uint8Array) && typeof message !== "string") return message;
  try {
    return JSON.parse(typeof message === "string" ? message : Buffer.from(message).toString("utf8"));
  } catch {
    return undefined;
  }
}

/** The id of a proper request; nothing else is waited for. */
export function idOf(message: unknown): string | number | undefined {
  if (!isObject(message) || message["jsonrpc"] !== "2.0" || typeof message["method"] !== "string")
    return undefined;
  const { id } = message;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

/** The revision that an answer to `initialize` chooses. */
export function chosenRevision(handshake: RawExchange, otherwise: string): string {
  const chosen = resultOf(handshake)?.["protocolVersion"];
  return typeof chosen === "string" ? chosen : otherwise;
}

export function textOf(message: Sent): string {
  if (typeof message === "string") return message;
  return message instanceof Uint8Array ? Buffer.from(message).toString("utf8") : JSON.stringify(message);
}
