/** The seam to extensions (extensions/overview): what one adds to a server, and what it may use of it. */
import type { ChangeBus } from "../bus/bus.js";
import type { SubscriptionFilter } from "../protocol/features.js";
import type { RequestMeta } from "../protocol/meta.js";
import type { JSONObject } from "../protocol/types.js";
import type { ServerExchange } from "../transport.js";
import type { Background } from "./background.js";
import type { MethodHandler } from "./dispatch.js";
import type { OnError } from "./failure.js";
import type { RunTool, ToolTask } from "./run-tool.js";
import type { Server } from "./server.js";

/** An extension of a server, for `createServer({ extensions })`. `mica-mcp/tasks` and `mica-mcp/skills` make some. */
export interface ServerExtension {
  /** What it is declared as under `capabilities.extensions`. */
  readonly id: string;
  /** Its settings there; an empty object says that it is supported. */
  readonly settings: JSONObject;
  /** Called once, by `createServer`. */
  install(host: ExtensionHost): ExtensionParts;
}

/** What a server lends its extensions. */
export interface ExtensionHost {
  readonly bus: ChangeBus;
  readonly onError: OnError;
  readonly resource: Server["resource"];
  /** Entries on one page of a list. */
  readonly pageSize: number;
  readonly runTool: RunTool;
  /** What a tool says of tasks and whom it lets call; undefined where there is no such tool. */
  toolTerms(
    name: string,
  ): { readonly task: ToolTask | undefined; readonly scopes: readonly string[] } | undefined;
}

/** What an extension adds. */
export interface ExtensionParts {
  /** Requests that it serves, by method. */
  readonly methods?: Readonly<Record<string, MethodHandler>>;
  /** Takes calls of tools that say `task` out of their request. */
  readonly background?: Background;
  /** Reads its part of a subscription's filter. */
  readonly listen?: ListenPart;
  /** The server is shutting down: called at most once per binding. */
  end?(): void;
}

/**
 * Called for every `subscriptions/listen`; undefined where nothing in the filter is for the extension.
 *
 * @throws ProtocolError where the caller may not ask for it.
 */
export type ListenPart = (
  wanted: Readonly<Record<string, unknown>>,
  meta: RequestMeta,
  exchange: ServerExchange,
) => Listening | undefined | Promise<Listening | undefined>;

export interface Listening {
  /** What was agreed to, for the acknowledgement. */
  readonly agreed: SubscriptionFilter;
  /** Called once, after the acknowledgement: `send` reaches the subscriber until the returned function is called. */
  start(send: (method: string, params: Record<string, unknown>) => void): () => void;
}
