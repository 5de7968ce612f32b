/**
 * Which requests are those of an initialize-era client (basic/versioning, Backward Compatibility), and what serves
 * them. It is loaded with the first of them, so that it costs nothing where there is none.
 */
import type { LegacyCall, LegacyHttp } from "../legacy/http.js";
import type { Legacy } from "../legacy-options.js";
import { isObject } from "../protocol/jsonrpc.js";
import { MetaKey } from "../protocol/meta.js";
import type { RequestHandler } from "../transport.js";
import { refuse } from "./answer.js";

export interface EarlierClients {
  /** Whether GET and DELETE mean anything here. */
  readonly keepsSessions: boolean;
  /** Whether the body of a POST is of that era. */
  sends(version: string | undefined, body: unknown): boolean;
  /** Answers through the outlet. The result is to be called when the connection is closed. */
  handle(call: LegacyCall): () => void;
  /** No request will come any more. */
  hangUp(): void;
  /** Ends every session. */
  close(): void;
}

/** What no earlier revision has: a client that sends it should hear what its request lacks. */
const MODERN_METHODS = new Set<unknown>(["server/discover", "subscriptions/listen"]);

export function earlierClients(handler: RequestHandler, legacy: Legacy, maxDepth: number): EarlierClients {
  let loading: Promise<LegacyHttp> | undefined;
  let loaded: LegacyHttp | undefined;

  async function load(): Promise<LegacyHttp> {
    const { legacyHttp } = await import("../legacy/http.js");
    const onProblem = (text: string): void => console.error(`[mica] ${text}`);
    loaded = legacyHttp(handler, { ...legacy, maxDepth, onProblem });
    return loaded;
  }

  return {
    keepsSessions: legacy.sessions !== undefined,
    sends(version, body) {
      if (!isObject(body)) return Array.isArray(body) && !isModern(version, handler);
      const params = body["params"];
      const meta = isObject(params) ? params["_meta"] : undefined;
      // "A request carrying modern per-request `_meta` is served statelessly according to this revision."
      if (isObject(meta) && meta[MetaKey.protocolVersion] !== undefined) return false;
      const method = body["method"];
      return method === "initialize" || !(isModern(version, handler) || MODERN_METHODS.has(method));
    },
    handle(call) {
      if (loaded !== undefined) return loaded.handle(call);
      let isClosed = false;
      let onClose = (): void => {
        isClosed = true;
      };
      loading ??= load();
      loading.then(
        (ready) => {
          if (isClosed) return;
          const close = ready.handle(call);
          // It may have been answered already.
          if (isClosed) close();
          else onClose = close;
        },
        (error: unknown) => {
          console.error("[mica] clients of earlier revisions cannot be served:", error);
          call.outlet.answer(refuse(500, "Internal error"));
        },
      );
      return () => onClose();
    },
    hangUp: () => loaded?.hangUp(),
    close: () => loaded?.close(),
  };
}

function isModern(version: string | undefined, { supportedVersions }: RequestHandler): boolean {
  return version !== undefined && supportedVersions.includes(version);
}
