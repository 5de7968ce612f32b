/** A connection over the standard streams of a process, which is started again where it has gone. */
import { pause } from "../../pause.js";
import { LEGACY_REVISION, MODERN_REVISION } from "../../request-meta.js";
import type { CommandTarget } from "../../target.js";
import type { Era, Members } from "../audited.js";
import { type Child, startChild } from "./child.js";
import { INITIALIZED, initializeRequest, requestOf } from "./envelope.js";
import type { Line } from "./lines.js";
import { chosenRevision, idOf, type Link, readMessage, type Sending, type Sent, textOf } from "./link.js";
import { type RawExchange, responseIn } from "./raw.js";

/** Milliseconds after the answer to a later request in which what was to come must have come. */
const SETTLE_MS = 150;

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
    const come = () => on.lines().slice(before);
    on.write(typeof message === "string" || message instanceof Uint8Array ? withNewline(message) : message);
    let ended: RawExchange["ended"];
    let sentinel: number | undefined;
    if (id === undefined) {
      sentinel = link.nextId();
      const asked = await on.ask(requestOf(sentinel, pingOf(era), {}, link), timeoutMs ?? answerMs);
      if (asked === undefined) ended = on.exit ? "closed" : "timeout";
      else await pause(SETTLE_MS);
    } else {
      const found = await on.until(
        () => responseIn(messagesOf(come()), id) ?? (on.exit ? "closed" : undefined),
        timeoutMs ?? answerMs,
      );
      if (found === "closed") await pause(SETTLE_MS);
      if (found === undefined) ended = "timeout";
      else if (found === "closed") ended = "closed";
    }
    const own = come().filter((line) => !isAnswerTo(line, sentinel));
    const messages = messagesOf(own);
    return {
      sent,
      texts: own.map(({ text }) => text),
      messages,
      response: responseIn(messages, id),
      ended,
      http: undefined,
    };
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

/** A request that any server of the era answers. */
function pingOf(era: Era): string {
  return era === "modern" ? "server/discover" : "ping";
}

function isAnswerTo({ messages }: Line, id: number | undefined): boolean {
  return id !== undefined && messages.some((message) => message["id"] === id);
}

function messagesOf(lines: readonly Line[]): Members[] {
  return lines.flatMap(({ messages }) => messages);
}

function withNewline(message: string | Uint8Array): string | Uint8Array {
  if (typeof message === "string") return message.endsWith("\n") ? message : `${message}\n`;
  return message.at(-1) === 0x0a ? message : Buffer.concat([message, Buffer.from("\n")]);
}
