/** A connection to a server that is spoken to in one era, message by message. */
import { isObject } from "../../json.js";
import type { CommandTarget, UrlTarget } from "../../target.js";
import type { Era, Members } from "../audited.js";
import { type Child, startChild } from "./child.js";
import {
  INITIALIZED,
  initializeRequest,
  LEGACY_REVISION,
  MODERN_REVISION,
  requestOf,
  standardHeaders,
} from "./envelope.js";
import { sendHttp } from "./http.js";
import { isResponse, messagesIn, type RawExchange, type RawOptions, responseIn, resultOf } from "./raw.js";

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

/** Milliseconds after the answer to a later request in which what was to come must have come. */
const SETTLE_MS = 150;

/** What a message is as JSON; undefined where it is none. */
export function readMessage(message: Sent): unknown {
  if (!(message instanceof Uint8Array) && typeof message !== "string") return message;
  try {
    return JSON.parse(typeof message === "string" ? message : Buffer.from(message).toString("utf8"));
  } catch {
    return undefined;
  }
}

function idOf(message: unknown): string | number | undefined {
  if (!isObject(message) || message["jsonrpc"] !== "2.0" || typeof message["method"] !== "string")
    return undefined;
  const { id } = message;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

/** Over the standard streams of a process, which is started again where it has gone. */
export function stdioLink(target: CommandTarget, era: Era, signal: AbortSignal, answerMs: number): Link {
  let child: Child | undefined;
  let opened = false;
  let handshake: RawExchange | undefined;
  let ids = 0;

  async function running(): Promise<Child> {
    if (child === undefined || child.exit !== undefined) {
      await child?.kill();
      child = startChild(target);
      opened = false;
    }
    return child;
  }

  async function exchange(on: Child, message: Sent, { timeoutMs, answerMs }: Sending): Promise<RawExchange> {
    const sent = textOf(message);
    const before = on.lines().length;
    const id = idOf(readMessage(message));
    const texts = () =>
      on
        .lines()
        .slice(before)
        .map(({ text }) => text);
    on.write(typeof message === "string" || message instanceof Uint8Array ? withNewline(message) : message);
    let ended: RawExchange["ended"];
    let sentinel: number | undefined;
    if (id === undefined) {
      sentinel = link.nextId();
      const asked = await on.ask(requestOf(sentinel, pingOf(era), {}, link), timeoutMs ?? answerMs);
      if (asked === undefined) ended = on.exit ? "closed" : "timeout";
      else await pause(SETTLE_MS);
    } else {
      const come = await on.until(
        () => responseIn(messagesIn(texts()), id) ?? (on.exit ? "closed" : undefined),
        timeoutMs ?? answerMs,
      );
      if (come === "closed") await pause(SETTLE_MS);
      if (come === undefined) ended = "timeout";
      else if (come === "closed") ended = "closed";
    }
    const own = texts().filter((text) => !isAnswerTo(text, sentinel));
    const messages = messagesIn(own);
    return { sent, texts: own, messages, response: responseIn(messages, id), ended, http: undefined };
  }

  const link: Link = {
    era,
    revision: era === "modern" ? MODERN_REVISION : LEGACY_REVISION,
    get handshake() {
      return handshake;
    },
    nextId: () => ++ids,
    async open() {
      const on = await running();
      if (era === "modern" || opened) return handshake;
      opened = true;
      handshake = await exchange(on, initializeRequest(link.nextId()), { signal, answerMs });
      link.revision = chosenRevision(handshake, link.revision);
      on.write(INITIALIZED);
      return handshake;
    },
    async send(message, _headers, options) {
      options.signal.throwIfAborted();
      await link.open();
      return exchange(await running(), message, options);
    },
    headersOf: () => ({}),
    close: async () => child?.kill(),
  };
  return link;
}

export interface HttpLinkOptions {
  /** Headers for every request: those of the target, and credentials. */
  readonly always: () => Promise<Readonly<Record<string, string>>>;
  readonly tools: () => readonly Members[];
}

/** Over HTTP, with the session that an earlier revision may have. */
export function httpLink(
  target: UrlTarget,
  era: Era,
  signal: AbortSignal,
  answerMs: number,
  { always, tools }: HttpLinkOptions,
): Link {
  let handshake: RawExchange | undefined;
  let session: string | undefined;
  let ids = 0;

  async function exchange(message: Sent, headers: Headers, options: Sending): Promise<RawExchange> {
    const sent = textOf(message);
    const id = idOf(readMessage(message));
    const { method = "POST", url = target.url, timeoutMs, answerMs, isEnough, headOnly } = options;
    const body = method === "POST" || sent !== "" ? bytesOf(message) : undefined;
    const received = await sendHttp({
      url,
      method,
      headers: over({ ...link.headersOf(readMessage(message)), ...(await always()) }, headers),
      body,
      timeoutMs: timeoutMs ?? answerMs,
      signal: options.signal,
      headOnly: headOnly ?? false,
      isEnough:
        isEnough ??
        ((data) => id !== undefined && messagesIn(data).some((one) => one["id"] === id && isResponse(one))),
    });
    const { texts, ended, ...http } = received;
    const messages = messagesIn(texts);
    return { sent, texts, messages, response: responseIn(messages, id), ended, http };
  }

  const link: Link = {
    era,
    revision: era === "modern" ? MODERN_REVISION : LEGACY_REVISION,
    get handshake() {
      return handshake;
    },
    nextId: () => ++ids,
    async open() {
      if (era === "modern" || handshake !== undefined) return handshake;
      handshake = await exchange(initializeRequest(link.nextId()), {}, { signal, answerMs });
      link.revision = chosenRevision(handshake, link.revision);
      session = handshake.http?.headers["mcp-session-id"];
      if (resultOf(handshake)) await exchange(INITIALIZED, {}, { signal, answerMs });
      return handshake;
    },
    async send(message, headers, options) {
      await link.open();
      return exchange(message, headers, options);
    },
    headersOf: (message) =>
      standardHeaders(message, { era, revision: link.revision, session, tools: tools() }),
    async close() {
      if (session === undefined) return;
      // "Clients that no longer need a particular session SHOULD send an HTTP DELETE" (2025-11-25, basic/transports).
      await exchange("", {}, { signal: AbortSignal.timeout(2_000), answerMs, method: "DELETE" }).catch(
        () => {},
      );
    },
  };
  return link;
}

/** `given` over `base`, whatever the case of their names. */
function over(base: Readonly<Record<string, string>>, given: Headers): Record<string, string> {
  const names = new Set(Object.keys(given).map((name) => name.toLowerCase()));
  const kept = Object.entries(base).filter(([name]) => !names.has(name.toLowerCase()));
  const set = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries([...kept, ...set]);
}

function chosenRevision(handshake: RawExchange, otherwise: string): string {
  const chosen = resultOf(handshake)?.["protocolVersion"];
  return typeof chosen === "string" ? chosen : otherwise;
}

/** A request that any server of the era answers. */
function pingOf(era: Era): string {
  return era === "modern" ? "server/discover" : "ping";
}

function isAnswerTo(text: string, id: number | undefined): boolean {
  return id !== undefined && messagesIn([text]).some((message) => message["id"] === id);
}

function bytesOf(message: Sent): Uint8Array {
  return message instanceof Uint8Array ? message : Buffer.from(textOf(message), "utf8");
}

function textOf(message: Sent): string {
  if (typeof message === "string") return message;
  return message instanceof Uint8Array ? Buffer.from(message).toString("utf8") : JSON.stringify(message);
}

function withNewline(message: string | Uint8Array): string | Uint8Array {
  if (typeof message === "string") return message.endsWith("\n") ? message : `${message}\n`;
  return message.at(-1) === 0x0a ? message : Buffer.concat([message, Buffer.from("\n")]);
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
