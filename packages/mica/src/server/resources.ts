/** Resources and resource templates: registration, lists, and `resources/read` (server/resources). */
import { type BinaryData, toBase64 } from "../protocol/content.js";
import { ErrorCode, ProtocolError } from "../protocol/errors.js";
import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
  Resource,
  ResourceContents,
  ResourceTemplate,
} from "../protocol/features.js";
import type { Annotations, CacheHints, Icon, MetaObject } from "../protocol/types.js";
import { type Catalogue, createCatalogue, type Registration } from "./catalogue.js";
import { type Completer, checkCompleters } from "./completion.js";
import type { InputContext } from "./input-required.js";
import { checkCacheHints } from "./limits.js";
import { parseUriTemplate, type TemplateVariables, type UriTemplate } from "./uri-template.js";

interface ResourceTraits {
  title?: string;
  description?: string;
  mimeType?: string;
  icons?: Icon[];
  annotations?: Annotations;
  _meta?: MetaObject;
  /** Caching hints for what is read; default: stale at once, private. */
  cache?: CacheHints;
}

export interface ResourceDefinition extends ResourceTraits {
  name: string;
  /** Bytes of the raw content, if known. */
  size?: number;
}

export interface ResourceTemplateDefinition extends ResourceTraits {
  name: string;
  /** Suggestions for variables, by name (server/utilities/completion). */
  complete?: Record<string, Completer>;
}

/**
 * Reads a resource. Return a string for text, bytes for a blob, `contents(...)` for anything built by hand, any
 * other value for compact JSON; `undefined` says that there is no such resource.
 */
export type ResourceReader = (ctx: InputContext, uri: string) => unknown;
/** The same for a template: also receives the variables, percent-decoded. */
export type TemplateReader = (variables: TemplateVariables, ctx: InputContext, uri: string) => unknown;

/** One item of {@link contents}: `uri` and `mimeType` default to those of the resource that is read. */
export interface ContentsItem {
  uri?: string;
  mimeType?: string;
  text?: string;
  blob?: BinaryData;
  _meta?: MetaObject;
}

/** What {@link contents} returns. */
export class ResourceOutput {
  readonly items: readonly ContentsItem[];
  readonly cache: CacheHints | undefined;

  constructor(items: readonly ContentsItem[], cache: CacheHints | undefined) {
    this.items = items;
    this.cache = cache;
  }
}

/**
 * Contents built by hand: several items, other URIs, hints for this read alone.
 *
 * @example return contents([{ text: "# Log", mimeType: "text/markdown" }], { ttlMs: 5000, cacheScope: "private" });
 */
export function contents(items: ContentsItem | readonly ContentsItem[], cache?: CacheHints): ResourceOutput {
  return new ResourceOutput(
    Array.isArray(items) ? items : [items as ContentsItem],
    cache && checkCacheHints(cache, "contents"),
  );
}

interface Source {
  readonly mimeType: string | undefined;
  readonly cache: CacheHints | undefined;
}
interface RegisteredResource extends Source {
  readonly resource: Resource;
  readonly read: ResourceReader;
}
interface RegisteredTemplate extends Source {
  readonly listed: ResourceTemplate;
  readonly parsed: UriTemplate;
  readonly read: TemplateReader;
  readonly complete: Record<string, Completer>;
}

/** A URI resolved to whoever reads it. */
export interface FoundResource extends Source {
  read(ctx: InputContext): unknown;
}

export interface Resources {
  add(uri: string, definition: ResourceDefinition, read: ResourceReader): Registration;
  addTemplate(template: string, definition: ResourceTemplateDefinition, read: TemplateReader): Registration;
  readonly resources: Catalogue<RegisteredResource>;
  readonly templates: Catalogue<RegisteredTemplate>;
  /** The exact URI first, then templates in the order they were registered. */
  find(uri: string): FoundResource | undefined;
  read(found: FoundResource, uri: string, ctx: InputContext): Promise<ReadResourceResult>;
}

interface ResourceHints {
  resources: CacheHints;
  resourceTemplates: CacheHints;
  read: CacheHints;
}

export function createResources(
  pageSize: number,
  maxUriLength: number,
  hints: ResourceHints,
  onChange: () => void,
): Resources {
  const resources = createCatalogue<RegisteredResource>(
    "resource",
    pageSize,
    (entries): ListResourcesResult => ({
      resources: entries.map(({ resource }) => resource),
      ...hints.resources,
    }),
    onChange,
  );
  const templates = createCatalogue<RegisteredTemplate>(
    "resource template",
    pageSize,
    (entries): ListResourceTemplatesResult => ({
      resourceTemplates: entries.map(({ listed }) => listed),
      ...hints.resourceTemplates,
    }),
    onChange,
  );

  return {
    resources,
    templates,
    add(uri, definition, read) {
      const what = `resource ${JSON.stringify(uri)}`;
      if (!isUri(uri)) throw new TypeError(`${what}: expected an absolute URI such as calendar://week`);
      const { cache, ...listed } = checkDefinition(definition, read, what);
      return resources.add(uri, { resource: { uri, ...listed }, read, mimeType: definition.mimeType, cache });
    },
    addTemplate(template, definition, read) {
      const what = `resource template ${JSON.stringify(template)}`;
      const { cache, complete = {}, ...listed } = checkDefinition(definition, read, what);
      const parsed = parseUriTemplate(template);
      if (parsed.ambiguity !== undefined) throw new TypeError(`${what} has ${parsed.ambiguity}`);
      checkCompleters(complete, parsed.variables, what);
      const value = {
        listed: { uriTemplate: template, ...listed },
        parsed,
        read,
        complete,
        mimeType: definition.mimeType,
        cache,
      };
      return templates.add(template, value);
    },
    find(uri) {
      const exact = resources.get(uri);
      if (exact !== undefined)
        return { mimeType: exact.mimeType, cache: exact.cache, read: (ctx) => exact.read(ctx, uri) };
      if (uri.length > maxUriLength) return undefined;
      for (const { parsed, read, mimeType, cache } of templates.values()) {
        const variables = parsed.match(uri);
        if (variables !== undefined) return { mimeType, cache, read: (ctx) => read(variables, ctx, uri) };
      }
      return undefined;
    },
    async read(found, uri, ctx) {
      const value = await found.read(ctx);
      if (value === undefined) throw notFound(uri);
      const output = value instanceof ResourceOutput ? value : contents(itemOf(value, found.mimeType));
      return {
        contents: output.items.map((item) => renderItem(item, uri, found.mimeType)),
        ...(output.cache ?? found.cache ?? hints.read),
      };
    },
  };
}

/** "If the requested resource does not exist, servers MUST return a JSON-RPC error with code -32602." */
export function notFound(uri: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, `Resource not found: ${uri}`, { uri });
}

function checkDefinition<T extends ResourceDefinition | ResourceTemplateDefinition>(
  definition: T,
  read: unknown,
  what: string,
): T {
  if (typeof definition.name !== "string" || definition.name === "") {
    throw new TypeError(`${what}: definition.name must be a non-empty string`);
  }
  if (typeof read !== "function")
    throw new TypeError(`${what}: the reader must be a function, got ${typeof read}`);
  if (definition.cache !== undefined) checkCacheHints(definition.cache, what);
  return definition;
}

function itemOf(value: unknown, mimeType: string | undefined): ContentsItem {
  if (typeof value === "string") return { text: value };
  if (value instanceof Uint8Array) return { blob: value };
  if (value instanceof ArrayBuffer) return { blob: new Uint8Array(value) };
  const json = JSON.stringify(value);
  if (json === undefined) throw new TypeError(`the reader returned a ${typeof value}, which has no JSON`);
  return { text: json, mimeType: mimeType ?? "application/json" };
}

function renderItem(item: ContentsItem, uri: string, mimeType: string | undefined): ResourceContents {
  const type = item.mimeType ?? mimeType;
  const base = { uri: item.uri ?? uri, ...(type !== undefined && { mimeType: type }) };
  const meta = item._meta !== undefined && { _meta: item._meta };
  if (item.blob !== undefined) return { ...base, blob: toBase64(item.blob), ...meta };
  if (typeof item.text !== "string") throw new TypeError(`contents of ${uri}: every item needs text or blob`);
  return { ...base, text: item.text, ...meta };
}

function isUri(uri: unknown): uri is string {
  return typeof uri === "string" && /^[A-Za-z][A-Za-z0-9+.-]*:[^\s]*$/.test(uri);
}
