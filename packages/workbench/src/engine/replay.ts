/** Sending a transcript again: the client's side as it was, at the server's own pace, and what is different about the answers. */

import { ALWAYS_IGNORED, carryOver, compareMessages, type Difference, ignoring } from "./compare-messages.js";
import { isObject, readJson } from "./json.js";
import { pause } from "./pause.js";
import { createKeys, isProgress, type Message, readScript, type ScriptStep } from "./replay-script.js";
import { requestMeta } from "./request-meta.js";
import { MASK } from "./secrets.js";
import type { Target } from "./target.js";
import type { Transcript } from "./transcript.js";
import { openWire } from "./wire.js";

export interface ReplaySettings {
  readonly signal: AbortSignal;
  /** Paths of members that may differ. */
  readonly ignore: readonly string[];
  /** Milliseconds for one answer. */
  readonly timeoutMs: number;
}

/** Something that the server said in one session and not, or not like this, in the other. */
export interface ReplayDifference {
  /** `answer to 3`, or a notification like `notifications/message 1`. */
  readonly what: string;
  /** The method that was asked, for an answer. */
  readonly method: string | undefined;
  readonly kind: "different" | "missing" | "unexpected";
  readonly differences: readonly Difference[];
}

export interface Replayed {
  readonly sent: number;
  readonly compared: number;
  readonly differences: readonly ReplayDifference[];
  /** Why it ended before everything was sent. */
  readonly failure: string | undefined;
  /** Whether secrets were masked in what was sent. */
  readonly hasMasked: boolean;
}

/** The id of a request that is none of the transcript. */
const LISTING = "mica replay: tools/list";
const MOST_PAGES = 50;
const LOOK_MS = 10;
/** Milliseconds for what is not waited for: notifications after the last answer. */
const SETTLE_MS = 100;

export async function replay(
  transcript: Transcript,
  target: Target,
  { signal, ignore, timeoutMs }: ReplaySettings,
): Promise<Replayed> {
  const { steps, expected } = readScript(transcript);
  const isIgnored = ignoring([...ALWAYS_IGNORED, ...ignore]);
  const keyOf = createKeys();
  const came = new Map<string, Message>();
  const carried = new Map<string, string>();
  let failure: string | undefined;
  let onListed = (_result: unknown) => {};
  const wire = await openWire(target, {
    signal,
    onEvent(event) {
      if (event.kind === "failed") failure = event.message;
      if (event.kind !== "received") return;
      const message = readJson(event.data ?? "")?.value;
      if (!isObject(message)) return;
      if (message["id"] === LISTING) return onListed(message["result"]);
      const key = keyOf(message);
      came.set(key, message);
      const before = expected.get(key);
      if (before === undefined) return;
      for (const [old, now] of compareMessages(before, message, isIgnored).carried) carried.set(old, now);
    },
  });

  /** Whether everything of these has come, in time. */
  async function have(keys: readonly string[]): Promise<boolean> {
    const until = performance.now() + timeoutMs;
    while (failure === undefined && !signal.aborted && keys.some((key) => !came.has(key))) {
      if (performance.now() > until) return false;
      await pause(LOOK_MS);
    }
    return failure === undefined && !signal.aborted;
  }

  /** Over HTTP, some arguments of a call stand in headers, and only the list of tools tells which. */
  async function learnTools(): Promise<void> {
    let cursor: unknown;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const listed = new Promise<unknown>((resolve) => {
        onListed = resolve;
      });
      const params = {
        ...(cursor !== undefined && { cursor }),
        _meta: requestMeta(),
      };
      const text = JSON.stringify({ jsonrpc: "2.0", id: LISTING, method: "tools/list", params });
      const result = await Promise.race([listed, wire.send(text).then(() => undefined)]);
      cursor = isObject(result) ? result["nextCursor"] : undefined;
      if (typeof cursor !== "string") return;
    }
  }

  let sent = 0;
  let hasMasked = false;
  const asks = (method: string) => steps.some(({ message }) => message?.["method"] === method);
  try {
    if (wire.kind === "http" && asks("tools/call") && !asks("initialize")) await learnTools();
    for (const step of steps) {
      if (!(await have(neededBefore(step, expected)))) break;
      const text = textOf(step, expected, came, carried);
      hasMasked ||= text.includes(`"${MASK}"`);
      const delivery = wire.send(text);
      // A handshake over HTTP makes the session that everything else is part of.
      if (step.message?.["method"] === "initialize" || step.message?.["id"] === undefined) await delivery;
      sent += 1;
    }
    const wanted = [...expected].filter(([, message]) => !isProgress(message)).map(([key]) => key);
    if (sent === steps.length) await have(wanted);
    await pause(SETTLE_MS);
  } finally {
    await wire.close();
  }
  const isWhole = sent === steps.length;
  return {
    sent,
    compared: [...expected.keys()].filter((key) => came.has(key)).length,
    differences: differencesOf(steps, expected, came, isIgnored),
    failure: failure ?? (isWhole ? undefined : "an answer that was recorded did not come in time"),
    hasMasked,
  };
}

/** Progress is not waited for: how often it is reported is a matter of time. */
function neededBefore({ after }: ScriptStep, expected: ReadonlyMap<string, Message>): string[] {
  return after.filter((key) => !isProgress(expected.get(key) ?? {}));
}

function textOf(
  { message, text }: ScriptStep,
  expected: ReadonlyMap<string, Message>,
  came: ReadonlyMap<string, Message>,
  carried: ReadonlyMap<string, string>,
): string {
  if (message === undefined) return text ?? "";
  const now = carryOver(message, carried) as Message;
  if ("method" in message) return JSON.stringify(now);
  // An answer to the server goes by the id that the server's request has this time.
  const [key] = [...expected].find(([, asked]) => "method" in asked && asked["id"] === message["id"]) ?? [];
  const asked = key === undefined ? undefined : came.get(key);
  return JSON.stringify(asked === undefined ? now : { ...now, id: asked["id"] });
}

function differencesOf(
  steps: readonly ScriptStep[],
  expected: ReadonlyMap<string, Message>,
  came: ReadonlyMap<string, Message>,
  isIgnored: (path: string) => boolean,
): ReplayDifference[] {
  const methodOf = ({ id, method }: Message): string | undefined => {
    if (typeof method === "string") return undefined;
    const asked = steps.find(
      ({ message }) => message !== undefined && "method" in message && message["id"] === id,
    );
    return asked?.message?.["method"] as string | undefined;
  };
  const found: ReplayDifference[] = [];
  for (const [what, before] of expected) {
    const now = came.get(what);
    const method = methodOf(before);
    if (now !== undefined) {
      // The id of a request of the server is the server's own matter.
      const mayDiffer = (path: string) => (path === "id" && "method" in before) || isIgnored(path);
      const { differences } = compareMessages(before, now, mayDiffer);
      if (differences.length > 0) found.push({ what, method, kind: "different", differences });
    } else if (!isProgress(before)) found.push({ what, method, kind: "missing", differences: [] });
  }
  for (const [what, now] of came) {
    if (expected.has(what) || isProgress(now)) continue;
    found.push({ what, method: methodOf(now), kind: "unexpected", differences: [] });
  }
  return found;
}
