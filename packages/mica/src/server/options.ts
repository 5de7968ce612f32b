/** What `createServer` takes, and the checks of it. */
import type { ChangeBus } from "../bus/bus.js";
import { checkOptionNames } from "../protocol/option-names.js";
import type { CacheHints, Icon, Implementation } from "../protocol/types.js";
import type { AuthInfo } from "../transport.js";
import type { ServerExtension } from "./extension.js";
import type { OnError } from "./failure.js";
import {
  checkCacheHints,
  DEFAULT_CACHE_HINTS,
  DEFAULT_LIMITS,
  type ServerCacheHints,
  type ServerLimits,
} from "./limits.js";
import type { StateOptions } from "./sealed-state.js";

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
  /**
   * Whether lists leave out what the caller lacks scopes for, where the transport authenticates. Lists are then private
   * to their caller (`cacheScope`). Default false: a caller sees everything, and is told what to ask for.
   */
  filterByScope?: boolean;
  /** How the state of multi round-trip requests is sealed; see {@link StateOptions}. */
  state?: StateOptions;
  /** Carries changes between processes; default: this process alone. */
  bus?: ChangeBus;
  /**
   * Whose resources a caller may hear of. Changes that are published for a tenant reach subscribers of that tenant
   * only, so that nobody learns by a subscription what reading would not tell. Default: nobody is of any tenant.
   *
   * @example tenantOf: (auth) => auth?.principal ?? "local"
   */
  tenantOf?: (auth: AuthInfo | undefined) => string;
  /**
   * What the server offers beyond the protocol itself (extensions/overview).
   *
   * @example extensions: [tasks({ store: sqliteTaskStore(new Database("tasks.sqlite")) })]
   */
  extensions?: readonly ServerExtension[];
  /** Receives every failure that was concealed from the caller; default: stderr. */
  onError?: OnError;
}

const SERVER_OPTIONS = {
  name: true,
  version: true,
  title: true,
  description: true,
  websiteUrl: true,
  icons: true,
  instructions: true,
  cache: true,
  limits: true,
  filterByScope: true,
  state: true,
  bus: true,
  tenantOf: true,
  extensions: true,
  onError: true,
} as const satisfies Record<keyof ServerOptions, true>;

/** Lists that differ from caller to caller must not be shared (server/utilities/caching, Choosing a Cache Scope). */
export function privateLists(hints: ServerCacheHints): ServerCacheHints {
  const toCaller = ({ ttlMs }: CacheHints): CacheHints => ({ ttlMs, cacheScope: "private" });
  return {
    ...hints,
    tools: toCaller(hints.tools),
    resources: toCaller(hints.resources),
    resourceTemplates: toCaller(hints.resourceTemplates),
    prompts: toCaller(hints.prompts),
  };
}

export function readInfo(options: ServerOptions): Implementation {
  if (typeof options !== "object" || options === null) {
    throw new TypeError("createServer: expected an object with name and version");
  }
  checkOptionNames(options, SERVER_OPTIONS, "createServer");
  const { name, version, title, description, websiteUrl, icons } = options;
  if (typeof name !== "string" || name === "")
    throw new TypeError("createServer: name must be a non-empty string");
  if (typeof version !== "string" || version === "")
    throw new TypeError("createServer: version must be a non-empty string");
  return {
    name,
    version,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(websiteUrl !== undefined && { websiteUrl }),
    ...(icons !== undefined && { icons }),
  };
}

/** @throws TypeError naming the limit, where it is unknown or not a whole number from 1. */
export function readLimits(given: Partial<ServerLimits> = {}): ServerLimits {
  const limits: Record<string, number> = { ...DEFAULT_LIMITS };
  for (const [name, limit] of Object.entries(given)) {
    if (limit === undefined) continue;
    if (!Object.hasOwn(DEFAULT_LIMITS, name)) {
      throw new TypeError(
        `createServer: limits.${name} is unknown; expected ${Object.keys(DEFAULT_LIMITS).join(", ")}`,
      );
    }
    if (!Number.isSafeInteger(limit) || limit < 1) {
      throw new TypeError(`createServer: limits.${name} must be a whole number from 1, got ${limit}`);
    }
    limits[name] = limit;
  }
  return limits as unknown as ServerLimits;
}

/** @throws TypeError naming the hint, where it is unknown or malformed. */
export function readCacheHints(given: Partial<ServerCacheHints> = {}): ServerCacheHints {
  const hints: Record<string, CacheHints> = { ...DEFAULT_CACHE_HINTS };
  for (const [kind, hint] of Object.entries(given)) {
    if (hint === undefined) continue;
    if (!Object.hasOwn(DEFAULT_CACHE_HINTS, kind)) {
      throw new TypeError(
        `createServer: cache.${kind} is unknown; expected ${Object.keys(DEFAULT_CACHE_HINTS).join(", ")}`,
      );
    }
    hints[kind] = checkCacheHints(hint, `createServer: cache.${kind}`);
  }
  return hints as unknown as ServerCacheHints;
}
