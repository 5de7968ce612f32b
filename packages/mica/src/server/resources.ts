/** Resources and resource templates: registration, lists, and `resources/read` (server/resources). */
import { ErrorCode, ProtocolError } from "../protocol/errors.js";
import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
} from "../protocol/features.js";
import { checkScopes } from "../protocol/scopes.js";
import type { Annotations, CacheHints, Icon, MetaObject } from "../protocol/types.js";
import type { InputContext } from "./asking-context.js";
import { type Catalogue, createCatalogue, type Registration } from "./catalogue.js";
import { type Completer, checkCompleters } from "./completion.js";
import { checkKeys } from "./definition.js";
import { checkCacheHints } from "./limits.js";
import { renderContents } from "./resource-contents.js";
import { parseUriTemplate, type TemplateVariables, type UriTemplate } from "./uri-template.js";

interface ResourceTraits {
  title?: string;
  description?: string;
  mimeType?: string;
  icons?: Icon[];
  annotations?: Annotations;
  _meta?: MetaObject;
  /** Caching hints for what is read; default: stale at once, private. Never public where scopes are needed. */
  cache?: CacheHints;
  /** What callers must hold, all of it, where the transport authenticates them (authorization). */
  scopes?: readonly string[];
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

interface Source {
  readonly mimeType: string | undefined;
  readonly cache: CacheHints | undefined;
  readonly scopes: readonly string[];
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
      const { cache, scopes: given = [], ...listed } = checkDefinition(definition, read, what);
      const scopes = checkScopes(given, `${what}: scopes`);
      const { mimeType } = definition;
      return resources.add(uri, { resource: { uri, ...listed }, read, mimeType, cache, scopes });
    },
    addTemplate(template, definition, read) {
      const what = `resource template ${JSON.stringify(template)}`;
      const { cache, scopes = [], complete = {}, ...listed } = checkDefinition(definition, read, what);
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
        scopes: checkScopes(scopes, `${what}: scopes`),
      };
      return templates.add(template, value);
    },
    find(uri) {
      const exact = resources.get(uri);
      if (exact !== undefined) return { ...exact, read: (ctx) => exact.read(ctx, uri) };
      if (uri.length > maxUriLength) return undefined;
      for (const template of templates.values()) {
        const variables = template.parsed.match(uri);
        if (variables !== undefined)
          return { ...template, read: (ctx) => template.read(variables, ctx, uri) };
      }
      return undefined;
    },
    async read(found, uri, ctx) {
      const value = await found.read(ctx);
      if (value === undefined) throw notFound(uri);
      const { items, cache } = renderContents(value, uri, found.mimeType);
      const { ttlMs, cacheScope } = cache ?? found.cache ?? hints.read;
      // What not everybody may read must not be kept for everybody (server/utilities/caching, Security Considerations).
      return { contents: items, ttlMs, cacheScope: found.scopes.length > 0 ? "private" : cacheScope };
    },
  };
}

/** "If the requested resource does not exist, servers MUST return a JSON-RPC error with code -32602." */
export function notFound(uri: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, `Resource not found: ${uri}`, { uri });
}

const KEYS = [
  "name",
  "title",
  "description",
  "mimeType",
  "icons",
  "annotations",
  "size",
  "cache",
  "complete",
  "scopes",
  "_meta",
];

function checkDefinition<T extends ResourceDefinition | ResourceTemplateDefinition>(
  definition: T,
  read: unknown,
  what: string,
): T {
  checkKeys(definition, KEYS, what);
  if (typeof definition.name !== "string" || definition.name === "") {
    throw new TypeError(`${what}: definition.name must be a non-empty string`);
  }
  if (typeof read !== "function")
    throw new TypeError(`${what}: the reader must be a function, got ${typeof read}`);
  if (definition.cache !== undefined) checkCacheHints(definition.cache, what);
  return definition;
}

function isUri(uri: unknown): uri is string {
  return typeof uri === "string" && /^[A-Za-z][A-Za-z0-9+.-]*:[^\s]*$/.test(uri);
}
