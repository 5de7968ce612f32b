/** A transcript as something to do again: what is sent, what must have come before it, what is expected. */
import { isObject } from "./json.js";
import type { Transcript } from "./transcript.js";

export type Message = Readonly<Record<string, unknown>>;

/** What the client said, in order. */
export interface ScriptStep {
  /** The message, or the text where it was none. */
  readonly message: Message | undefined;
  readonly text: string | undefined;
  /** Keys of what had come from the server when it was said. */
  readonly after: readonly string[];
}

export interface Script {
  readonly steps: readonly ScriptStep[];
  /** By key, what the server said. */
  readonly expected: ReadonlyMap<string, Message>;
}

/**
 * Gives a key to everything that a server says, the same in two sessions that go alike: an answer by the id of its
 * request, everything else by its method and how many of it came before.
 */
export function createKeys(): (message: Message) => string {
  const counts = new Map<string, number>();
  return ({ id, method }) => {
    if (typeof method !== "string") return `answer to ${JSON.stringify(id ?? null)}`;
    const count = (counts.get(method) ?? 0) + 1;
    counts.set(method, count);
    return `${method} ${count}`;
  };
}

/** Whether it is a notification of how far something is, whose number depends on time. */
export function isProgress({ method }: Message): boolean {
  return method === "notifications/progress";
}

export function readScript({ lines }: Transcript): Script {
  const keyOf = createKeys();
  const expected = new Map<string, Message>();
  const steps: ScriptStep[] = [];
  for (const { from, message, text } of lines) {
    if (from === "mica") continue;
    const one = isObject(message) ? message : undefined;
    if (from === "client") {
      const said = one === undefined ? (text ?? JSON.stringify(message)) : undefined;
      steps.push({ message: one, text: said, after: [...expected.keys()] });
    } else if (one !== undefined) expected.set(keyOf(one), one);
  }
  return { steps, expected };
}
