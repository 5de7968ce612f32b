/**
 * What all verbs share: one pipeline from a method and its parameters to a judged result. Cache, questions,
 * deadline and transport come in that order.
 */
import { McpError } from "../protocol/errors.js";
import type { SubscriptionFilter } from "../protocol/features.js";
import { isObject } from "../protocol/jsonrpc.js";
import { MetaKey } from "../protocol/meta.js";
import { METHODS } from "../protocol/methods.js";
import { TASKS_EXTENSION } from "../protocol/tasks.js";
import type { ClientCapabilities, DiscoverResult, Implementation, Result } from "../protocol/types.js";
import { headerParams } from "../schema/header-params.js";
import type { ClientTransport } from "../transport.js";
import { cacheKey, createCache } from "./cache.js";
import { closedError, createExchanger, type Send, shown } from "./exchange.js";
import type { EraReport, Fallback } from "./fallback.js";
import { createFulfiller } from "./input.js";
import { capabilitiesOf } from "./input-handlers.js";
import { createInvalidation } from "./invalidation.js";
import { type Collected, collect, type ListKind, type ListOptions, TOOLS } from "./lists.js";
import { type CachedCallOptions, type CallOptions, type ClientOptions, readOptions } from "./options.js";
import { checkShape, resultType } from "./result.js";
import { settleEra } from "./settle-era.js";
import { type ListenOptions, listen, type Subscription } from "./subscriptions.js";
import type { TaskDriver } from "./tasks.js";
import { createKnownTools, type KnownTools } from "./tools.js";
import { warner } from "./warnings.js";

export interface Connection {
  readonly protocolVersion: string;
  readonly era: EraReport;
  /** The last answer to `server/discover`. */
  readonly discovered: DiscoverResult;
  readonly serverInfo: Implementation | undefined;
  readonly tools: KnownTools;
  /** A result of the right shape, from the cache where the method allows it. */
  perform(method: string, params: Record<string, unknown>, options: CachedCallOptions): Promise<Result>;
  /** A result as it came, except that questions are answered where `fulfil` says so. */
  raw(
    method: string,
    params: Record<string, unknown>,
    options: CachedCallOptions,
    fulfil: boolean,
  ): Promise<Result>;
  list(kind: ListKind, options: ListOptions): Promise<Collected>;
  /** Loads what is needed to ask about tasks. */
  taskDriver(): Promise<TaskDriver>;
  listen(filter: SubscriptionFilter, options: ListenOptions): Subscription;
  close(): Promise<void>;
}

/** Most distinct warnings about left-out entries that are remembered, so as not to repeat them. */
const MAX_REMEMBERED_WARNINGS = 1_000;

/** Probes the server behind a transport. On failure the transport stays open: it is the caller's to close. */
export async function openConnection(
  probed: ClientTransport,
  options: ClientOptions,
  fallback: Fallback | undefined,
): Promise<Connection> {
  const { identity, limits } = readOptions(options);
  const warn = warner(options.onWarning);
  const closing = new AbortController();
  const cache = createCache({
    maxEntries: options.cache === false ? 0 : limits.cacheEntries,
    maxChars: limits.cacheChars,
    now: options.now ?? Date.now,
  });
  const clientCapabilities = { ...declared(options), ...capabilitiesOf(options) };
  const fulfiller = createFulfiller({
    handlers: options,
    limits,
    server: () => serverInfo(),
    abandon: (requestState) => transport.abandon?.(requestState),
    closing: closing.signal,
  });

  const settled = await settleEra({
    mode: options.era ?? "auto",
    transport: probed,
    fallback,
    probeTimeoutMs: limits.probeTimeoutMs,
    signal: options.signal,
    greeting: {
      clientInfo: identity,
      clientCapabilities,
      timeoutMs: limits.timeoutMs,
      answer: fulfiller.answer,
    },
    exchangerOf: (over, protocolVersion) =>
      createExchanger({
        transport: over,
        protocolVersion,
        clientInfo: identity,
        clientCapabilities,
        timeoutMs: limits.timeoutMs,
        maxTimeoutMs: limits.maxTimeoutMs,
        onLog: options.onLog,
        logLevel: options.logLevel,
        warn,
      }),
  });
  const { transport, exchanger } = settled;
  let { discovered } = settled;
  cache.expect(cacheKey("server/discover", {}, undefined))(discovered);

  const serverInfo = () => readServerInfo(discovered);
  const toolKind = transport.mirrorsArguments ? withHeaderParams(TOOLS) : TOOLS;
  const tools = createKnownTools({
    mirrors: transport.mirrorsArguments,
    send: exchanger.send,
    list: (fresh) => list(TOOLS, { fresh }),
    warn,
  });
  const warned = new Set<string>();
  let closed: Promise<void> | undefined;

  let driver: Promise<TaskDriver> | undefined;
  const taskDriver = () => {
    const { send } = exchanger;
    const reconnects = transport.reconnects ?? false;
    driver ??= import("./tasks.js").then(({ createTaskDriver }) =>
      createTaskDriver({ send, fulfiller, limits, reconnects, closing: closing.signal, warn }),
    );
    return driver;
  };

  const fulfil = (method: string, params: Record<string, unknown>, call: CachedCallOptions) => {
    const send: Send = method === "tools/call" ? tools.send : exchanger.send;
    return fulfiller.fulfil(send, method, params, call);
  };

  /** Waits for the end of the task that a call was answered with. */
  const finish = async (
    created: Result,
    method: string,
    params: Record<string, unknown>,
    call: CallOptions,
  ) => {
    checkTasksWanted();
    return (await taskDriver()).drive(created, method, params, call);
  };

  /** "A server MUST NOT return `CreateTaskResult` to a client that did not include the extension capability." */
  const checkTasksWanted = () => {
    if (clientCapabilities.extensions?.[TASKS_EXTENSION] !== undefined) return;
    throw new McpError(
      "invalid_response",
      "tools/call: the server answered with a task, which this client did not declare (options.tasks)",
    );
  };

  const perform: Connection["perform"] = async (method, params, call) => {
    if (closed) throw closedError(method);
    const key = METHODS.get(method)?.cacheable ? cacheKey(method, params, call._meta) : undefined;
    const hit = key && !call.fresh ? cache.get(key) : undefined;
    if (hit !== undefined) return hit;
    const keep = key && cache.expect(key);
    const { result: given, retried } = await fulfil(method, params, call);
    const result = given.resultType === "task" ? await finish(given, method, params, call) : given;
    checkShape(method, result);
    if (method === "server/discover") discovered = result as DiscoverResult;
    // "Requests carrying `inputResponses` or `requestState` MUST NOT be cached" (server/utilities/caching).
    if (!retried) keep?.(result);
    return result;
  };

  const list: Connection["list"] = async (given, { cursor, ...call }) => {
    const kind = given === TOOLS ? toolKind : given;
    const collected = await collect(
      kind,
      {
        read: (at, fresh) => perform(kind.method, at === undefined ? {} : { cursor: at }, { ...call, fresh }),
        drop: () => cache.dropMethod(kind.method),
      },
      { cursor, fresh: call.fresh },
      limits,
    );
    for (const { name, reason } of collected.leftOut) {
      const message = `The ${kind.what} ${name === "" ? "without a name" : shown(name)} was left out of ${kind.method}: ${reason}`;
      if (warned.has(message)) continue;
      if (warned.size >= MAX_REMEMBERED_WARNINGS) warned.clear();
      warned.add(message);
      warn("entry_left_out", message);
    }
    if (given === TOOLS) tools.learn(collected, cursor === undefined);
    return collected;
  };

  const { onChange, onGap } = createInvalidation(cache, tools);

  return {
    get protocolVersion() {
      return exchanger.protocolVersion;
    },
    era: settled.report,
    get discovered() {
      return discovered;
    },
    get serverInfo() {
      return serverInfo();
    },
    tools,
    perform,
    async raw(method, params, call, fulfilInput) {
      if (closed) throw closedError(method);
      if (fulfilInput) {
        const { result } = await fulfil(method, params, call);
        return result.resultType === "task" ? finish(result, method, params, call) : result;
      }
      const result = await (method === "tools/call" ? tools.send : exchanger.send)(method, params, call);
      if (resultType(method, result) === "task") checkTasksWanted();
      return result;
    },
    list,
    taskDriver,
    listen(filter, call) {
      if (closed) throw closedError("subscriptions/listen");
      const { send } = exchanger;
      return listen(filter, call, { send, limits, closing: closing.signal, onChange, onGap, warn });
    },
    close() {
      closed ??= (async () => {
        closing.abort(new McpError("closed", "The client was closed"));
        // A call that was aborted a moment ago cancels its task, and that is still on its way.
        if (driver !== undefined) await driver.then(({ told }) => told());
        exchanger.close();
        cache.clear();
        await transport.close();
      })();
      return closed;
    },
  };
}

/** "Extensions are always disabled by default" (extensions/overview): tasks are asked for by name. */
function declared({ capabilities, tasks }: ClientOptions): ClientCapabilities {
  if (!tasks) return { ...capabilities };
  return { ...capabilities, extensions: { [TASKS_EXTENSION]: {}, ...capabilities?.extensions } };
}

/** "The client MUST exclude the invalid tool from the result of `tools/list`" (transports/streamable-http). */
function withHeaderParams(kind: ListKind): ListKind {
  return {
    ...kind,
    problem: (tool) =>
      kind.problem(tool) ?? headerParams(tool["inputSchema"] as Record<string, unknown>).problem,
  };
}

function readServerInfo(discovered: DiscoverResult): Implementation | undefined {
  const info = discovered._meta?.[MetaKey.serverInfo];
  return isObject(info) && typeof info["name"] === "string" ? (info as unknown as Implementation) : undefined;
}
