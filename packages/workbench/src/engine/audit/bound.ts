/** What one rule may use of an open server, bound to its time: its processes end with it, and no tool is called that may not be. */
import { isObject } from "../json.js";
import type { Target } from "../target.js";
import type { Audited, Era, Members, Speaking } from "./audited.js";
import type { Catalogue } from "./catalogue.js";
import type { AuditSettings } from "./open.js";
import { Inapplicable } from "./rule.js";
import { type Child, startChild } from "./wire/child.js";
import { INITIALIZED, initializeRequest, requestOf } from "./wire/envelope.js";
import { type Link, readMessage } from "./wire/link.js";

/** Makes what is shared by several rules once; what failed is made again. */
export function sharedMaker(): Audited["once"] {
  const made = new Map<string, Promise<unknown>>();
  return <T>(key: string, make: () => Promise<T>): Promise<T> => {
    const known = made.get(key) as Promise<T> | undefined;
    if (known) return known;
    const making = make();
    made.set(key, making);
    making.catch(() => made.delete(key));
    return making;
  };
}

/** What is known once the server is open. */
export interface Base {
  readonly target: Target;
  readonly settings: AuditSettings;
  readonly links: Readonly<Record<Era, Link>>;
  readonly modern: Speaking | undefined;
  readonly legacy: Speaking | undefined;
  readonly speaking: Speaking;
  readonly isLocked: boolean;
  readonly shared: Audited["once"];
  readonly tools: () => readonly Members[];
}

export interface Bound {
  readonly audited: Audited;
  end(): Promise<void>;
}

/** What one rule may use, and how to end all that it started. */
export function bind(base: Base, catalogue: () => Catalogue, signal: AbortSignal): Bound {
  const { target, settings, links, speaking, tools } = base;
  const { answerMs } = settings;
  const children: Child[] = [];

  const mayCall = (name: string) => {
    if (settings.allowWrites.includes(name)) return true;
    const tool = tools().find((one) => one["name"] === name);
    return isObject(tool?.["annotations"]) && tool["annotations"]["readOnlyHint"] === true;
  };
  /** Unknown names call nothing. */
  const checkCall = (message: unknown) => {
    const calls = Array.isArray(message) ? message : [message];
    for (const one of calls) {
      if (!isObject(one) || one["method"] !== "tools/call" || !isObject(one["params"])) continue;
      const name = one["params"]["name"];
      const exists = tools().some((tool) => tool["name"] === name);
      if (typeof name === "string" && exists && !mayCall(name)) {
        throw new Inapplicable(
          `${name} is not annotated as read-only; --allow-writes ${name} allows to call it`,
        );
      }
    }
  };

  const audited: Audited = {
    target,
    binding: target.kind === "command" ? "stdio" : "http",
    era: speaking.era,
    speaking,
    modern: base.modern,
    legacy: base.legacy,
    isLocked: base.isLocked,
    get catalogue() {
      return catalogue();
    },
    tokens: settings.tokens,
    signal,
    answerMs,
    message(method, params = {}, era = speaking.era) {
      const link = links[era];
      return requestOf(link.nextId(), method, params, link);
    },
    request: (method, params) => audited.raw(audited.message(method, params)),
    mayCall,
    call: (name, args = {}) => audited.request("tools/call", { name, arguments: args }),
    async raw(message, headers = {}, options = {}) {
      checkCall(readMessage(message));
      const link = links[options.era ?? speaking.era];
      return link.send(message, headers, { signal, answerMs, ...options });
    },
    headersOf: (message, era = speaking.era) => links[era].headersOf(message),
    spawn() {
      if (target.kind === "url") throw new Inapplicable("a URL is no process to start");
      const child = startChild(target);
      children.push(child);
      return child;
    },
    async spawnSpoken(era = speaking.era) {
      const child = audited.spawn();
      const opening =
        era === "modern"
          ? requestOf("opening", "server/discover", {}, links.modern)
          : initializeRequest("opening");
      if ((await child.ask(opening, answerMs)) === undefined)
        throw new Error(`a fresh process did not answer ${opening.method}`);
      if (era === "legacy") child.write(INITIALIZED);
      return child;
    },
    once: base.shared,
  };
  const end = async () => {
    await Promise.all(children.splice(0).map((child) => child.kill()));
  };
  return { audited, end };
}
