/** A message as somebody types it: what is missing is filled in, what is there stays. */
import { isObject, readJson, shown } from "./json.js";
import { CLIENT_INFO, LEGACY_REVISION, requestMeta } from "./request-meta.js";
import { UsageError } from "./usage-error.js";

/** What gaps are filled with. It changes as messages go by. */
export interface RawState {
  /** The method of the last request, for params alone. */
  method: string | undefined;
  nextId: number;
  /** Whether a handshake was sent: then `_meta` is left alone (revisions before 2026-07-28). */
  isEarlier: boolean;
}

/**
 * Completes what was typed: a message, `METHOD [PARAMS]`, or PARAMS for the method before.
 *
 * @returns One line of JSON.
 * @throws UsageError where it is none of these.
 * @example completeMessage('tools/call {"name":"add"}', state)
 */
export function completeMessage(typed: string, state: RawState): string {
  const { members, method, params } = readTyped(typed, state);
  if (method === undefined) return JSON.stringify({ jsonrpc: "2.0", ...members });
  const isNotification = method.startsWith("notifications/");
  if (!isNotification) state.method = method;
  if (method === "initialize") state.isEarlier = true;
  const id = members["id"] ?? (isNotification ? undefined : state.nextId);
  if (typeof id === "number" && Number.isSafeInteger(id) && id >= state.nextId) state.nextId = id + 1;
  const filled = fillParams(method, params, state);
  return JSON.stringify({
    jsonrpc: "2.0",
    ...(id !== undefined && { id }),
    method,
    ...(filled !== undefined && { params: filled }),
    ...members,
    ...(filled !== undefined && { params: filled }),
  });
}

interface Typed {
  /** Of the message itself, as they were typed. */
  readonly members: Readonly<Record<string, unknown>>;
  /** Undefined for an answer to a request of the server. */
  readonly method: string | undefined;
  readonly params: unknown;
}

function readTyped(typed: string, state: RawState): Typed {
  const text = typed.trim();
  if (text.startsWith("{")) {
    const members = parse(text);
    if (!isObject(members)) throw new UsageError(`expected a JSON object, got ${shown(members)}`);
    const { method } = members;
    if (typeof method === "string") return { members, method, params: members["params"] };
    if ("method" in members) throw new UsageError(`method: expected a string, got ${shown(method)}`);
    if ("result" in members || "error" in members) return { members, method: undefined, params: undefined };
    if (state.method === undefined) {
      throw new UsageError(`expected a method before the first params: tools/call ${shown(members)}`);
    }
    return { members: {}, method: state.method, params: members };
  }
  const [, method = "", rest = ""] = /^(\S+)\s*([\s\S]*)$/.exec(text) ?? [];
  if (!/^[\w$.-]+(?:\/[\w$.-]+)*$/.test(method)) {
    throw new UsageError(`expected a message, METHOD {params} or {params}, got ${shown(text)}`);
  }
  return { members: {}, method, params: rest === "" ? undefined : parse(rest) };
}

function parse(text: string): unknown {
  const json = readJson(text);
  if (json !== undefined) return json.value;
  try {
    JSON.parse(text);
  } catch (error) {
    throw new UsageError(`expected JSON: ${(error as Error).message}`);
  }
  return undefined;
}

/** Params that are no object are sent as they are: what the server says to them may be the question. */
function fillParams(method: string, params: unknown, { isEarlier }: RawState): unknown {
  if (params !== undefined && !isObject(params)) return params;
  if (method === "initialize") {
    return { protocolVersion: LEGACY_REVISION, capabilities: {}, clientInfo: CLIENT_INFO, ...params };
  }
  if (isEarlier || method.startsWith("notifications/")) return params;
  const meta = params?.["_meta"];
  if (meta !== undefined && !isObject(meta)) return params;
  return { ...params, _meta: { ...requestMeta(), ...meta } };
}
