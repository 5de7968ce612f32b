/** Everything a client can be told: who it is, what it can answer, and every limit with its default. */

import type { LoggingMessageParams, ProgressParams } from "../protocol/features.js";
import { isObject } from "../protocol/jsonrpc.js";
import { checkOptionNames } from "../protocol/option-names.js";
import type { Task } from "../protocol/tasks.js";
import type {
  ClientCapabilities,
  Implementation,
  JSONRPCNotification,
  LoggingLevel,
  MetaObject,
} from "../protocol/types.js";
import { checkHandlers, type InputHandlers } from "./input-handlers.js";
import type { ClientWarning } from "./warnings.js";

export interface ClientLimits {
  /** Milliseconds without an answer or progress after which a request is cancelled. */
  timeoutMs: number;
  /** Milliseconds after which a request is cancelled whatever progress it reports. */
  maxTimeoutMs: number;
  /** Milliseconds of silence after which a server process is asked to `initialize` as well. */
  probeTimeoutMs: number;
  /** Pages that one listing collects. */
  maxPages: number;
  /** Entries that one listing collects. */
  maxEntries: number;
  /** Results kept in the cache; the least recently used goes first. */
  cacheEntries: number;
  /** Characters of JSON kept in the cache. */
  cacheChars: number;
  /** Rounds of questions that one call answers. */
  maxInputRounds: number;
  /** Questions that one round may hold. */
  maxInputRequests: number;
  /** Rounds in which the server asks nothing but to be called again. */
  maxStateRounds: number;
  /** Milliseconds before the second such round; doubles up to `maxStatePauseMs`. */
  statePauseMs: number;
  maxStatePauseMs: number;
  /** Events of a subscription that wait to be taken. */
  maxQueuedEvents: number;
  /** Attempts in a row to reopen a subscription whose stream was lost. */
  reopenAttempts: number;
  /** Milliseconds between two polls of a task whose server does not say. */
  taskPollMs: number;
  /** The least, whatever the server says. */
  minTaskPollMs: number;
  /** Milliseconds before the first attempt; doubles up to `maxReopenDelayMs`, less a random part of up to half. */
  reopenDelayMs: number;
  maxReopenDelayMs: number;
}

export const DEFAULT_CLIENT_LIMITS: Readonly<ClientLimits> = {
  /** Long enough for a tool that calls a slow service, short enough that a person notices. */
  timeoutMs: 60_000,
  maxTimeoutMs: 600_000,
  /** Some servers of earlier revisions ignore what comes before a handshake. An answer that comes later still counts. */
  probeTimeoutMs: 2_000,
  /** Cursors are opaque, so that only a bound can end a list that never ends. */
  maxPages: 1_000,
  maxEntries: 100_000,
  cacheEntries: 256,
  /** Some 16 to 32 MB of memory. */
  cacheChars: 16_777_216,
  maxInputRounds: 10,
  maxInputRequests: 32,
  /** With the pauses below: about eight minutes, for an interaction in a browser. */
  maxStateRounds: 100,
  statePauseMs: 100,
  maxStatePauseMs: 5_000,
  maxQueuedEvents: 1_024,
  reopenAttempts: 10,
  taskPollMs: 1_000,
  minTaskPollMs: 20,
  reopenDelayMs: 250,
  maxReopenDelayMs: 30_000,
};

export interface ClientOptions extends Implementation, InputHandlers {
  /** Further capabilities to declare; those of the handlers are declared by themselves. */
  capabilities?: Pick<ClientCapabilities, "experimental" | "extensions">;
  /**
   * Declares the tasks extension (SEP-2663): servers may then answer a call of a tool with a task, which `callTool`
   * drives to its end. Default false.
   */
  tasks?: boolean;
  /** Told of things that were left out, unchecked or cut short. Default: `console.warn`. */
  onWarning?: (warning: ClientWarning) => void;
  /** Receives the log messages of every request; asks for them at `logLevel`. */
  onLog?: (message: LoggingMessageParams) => void;
  /** Least severity asked for. Default: `info` where there is an `onLog`, otherwise none is asked for. */
  logLevel?: LoggingLevel;
  /** Whether structured results are checked against the tool's output schema, where it is known. Default true. */
  validateOutput?: boolean;
  /** Whether results are cached for as long as the server allows. Default true. */
  cache?: boolean;
  /**
   * What to speak: what the server turns out to speak (`auto`), 2026-07-28 only (`modern`), or an earlier revision
   * without asking first (`legacy`). Default `auto`.
   */
  era?: "auto" | "modern" | "legacy";
  /** Overrides of {@link DEFAULT_CLIENT_LIMITS}. */
  limits?: Partial<ClientLimits>;
  /** Gives up connecting. Once connected it does nothing. */
  signal?: AbortSignal;
  /** Milliseconds since some epoch, for the age of cached results. Default `Date.now`. */
  now?: () => number;
}

/** `auth` is read where the connection is opened (`ConnectOptions`). */
const CLIENT_OPTIONS = {
  name: true,
  version: true,
  title: true,
  description: true,
  websiteUrl: true,
  icons: true,
  capabilities: true,
  onElicit: true,
  onElicitUrl: true,
  onSample: true,
  sampling: true,
  roots: true,
  elicitDefaults: true,
  tasks: true,
  onWarning: true,
  onLog: true,
  logLevel: true,
  validateOutput: true,
  cache: true,
  era: true,
  limits: true,
  signal: true,
  now: true,
  auth: true,
} as const satisfies Record<keyof ClientOptions | "auth", true>;

/** What one call can be told. */
export interface CallOptions {
  /** Cancels the request; the call rejects with `McpError` `aborted`. */
  signal?: AbortSignal | undefined;
  /** Milliseconds; default 60,000. Time in which a person answers a question does not count. */
  timeoutMs?: number | undefined;
  /**
   * Milliseconds; default 600,000, or `timeoutMs` where that is longer. A call that became a task takes as long as that
   * takes, unless this is given.
   */
  maxTimeoutMs?: number | undefined;
  /** Asks for progress, which also restarts the timeout. */
  onProgress?: ((progress: ProgressParams) => void) | undefined;
  /** Asks for this request's log messages. */
  onLog?: ((message: LoggingMessageParams) => void) | undefined;
  logLevel?: LoggingLevel | undefined;
  /** Sees every notification of this request, as it came. */
  onNotification?: ((notification: JSONRPCNotification) => void) | undefined;
  /**
   * Sees the task that a call became: first its handle, whose `taskId` another process can wait for
   * (`client.tasks.wait`), then every change.
   */
  onTask?: ((task: Task) => void) | undefined;
  /** Added to the request's `_meta`, trace context for example. Keys that the client sets itself win. */
  _meta?: MetaObject | undefined;
}

export interface CachedCallOptions extends CallOptions {
  /** Asks the server even where the cache has a fresh answer. Default false. */
  fresh?: boolean | undefined;
}

/** Checks what was given. @throws TypeError naming the option. */
export function readOptions(options: ClientOptions): { identity: Implementation; limits: ClientLimits } {
  const identity = readIdentity(options);
  checkOptionNames(options, CLIENT_OPTIONS, "options");
  checkHandlers(options);
  const { tasks }: { tasks?: unknown } = options;
  if (tasks !== undefined && typeof tasks !== "boolean") {
    throw new TypeError(`options.tasks: expected a boolean, got ${JSON.stringify(tasks)}`);
  }
  for (const name of ["onWarning", "onLog", "now"] as const) {
    const callback: unknown = options[name];
    if (callback !== undefined && typeof callback !== "function") {
      throw new TypeError(`options.${name}: expected a function, got ${JSON.stringify(callback)}`);
    }
  }
  const { era }: { era?: unknown } = options;
  if (era !== undefined && era !== "auto" && era !== "modern" && era !== "legacy") {
    throw new TypeError(`options.era: expected "auto", "modern" or "legacy", got ${JSON.stringify(era)}`);
  }
  return { identity, limits: readLimits(options.limits) };
}

function readLimits(overrides: Partial<ClientLimits> | undefined): ClientLimits {
  const limits: ClientLimits = { ...DEFAULT_CLIENT_LIMITS };
  for (const [name, value] of Object.entries(overrides ?? {})) {
    if (!Object.hasOwn(limits, name)) throw new TypeError(`limits.${name}: there is no such limit`);
    if (value !== undefined) limits[name as keyof ClientLimits] = checkAmount(`limits.${name}`, value);
  }
  return limits;
}

function readIdentity(options: ClientOptions): Implementation {
  if (!isObject(options)) throw new TypeError("options: expected an object with name and version");
  const { name, version, title, description, websiteUrl, icons } = options;
  for (const [key, value] of Object.entries({ name, version })) {
    if (typeof value !== "string" || value === "") {
      throw new TypeError(`options.${key}: expected a non-empty string, got ${JSON.stringify(value)}`);
    }
  }
  const optional = { title, description, websiteUrl, icons };
  const given = Object.entries(optional).filter(([, value]) => value !== undefined);
  return { name, version, ...Object.fromEntries(given) };
}

/** @throws TypeError naming the option, where it is not a number from 0. */
export function checkAmount(name: string, value: unknown): number {
  if (typeof value !== "number" || Number.isNaN(value) || value < 0) {
    throw new TypeError(`${name}: expected a number from 0, got ${JSON.stringify(value)}`);
  }
  return value;
}
