/** `createServer`: what an author defines, and the seam that a binding drives. */
import { type ChangeBus, type ChangeEvent } from "../bus/bus.js";
import { memoryBus } from "../bus/memory.js";
import { encodeOnce } from "../protocol/jsonrpc.js";
import { MetaKey } from "../protocol/meta.js";
import type { CacheHints, Icon, Implementation, Result, ServerCapabilities } from "../protocol/types.js";
import { PROTOCOL_VERSION } from "../protocol/types.js";
import type { Schema } from "../schema/standard.js";
import type { RequestHandler } from "../transport.js";
import type { Registration } from "./catalogue.js";
import { complete } from "./completion.js";
import { RequestContext } from "./context.js";
import { capabilitiesOf, discover } from "./discover.js";
import { createDispatcher, type MethodHandler } from "./dispatch.js";
import { asProtocolError, logToStderr, type OnError } from "./failure.js";
import { checkCacheHints, DEFAULT_CACHE_HINTS, DEFAULT_LIMITS, type ServerCacheHints, type ServerLimits } from "./limits.js";
import { createPrompts, type PromptDefinition, type PromptHandler } from "./prompts.js";
import { createResources, notFound, type ResourceDefinition, type ResourceReader, type ResourceTemplateDefinition, type TemplateReader } from "./resources.js";
import { createSubscriptions } from "./subscriptions.js";
import { createTools, type ToolDefinition, type ToolHandler } from "./tools.js";

export interface ServerOptions {
  /** Identifies the software, e.g. `calendar`. */
  name: string;
  version: string;
  title?: string;
  description?: string;
  websiteUrl?: string;
  icons?: Icon[];
  /** Guidance for the model on using the server as a whole; costs tokens in every conversation. */
  instructions?: string;
  /** Caching hints by kind of result; each one left out keeps its default ({@link DEFAULT_CACHE_HINTS}). */
  cache?: Partial<ServerCacheHints>;
  /** See {@link DEFAULT_LIMITS}. */
  limits?: Partial<ServerLimits>;
  /** Carries changes between processes; default: this process alone. */
  bus?: ChangeBus;
  /** Receives every failure that was concealed from the caller; default: stderr. */
  onError?: OnError;
}

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
  resourceTemplate(template: string, definition: ResourceTemplateDefinition, read: TemplateReader): Registration;
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
  /** Tells subscribers that the resource at `uri` has changed. */
  resourceUpdated(uri: string): void;
}

/** @example const server = createServer({ name: "calendar", version: "1.0.0" }); */
export function createServer(options: ServerOptions): Server {
  const info = readInfo(options);
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const hints = readCacheHints(options.cache);
  const onError = options.onError ?? logToStderr;
  const bus = options.bus ?? memoryBus();
  const supportedVersions = [PROTOCOL_VERSION];

  let discovered: Result | undefined;
  let capabilities: ServerCapabilities | undefined;
  const changed = (kind: "tools" | "prompts" | "resources") => () => {
    discovered = undefined;
    capabilities = undefined;
    bus.publish({ kind } satisfies ChangeEvent);
  };
  const tools = createTools(limits.pageSize, hints.tools, changed("tools"), onError);
  const prompts = createPrompts(limits.pageSize, hints.prompts, changed("prompts"));
  const resources = createResources(limits.pageSize, limits.maxUriLength, hints, changed("resources"));

  const offered = () => ({
    tools: tools.catalogue.size > 0,
    prompts: prompts.catalogue.size > 0,
    resources: resources.resources.size + resources.templates.size > 0,
    completions: [...prompts.catalogue.values(), ...resources.templates.values()].some(
      ({ complete: completers }) => Object.keys(completers).length > 0,
    ),
  });
  const subscriptions = createSubscriptions(
    bus,
    () => ({ ...offered(), isResource: (uri) => resources.find(uri) !== undefined }),
    limits,
  );

  const handlers = new Map<string, MethodHandler>([
    ["server/discover", () => (discovered ??= encodeOnce(describeServer()))],
    ["tools/list", ({ cursor }) => tools.catalogue.page(cursor)],
    ["tools/call", (params, meta, exchange) => tools.call(tools.find(params), params, new RequestContext(exchange, meta))],
    ["resources/list", ({ cursor }) => resources.resources.page(cursor)],
    ["resources/templates/list", ({ cursor }) => resources.templates.page(cursor)],
    ["resources/read", (params, meta, exchange) => readResource(params["uri"], new RequestContext(exchange, meta))],
    ["prompts/list", ({ cursor }) => prompts.catalogue.page(cursor)],
    ["prompts/get", (params, meta, exchange) => getPrompt(params, new RequestContext(exchange, meta))],
    ["completion/complete", (params, meta, exchange) => complete(params, lookup, new RequestContext(exchange, meta))],
    ["subscriptions/listen", (params, _meta, exchange, { id }) => subscriptions.listen(params, id, exchange)],
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

  async function readResource(uri: unknown, ctx: RequestContext): Promise<Result> {
    if (typeof uri !== "string") throw notFound(String(uri));
    const found = resources.find(uri);
    if (found === undefined) throw notFound(uri);
    try {
      return await resources.read(found, uri, ctx);
    } catch (error) {
      throw asProtocolError(error, `Reading resource ${uri}`, onError);
    }
  }

  async function getPrompt(params: Record<string, unknown>, ctx: RequestContext): Promise<Result> {
    const found = prompts.find(params);
    try {
      return await prompts.get(found, params, ctx);
    } catch (error) {
      throw asProtocolError(error, `Prompt ${JSON.stringify(found.prompt.name)}`, onError);
    }
  }

  return {
    info,
    supportedVersions,
    tool: tools.add,
    resource: resources.add,
    resourceTemplate: resources.addTemplate,
    prompt: prompts.add,
    resourceUpdated: (uri) => bus.publish({ kind: "resource", uri }),
    handle: createDispatcher({
      info,
      supportedVersions,
      handlers,
      capabilities: () => (capabilities ??= capabilitiesOf(offered())),
      onError,
    }),
    mirroredHeaders: (request) => (request.method === "tools/call" ? tools.mirroredHeaders(request.params) : []),
    endSubscriptions: subscriptions.endAll,
  };
}

function readInfo(options: ServerOptions): Implementation {
  const { name, version, title, description, websiteUrl, icons } = options;
  if (typeof name !== "string" || name === "") throw new TypeError("createServer: name must be a non-empty string");
  if (typeof version !== "string" || version === "") throw new TypeError("createServer: version must be a non-empty string");
  return {
    name,
    version,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(websiteUrl !== undefined && { websiteUrl }),
    ...(icons !== undefined && { icons }),
  };
}

function readCacheHints(given: Partial<ServerCacheHints> = {}): ServerCacheHints {
  const hints: Record<string, CacheHints> = { ...DEFAULT_CACHE_HINTS };
  for (const [kind, hint] of Object.entries(given)) {
    if (!Object.hasOwn(DEFAULT_CACHE_HINTS, kind)) {
      throw new TypeError(`createServer: cache.${kind} is unknown; expected ${Object.keys(DEFAULT_CACHE_HINTS).join(", ")}`);
    }
    hints[kind] = checkCacheHints(hint, `createServer: cache.${kind}`);
  }
  return hints as unknown as ServerCacheHints;
}
