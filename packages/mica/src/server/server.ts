/** `createServer`: what an author defines, and the seam that a binding drives. */
import type { ChangeEvent } from "../bus/bus.js";
import { memoryBus } from "../bus/memory.js";
import { ErrorCode, ProtocolError } from "../protocol/errors.js";
import { encodeOnce } from "../protocol/jsonrpc.js";
import { MetaKey, type RequestMeta } from "../protocol/meta.js";
import type { Implementation, JSONRPCRequest, Result, ServerCapabilities } from "../protocol/types.js";
import { PROTOCOL_VERSION } from "../protocol/types.js";
import type { Schema } from "../schema/standard.js";
import type { RequestHandler, ServerExchange } from "../transport.js";
import type { AskingContext } from "./asking-context.js";
import type { Background } from "./background.js";
import type { Catalogue, Registration } from "./catalogue.js";
import { complete } from "./completion.js";
import { RequestContext } from "./context.js";
import { capabilitiesOf, discover } from "./discover.js";
import { createDispatcher, type MethodHandler } from "./dispatch.js";
import { asProtocolError, logToStderr } from "./failure.js";
import { type AskingRequest, answerOrAsk } from "./input-required.js";
import { installExtensions } from "./install-extensions.js";
import { privateLists, readCacheHints, readInfo, readLimits, type ServerOptions } from "./options.js";
import { createPrompts, type PromptDefinition, type PromptHandler } from "./prompts.js";
import {
  createResources,
  notFound,
  type ResourceDefinition,
  type ResourceReader,
  type ResourceTemplateDefinition,
  type TemplateReader,
} from "./resources.js";
import { runTool, type ToolTask } from "./run-tool.js";
import { scopesOf } from "./scopes.js";
import { createStateSeal } from "./sealed-state.js";
import { createSubscriptions } from "./subscriptions.js";
import { createTools, type ToolDefinition, type ToolHandler } from "./tools.js";

/** A server: built once, shared by all requests, holding nothing of any of them. */
export interface Server extends RequestHandler {
  readonly info: Implementation;
  /**
   * Adds a tool (server/tools). Subscribers are told when the list changes after start.
   *
   * @throws TypeError naming the tool and the path, where the definition cannot be advertised.
   * @example server.tool("add", { input: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => a + b);
   */
  tool<Input extends Schema | undefined = undefined, Output extends Schema | undefined = undefined>(
    name: string,
    definition: ToolDefinition<Input, Output>,
    handler: ToolHandler<Input, Output>,
  ): Registration;
  /**
   * Adds a resource at a fixed URI (server/resources).
   *
   * @example server.resource("calendar://week", { name: "week" }, () => calendar.thisWeek());
   */
  resource(uri: string, definition: ResourceDefinition, read: ResourceReader): Registration;
  /**
   * Adds resources by URI template (RFC 6570).
   *
   * @example server.resourceTemplate("file:///{path}", { name: "file" }, ({ path }) => readText(path));
   */
  resourceTemplate(
    template: string,
    definition: ResourceTemplateDefinition,
    read: TemplateReader,
  ): Registration;
  /**
   * Adds a prompt (server/prompts).
   *
   * @example server.prompt("review", { input: z.object({ code: z.string() }) }, ({ code }) => `Review:\n${code}`);
   */
  prompt<Input extends Schema | undefined = undefined>(
    name: string,
    definition: PromptDefinition<Input>,
    handler: PromptHandler<Input>,
  ): Registration;
  /**
   * Tells subscribers that the resource at `uri` has changed.
   *
   * @param tenant Whose it is: only its subscribers are told (`tenantOf`). Default: all are.
   */
  resourceUpdated(uri: string, tenant?: string): void;
}

/** @example const server = createServer({ name: "calendar", version: "1.0.0" }); */
export function createServer(options: ServerOptions): Server {
  const info = readInfo(options);
  const limits = readLimits(options.limits);
  const { filterByScope = false } = options;
  const hints = filterByScope ? privateLists(readCacheHints(options.cache)) : readCacheHints(options.cache);
  const onError = options.onError ?? logToStderr;
  const bus = options.bus ?? memoryBus();
  const seal = createStateSeal(options.state);
  const supportedVersions = [PROTOCOL_VERSION];

  let discovered: Result | undefined;
  let capabilities: ServerCapabilities | undefined;
  const changed = (kind: "tools" | "prompts" | "resources") => () => {
    discovered = undefined;
    capabilities = undefined;
    bus.publish({ kind } satisfies ChangeEvent);
  };
  const tools = createTools(limits.pageSize, hints.tools, changed("tools"), onError, () => background);
  const prompts = createPrompts(limits.pageSize, hints.prompts, changed("prompts"));
  const resources = createResources(limits.pageSize, limits.maxUriLength, hints, changed("resources"));

  const offered = () => ({
    tools: tools.catalogue.isOffered,
    prompts: prompts.catalogue.isOffered,
    resources: resources.resources.isOffered || resources.templates.isOffered,
    completions: [...prompts.catalogue.values(), ...resources.templates.values()].some(
      ({ complete: completers }) => Object.keys(completers).length > 0,
    ),
    extensions: extensions?.settings,
  });
  let background: Background | undefined;
  const extensions =
    options.extensions &&
    installExtensions(options.extensions, {
      bus,
      onError,
      pageSize: limits.pageSize,
      resource: resources.add,
      runTool: (run) => runTool(run, tools, onError),
      toolTerms: tools.catalogue.get,
    });
  background = extensions?.background;
  const subscriptions = createSubscriptions(
    bus,
    () => ({ ...offered(), isResource: (uri) => resources.find(uri) !== undefined }),
    limits,
    options.tenantOf,
    extensions?.listen ?? [],
  );

  const list =
    ({ page }: Pick<Catalogue<unknown>, "page">): MethodHandler =>
    ({ cursor }, _meta, { auth }) =>
      page(cursor, filterByScope ? auth?.scopes : undefined);

  const handlers = new Map<string, MethodHandler>([
    ["server/discover", () => (discovered ??= encodeOnce(describeServer()))],
    ["tools/list", list(tools.catalogue)],
    ["tools/call", callTool],
    ["resources/list", list(resources.resources)],
    ["resources/templates/list", list(resources.templates)],
    ["resources/read", readResource],
    ["prompts/list", list(prompts.catalogue)],
    ["prompts/get", getPrompt],
    [
      "completion/complete",
      (params, meta, exchange) => complete(params, lookup, new RequestContext(exchange, meta)),
    ],
    [
      "subscriptions/listen",
      (params, meta, exchange, { id }) => subscriptions.listen(params, meta, exchange, id),
    ],
    ...(extensions?.methods ?? []),
  ]);

  const describeServer = (): Result => ({
    ...discover(supportedVersions, offered(), options.instructions, hints.discover),
    _meta: { [MetaKey.serverInfo]: info },
  });

  const lookup = {
    prompt: (name: string) => prompts.catalogue.get(name),
    template(uriTemplate: string) {
      const found = resources.templates.get(uriTemplate);
      if (found !== undefined) return { names: found.parsed.variables, complete: found.complete };
      return resources.resources.get(uriTemplate) && { names: [], complete: {} };
    },
  };

  const requiredScopes = (request: Pick<JSONRPCRequest, "method" | "params">) =>
    scopesOf(request, { tools, prompts, resources });

  function callTool(
    params: Record<string, unknown>,
    meta: RequestMeta,
    exchange: ServerExchange,
  ): Result | Promise<Result> {
    const found = tools.find(params);
    const request = { params, meta, exchange, method: "tools/call", name: found.tool.name };
    if (found.task !== undefined) return callInBackground(found.task, request);
    return answerOrAsk(request, seal, (ctx) => tools.call(found, params, ctx));
  }

  /** A task, where the client can be given one; it begins with the call, or where the handler says so. */
  function callInBackground(task: ToolTask, request: AskingRequest): Result | Promise<Result> {
    const { params, meta, name, exchange } = request;
    const begin = background!.offer(task, {
      name,
      arguments: params["arguments"],
      meta,
      auth: exchange.auth,
    });
    const atOnce = begin !== undefined && task.begins === "call";
    return answerOrAsk(
      request,
      seal,
      (ctx) => (atOnce ? ctx.beginTask().then(noResult) : tools.call(tools.find(params), params, ctx)),
      { begin },
    );
  }

  function getPrompt(
    params: Record<string, unknown>,
    meta: RequestMeta,
    exchange: ServerExchange,
  ): Result | Promise<Result> {
    const found = prompts.find(params);
    const request = { params, meta, exchange, method: "prompts/get", name: found.prompt.name };
    return asking(request, `Prompt ${JSON.stringify(found.prompt.name)}`, (ctx) =>
      prompts.get(found, params, ctx),
    );
  }

  function readResource(
    params: Record<string, unknown>,
    meta: RequestMeta,
    exchange: ServerExchange,
  ): Result | Promise<Result> {
    const { uri } = params;
    if (typeof uri !== "string")
      throw new ProtocolError(ErrorCode.InvalidParams, "params.uri must be a string");
    const found = resources.find(uri);
    if (found === undefined) throw notFound(uri);
    const request = { params, meta, exchange, method: "resources/read", name: uri };
    return asking(request, `Reading resource ${uri}`, (ctx) => resources.read(found, uri, ctx));
  }

  /** For prompts and resources, whose failures are protocol errors. */
  function asking(
    request: AskingRequest,
    what: string,
    work: (ctx: AskingContext) => Promise<Result>,
  ): Result | Promise<Result> {
    return answerOrAsk(request, seal, async (ctx) => {
      try {
        return await work(ctx);
      } catch (error) {
        throw ctx.isWaiting ? error : asProtocolError(error, what, onError, ctx);
      }
    });
  }

  return {
    info,
    supportedVersions,
    tool: tools.add,
    resource: resources.add,
    resourceTemplate: resources.addTemplate,
    prompt: prompts.add,
    // A bus of the author's own reaches other processes by itself.
    localChanges: options.bus === undefined ? bus : undefined,
    resourceUpdated: (uri, tenant) =>
      bus.publish({ kind: "resource", uri, ...(tenant !== undefined && { tenant }) }),
    handle: createDispatcher({
      info,
      supportedVersions,
      handlers,
      capabilities: () => (capabilities ??= capabilitiesOf(offered())),
      requiredScopes,
      onError,
    }),
    mirroredHeaders: (request) =>
      request.method === "tools/call" ? tools.mirroredHeaders(request.params) : [],
    requiredScopes,
    endSubscriptions() {
      subscriptions.endAll();
      extensions?.end();
    },
  };
}

function noResult(): never {
  throw new Error("a call that begins a task has no result of its own");
}
