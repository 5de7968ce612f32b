/** What every rule may use of the server that is audited. */
import type { Target } from "../target.js";
import type { Catalogue } from "./catalogue.js";
import type { Child } from "./wire/child.js";
import type { RawExchange, RawOptions } from "./wire/raw.js";

/** `modern`: from 2026-07-28 on, no handshake. `legacy`: what begins with `initialize` (basic/versioning, Terminology). */
export type Era = "modern" | "legacy";

/** A JSON object, members in the order of the text. */
export type Members = Readonly<Record<string, unknown>>;

/** What a server says of itself in one era: its answer to `server/discover`, or to `initialize`. */
export interface Speaking {
  readonly era: Era;
  /** The revision that is spoken with it. */
  readonly revision: string;
  readonly opening: RawExchange;
  /** Whether `opening` is the answer to `server/discover` of a modern server. */
  readonly discovered: boolean;
  /** The result; empty where a modern server refused the probe. */
  readonly result: Members;
  readonly capabilities: Members;
  readonly instructions: unknown;
}

export interface Audited {
  readonly target: Target;
  /** Which binding it is. */
  readonly binding: "stdio" | "http";
  /** The era that `request`, `call` and `catalogue` speak: modern wherever the server speaks it. */
  readonly era: Era;
  readonly speaking: Speaking;
  /** Undefined where it does not speak that era. A server may speak both. */
  readonly modern: Speaking | undefined;
  readonly legacy: Speaking | undefined;
  /** Whether it let nobody in (401), so that only rules that are `unsigned` can run. */
  readonly isLocked: boolean;
  /** Read once, by the pages. */
  readonly catalogue: Catalogue;
  /** Tokens given by name (`--token NAME=VALUE`), for the authorization ladder. */
  readonly tokens: ReadonlyMap<string, string>;
  /** Aborts when the time of the rule is over. */
  readonly signal: AbortSignal;
  /** Milliseconds to wait for one answer. */
  readonly answerMs: number;

  /** A well-formed request in `era`, with a fresh id, and `_meta` where the era has it. */
  message(method: string, params?: Members, era?: Era): Request;
  /** A well-formed request in the era of `speaking`. */
  request(method: string, params?: Members): Promise<RawExchange>;
  /** Whether `call` may call this tool: annotated read-only, or allowed by name. */
  mayCall(tool: string): boolean;
  /** Calls a tool. @throws Inapplicable where it may not be called. */
  call(tool: string, args?: Members): Promise<RawExchange>;
  /**
   * One exchange at wire level: an HTTP request, or a line and what comes of it, over a connection on which the
   * handshake of `era` is done. Objects are written as JSON, text and bytes go as they are. Headers are set over the
   * standard ones, by any case; undefined takes one away.
   *
   * @throws Inapplicable where it would call a tool that may not be called.
   */
  raw(
    message: Members | string | Uint8Array,
    headers?: Readonly<Record<string, string | undefined>>,
    options?: RawOptions,
  ): Promise<RawExchange>;
  /** The headers that go with a message, those that the target was given included. */
  headersOf(message: unknown, era?: Era): Record<string, string>;
  /** A fresh process, nothing sent. It is ended when the rule is over. @throws Inapplicable for a URL. */
  spawn(): Child;
  /** A fresh process that has been spoken to in `era`: discovered, or through the handshake. */
  spawnSpoken(era?: Era): Promise<Child>;
  /** What several rules look at is made once. */
  once<T>(key: string, make: () => Promise<T>): Promise<T>;
}

/** A request, ready to be written. */
export interface Request extends Members {
  readonly jsonrpc: "2.0";
  readonly id: number | string;
  readonly method: string;
  readonly params?: Members;
}
