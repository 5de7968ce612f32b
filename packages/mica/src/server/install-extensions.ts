/** Extensions of one server, as one: what they declare, serve and end together. */
import type { JSONObject } from "../protocol/types.js";
import type { Background } from "./background.js";
import type { MethodHandler } from "./dispatch.js";
import type { ExtensionHost, ListenPart, ServerExtension } from "./extension.js";

export interface Extensions {
  /** By identifier; undefined where there are none. */
  readonly settings: Record<string, JSONObject> | undefined;
  readonly methods: readonly [string, MethodHandler][];
  readonly listen: readonly ListenPart[];
  readonly background: Background | undefined;
  end(): void;
}

/** @throws TypeError naming what is no extension, or is there twice. */
export function installExtensions(given: readonly ServerExtension[], host: ExtensionHost): Extensions {
  if (!Array.isArray(given)) throw new TypeError("createServer: extensions must be an array");
  const settings: Record<string, JSONObject> = {};
  const parts = (given as readonly ServerExtension[]).map((extension, index) => {
    if (typeof extension?.install !== "function") {
      throw new TypeError(
        `createServer: extensions[${index}] is no extension; call what makes one, as in tasks()`,
      );
    }
    if (Object.hasOwn(settings, extension.id)) {
      throw new TypeError(`createServer: extension ${extension.id} is there twice`);
    }
    settings[extension.id] = extension.settings;
    return extension.install(host);
  });
  return {
    settings: parts.length > 0 ? settings : undefined,
    methods: parts.flatMap(({ methods = {} }) => Object.entries(methods)),
    listen: parts.flatMap(({ listen }) => listen ?? []),
    background: parts.find(({ background }) => background !== undefined)?.background,
    end() {
      for (const part of parts) part.end?.();
    },
  };
}
