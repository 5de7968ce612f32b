/** What `createServer` takes, and the checks of it. */
import type { ChangeBus } from "../bus/bus.js";
import type { CacheHints, Icon, Implementation } from "../protocol/types.js";
import type { OnError } from "./failure.js";
import { checkCacheHints, DEFAULT_CACHE_HINTS, type ServerCacheHints, type ServerLimits } from "./limits.js";
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
  /** How the state of multi round-trip requests is sealed; see {@link StateOptions}. */
  state?: StateOptions;
  /** Carries changes between processes; default: this process alone. */
  bus?: ChangeBus;
  /** Receives every failure that was concealed from the caller; default: stderr. */
  onError?: OnError;
}

export function readInfo(options: ServerOptions): Implementation {
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

export function readCacheHints(given: Partial<ServerCacheHints> = {}): ServerCacheHints {
  const hints: Record<string, CacheHints> = { ...DEFAULT_CACHE_HINTS };
  for (const [kind, hint] of Object.entries(given)) {
    if (!Object.hasOwn(DEFAULT_CACHE_HINTS, kind)) {
      throw new TypeError(
        `createServer: cache.${kind} is unknown; expected ${Object.keys(DEFAULT_CACHE_HINTS).join(", ")}`,
      );
    }
    hints[kind] = checkCacheHints(hint, `createServer: cache.${kind}`);
  }
  return hints as unknown as ServerCacheHints;
}
