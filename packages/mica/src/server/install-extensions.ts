/** Extensions of one server, as one: what they declare, serve and end together. */
import { METHODS } from "../protocol/methods.js";
import type { JSONObject } from "../protocol/types.js";
import type { Background } from "./background.js";
import type { MethodHandler } from "./dispatch.js";
import type { ExtensionHost, ExtensionParts, ListenPart, ServerExtension } from "./extension.js";

export interface Extensions {
  /** By identifier; undefined where there are none. */
  readonly settings: Record<string, JSONObject> | undefined;
  readonly methods: readonly [string, MethodHandler][];
  readonly listen: readonly ListenPart[];
  readonly background: Background | undefined;
  end(): void;
}

/** @throws TypeError naming what is no extension, or what is there twice. */
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
  const [background, another] = parts.flatMap(({ background }) => background ?? []);
  if (another !== undefined) {
    throw new TypeError(
      "createServer: two extensions carry calls on in the background; expected at most one",
    );
  }
  return {
    settings: parts.length > 0 ? settings : undefined,
    methods: methodsOf(parts),
    listen: parts.flatMap(({ listen }) => listen ?? []),
    background,
    end() {
      for (const part of parts) part.end?.();
    },
  };
}

/** @throws TypeError where a method is the protocol's own, or another extension's. */
function methodsOf(parts: readonly ExtensionParts[]): [string, MethodHandler][] {
  const found = new Map<string, MethodHandler>();
  for (const [method, handler] of parts.flatMap(({ methods = {} }) => Object.entries(methods))) {
    const row = METHODS.get(method);
    if (found.has(method) || (row !== undefined && row.extension === undefined)) {
      throw new TypeError(`createServer: an extension serves ${method}, which is served already`);
    }
    found.set(method, handler);
  }
  return [...found];
}
