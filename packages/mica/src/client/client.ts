/** The client: every verb of the protocol over one transport. */
import type {
  CallToolResult,
  CompleteResult,
  CompletionReference,
  GetPromptResult,
  ReadResourceResult,
  SubscriptionFilter,
} from "../protocol/features.js";
import { isObject } from "../protocol/jsonrpc.js";
import type { DiscoverResult, Implementation, Result, ServerCapabilities } from "../protocol/types.js";
import type { ClientTransport } from "../transport.js";
import { openConnection } from "./connection.js";
import { shown } from "./exchange.js";
import type { EraReport, Fallback } from "./fallback.js";
import {
  type Collected,
  type ListOptions,
  PROMPTS,
  type PromptListing,
  RESOURCE_TEMPLATES,
  RESOURCES,
  type ResourceListing,
  type ResourceTemplateListing,
  TOOLS,
  type ToolListing,
} from "./lists.js";
import type { CachedCallOptions, CallOptions, ClientOptions } from "./options.js";
import type { ListenOptions, Subscription } from "./subscriptions.js";
import type { ClientTasks } from "./tasks.js";

export interface RequestOptions extends CallOptions {
  /**
   * Whether questions of the server are answered, and tasks waited for. With false, an `input_required` result or a
   * task is returned. Default true.
   */
  fulfil?: boolean | undefined;
}

/**
 * A connection to one server. Calls may run at the same time. Each rejects with an `McpError`: `protocol_error`
 * where the server refused (its `cause` has the numeric code), `timeout`, `aborted`, `connection_lost` and so on.
 */
export interface Client extends AsyncDisposable {
  /** The protocol revision in use. */
  readonly protocolVersion: string;
  /** How the revision was found. */
  readonly era: EraReport;
  /** Name and version as the server gives them: for display, never for decisions. */
  readonly serverInfo: Implementation | undefined;
  readonly serverCapabilities: ServerCapabilities;
  /** How to use the server, in words meant for a model. */
  readonly instructions: string | undefined;

  discover(options?: CachedCallOptions): Promise<DiscoverResult>;
  /**
   * All tools, or with `cursor` one page. Tools with an invalid definition are in `leftOut`.
   *
   * @example const { tools, complete } = await client.listTools();
   */
  listTools(options?: ListOptions): Promise<ToolListing>;
  listResources(options?: ListOptions): Promise<ResourceListing>;
  listResourceTemplates(options?: ListOptions): Promise<ResourceTemplateListing>;
  listPrompts(options?: ListOptions): Promise<PromptListing>;
  /**
   * Calls a tool, answering what it asks on the way. A failure of the tool is a result with `isError`.
   *
   * @example const result = await client.callTool("search", { query: "leaks" }, { timeoutMs: 5_000 });
   */
  callTool(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<CallToolResult>;
  /** A resource that does not exist is refused with -32602, by servers of earlier revisions with -32002. */
  readResource(uri: string, options?: CachedCallOptions): Promise<ReadResourceResult>;
  getPrompt(name: string, args?: Record<string, string>, options?: CallOptions): Promise<GetPromptResult>;
  /**
   * Suggestions for an argument of a prompt or resource template; `context` holds arguments that are settled.
   *
   * @example client.complete({ type: "ref/prompt", name: "review" }, { name: "language", value: "py" });
   */
  complete(
    ref: CompletionReference,
    argument: { name: string; value: string },
    context?: Record<string, string>,
    options?: CallOptions,
  ): Promise<CompleteResult>;
  /**
   * Listens for changes, which also keep the cache of this client right.
   *
   * @example for await (const event of client.listen({ toolsListChanged: true })) console.log(event.type);
   */
  listen(filter: SubscriptionFilter, options?: ListenOptions): Subscription;
  /** Tasks that calls of tools became (SEP-2663). Needs the option `tasks`. */
  readonly tasks: ClientTasks;
  /** Any request: neither cached nor checked beyond its result's type. */
  request(method: string, params?: Record<string, unknown>, options?: RequestOptions): Promise<Result>;
  /** Ends all calls and subscriptions, then the connection. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Makes a client of a transport, which from then on belongs to it. Asks `server/discover` first.
 *
 * @param fallback Speaks to a server of an earlier revision; without it such a server is refused.
 * @throws McpError `unsupported_version` where the server speaks no revision in common; whatever else keeps
 *   the server from answering. The transport is closed then.
 * @throws TypeError naming the option that is wrong.
 * @example const client = await createClient(transport, { name: "example", version: "1.0.0" });
 */
export async function createClient(
  transport: ClientTransport,
  options: ClientOptions,
  fallback?: Fallback,
): Promise<Client> {
  const connection = await openConnection(transport, options, fallback).catch(async (error: unknown) => {
    await transport.close().catch(() => {});
    throw error;
  });
  const { perform, list } = connection;
  const validateOutput = options.validateOutput ?? true;
  const driver = async (taskId: string) => {
    checkString("taskId", taskId);
    return connection.taskDriver();
  };

  return {
    get protocolVersion() {
      return connection.protocolVersion;
    },
    era: connection.era,
    get serverInfo() {
      return connection.serverInfo;
    },
    get serverCapabilities() {
      return connection.discovered.capabilities;
    },
    get instructions() {
      return connection.discovered.instructions;
    },
    discover: async (call = {}) => (await perform("server/discover", {}, call)) as DiscoverResult,
    listTools: async (call = {}) => listing("tools", await list(TOOLS, call)) as ToolListing,
    listResources: async (call = {}) => listing("resources", await list(RESOURCES, call)) as ResourceListing,
    listResourceTemplates: async (call = {}) =>
      listing("resourceTemplates", await list(RESOURCE_TEMPLATES, call)) as ResourceTemplateListing,
    listPrompts: async (call = {}) => listing("prompts", await list(PROMPTS, call)) as PromptListing,
    async callTool(name, args = {}, call = {}) {
      checkString("name", name);
      checkObject("args", args);
      const result = (await perform("tools/call", { name, arguments: args }, call)) as CallToolResult;
      const checking = validateOutput ? connection.tools.checkOutput(name, result, call.signal) : undefined;
      if (checking !== undefined) await checking;
      return result;
    },
    async readResource(uri, call = {}) {
      checkString("uri", uri);
      return (await perform("resources/read", { uri }, call)) as ReadResourceResult;
    },
    async getPrompt(name, args, call = {}) {
      checkString("name", name);
      if (args !== undefined) checkStrings("args", args);
      const params = args === undefined ? { name } : { name, arguments: args };
      return (await perform("prompts/get", params, call)) as GetPromptResult;
    },
    async complete(ref, argument, context, call = {}) {
      checkObject("ref", ref);
      checkStrings("argument", argument);
      if (context !== undefined) checkStrings("context", context);
      const params =
        context === undefined ? { ref, argument } : { ref, argument, context: { arguments: context } };
      return (await perform("completion/complete", params, call)) as CompleteResult;
    },
    listen: (filter, call = {}) => connection.listen(filter, call),
    tasks: {
      get: async (taskId, call) => (await driver(taskId)).get(taskId, call),
      async update(taskId, inputResponses, call) {
        checkObject("inputResponses", inputResponses);
        await (await driver(taskId)).update(taskId, inputResponses, call);
      },
      cancel: async (taskId, call) => (await driver(taskId)).cancel(taskId, call),
      wait: async (taskId, call) => (await driver(taskId)).wait(taskId, call),
    },
    async request(method, params = {}, { fulfil = true, ...call } = {}) {
      checkString("method", method);
      checkObject("params", params);
      return connection.raw(method, params, call, fulfil);
    },
    close: connection.close,
    [Symbol.asyncDispose]: connection.close,
  };
}

function listing(member: string, { entries, ...outcome }: Collected): unknown {
  return { [member]: entries, ...outcome };
}

function checkString(name: string, value: unknown): void {
  if (typeof value !== "string") throw new TypeError(`${name}: expected a string, got ${shown(value)}`);
}

function checkObject(name: string, value: unknown): void {
  if (!isObject(value)) throw new TypeError(`${name}: expected an object, got ${shown(value)}`);
}

function checkStrings(name: string, value: unknown): void {
  checkObject(name, value);
  for (const [key, inner] of Object.entries(value as object)) checkString(`${name}.${key}`, inner);
}
