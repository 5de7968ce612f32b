/** A connection over HTTP, with the session that an earlier revision may have. */

import { LEGACY_REVISION, MODERN_REVISION } from "../../request-meta.js";
import type { UrlTarget } from "../../target.js";
import type { Era, Members } from "../audited.js";
import { INITIALIZED, initializeRequest, standardHeaders } from "./envelope.js";
import { sendHttp } from "./http.js";
import {
  chosenRevision,
  type Headers,
  idOf,
  type Link,
  readMessage,
  type Sending,
  type Sent,
  textOf,
} from "./link.js";
import { isResponse, messagesIn, type RawExchange, responseIn, resultOf } from "./raw.js";

export interface HttpLinkOptions {
  /** Headers for every request: those of the target, and credentials. */
  readonly always: () => Promise<Readonly<Record<string, string>>>;
  readonly tools: () => readonly Members[];
}

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

function bytesOf(message: Sent): Uint8Array {
  return message instanceof Uint8Array ? message : Buffer.from(textOf(message), "utf8");
}
