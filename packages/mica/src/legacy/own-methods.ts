/** Methods that the initialize era has and the current revision does not, and the other way round. */
import { ErrorCode, ProtocolError } from "../protocol/errors.js";
import { LOGGING_LEVELS } from "../protocol/meta.js";
import type { LoggingLevel, Result, ServerCapabilities } from "../protocol/types.js";
import type { Changes } from "./changes.js";
import type { OpenRequest } from "./open-request.js";
import { RESOURCE_NOT_FOUND } from "./results.js";

/** Serves a request. Resolves to undefined where it has been answered, or is over. May throw a ProtocolError. */
export type Method = (open: OpenRequest) => Result | Promise<Result | undefined>;

/** What the methods need of their session. */
export interface SessionState {
  /** Resolves after the handshake. @throws ProtocolError where there was none. */
  whenReady(method: string): Promise<unknown>;
  /** What the server offers to this client. */
  offered(): ServerCapabilities;
  changes(): Changes;
  setLogLevel(level: LoggingLevel): void;
}

export function ownMethods({ whenReady, offered, changes, setLogLevel }: SessionState): Map<string, Method> {
  async function setLevel({ request }: OpenRequest): Promise<Result> {
    await whenReady(request.method);
    const level = request.params?.["level"] as LoggingLevel;
    if (!LOGGING_LEVELS.includes(level)) {
      const got = String(JSON.stringify(level));
      throw invalid(`params.level must be one of ${LOGGING_LEVELS.join(", ")}, got ${got}`);
    }
    setLogLevel(level);
    return {};
  }

  async function subscribe(open: OpenRequest): Promise<Result> {
    const uri = await readUri(open);
    if (await changes().follow(uri)) return {};
    throw new ProtocolError(RESOURCE_NOT_FOUND, `Resource not found: ${uri}`, { uri });
  }

  async function unsubscribe(open: OpenRequest): Promise<Result> {
    const uri = await readUri(open);
    await changes().unfollow(uri);
    return {};
  }

  async function readUri({ request: { method, params } }: OpenRequest): Promise<string> {
    await whenReady(method);
    if (offered().resources?.subscribe !== true) throw notFound(method);
    const uri = params?.["uri"];
    if (typeof uri !== "string") throw invalid("params.uri must be a string");
    return uri;
  }

  const absent: Method = ({ request }) => {
    throw notFound(request.method);
  };

  return new Map<string, Method>([
    ["ping", () => ({})],
    ["logging/setLevel", setLevel],
    ["resources/subscribe", subscribe],
    ["resources/unsubscribe", unsubscribe],
    ["server/discover", absent],
    ["subscriptions/listen", absent],
  ]);
}

function notFound(method: string): ProtocolError {
  return new ProtocolError(ErrorCode.MethodNotFound, `Method not found: ${method}`);
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, message);
}
