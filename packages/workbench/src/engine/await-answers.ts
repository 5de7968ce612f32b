/** When the next message may be sent: once that before it is answered, or nothing will come. */
import { isObject, readJson } from "./json.js";
import type { WireEvent } from "./wire.js";

/** Milliseconds that a server gets to say something to a text that asks for no answer. */
const SETTLE_MS = 300;

export interface AnswerWaiter {
  /** To be told of everything on the wire. */
  readonly observe: (event: WireEvent) => void;
  /**
   * Resolves when the text that was sent is answered, when the server asks something first, or when `delivery`
   * has ended: false where none of this happened in time.
   */
  settled(text: string, delivery: Promise<boolean>, timeoutMs: number): Promise<boolean>;
  /** Ids of requests that are not answered. Subscriptions are not counted: they stay open. */
  readonly unanswered: readonly unknown[];
}

export function createAnswerWaiter(): AnswerWaiter {
  const pending = new Map<string, unknown>();
  const listeners = new Set<(message: Readonly<Record<string, unknown>> | undefined) => void>();
  let isGone = false;

  const tell = (message: Readonly<Record<string, unknown>> | undefined) => {
    for (const listener of [...listeners]) listener(message);
  };

  return {
    get unanswered() {
      return [...pending.values()];
    },
    observe(event) {
      if (event.kind === "failed") {
        isGone = true;
        tell(undefined);
      } else if (event.kind === "received") {
        const message = readJson(event.data ?? "")?.value;
        if (isObject(message) && !("method" in message)) pending.delete(keyOf(message["id"]));
        tell(isObject(message) ? message : {});
      }
    },
    settled(text, delivery, timeoutMs) {
      const message = readJson(text)?.value;
      const id = isObject(message) && typeof message["method"] === "string" ? message["id"] : undefined;
      const isNotification = isObject(message) && typeof message["method"] === "string" && id === undefined;
      const isListening = isObject(message) && message["method"] === "subscriptions/listen";
      if (id !== undefined && !isListening) pending.set(keyOf(id), id);
      return new Promise((resolve) => {
        const done = (inTime: boolean) => {
          clearTimeout(timer);
          listeners.delete(listener);
          resolve(inTime);
        };
        const listener = (seen: Readonly<Record<string, unknown>> | undefined) => {
          const isAsked = seen !== undefined && "method" in seen && "id" in seen;
          const isAnswer = id === undefined || (seen !== undefined && keyOf(seen["id"]) === keyOf(id));
          if (seen === undefined || isAsked || isListening || isAnswer) done(true);
        };
        const timer = setTimeout(() => done(id === undefined), id === undefined ? SETTLE_MS : timeoutMs);
        listeners.add(listener);
        void delivery.then((delivered) => {
          // Over lines, delivery says nothing of an answer; over HTTP it is the end of it.
          if (!delivered || isNotification || isGone) done(true);
        });
      });
    },
  };
}

function keyOf(id: unknown): string {
  return JSON.stringify(id) ?? "";
}
