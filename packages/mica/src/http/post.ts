/** Sends one POST with node:http, and tells the ways apart in which that can fail. */
import type { Agent, ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions } from "node:http";
import { McpError } from "../protocol/errors.js";
import type { InFlightSet } from "../protocol/in-flight.js";
import type { JSONRPCResponse } from "../protocol/types.js";
import type { Cancellation } from "../transport.js";
import { type AnswerContext, readAnswer } from "./client-answer.js";

/** How requests leave: the scheme's `request`, where to, and the agent that holds the connections. */
export interface Binding {
  readonly send: typeof import("node:http").request;
  /** The target taken apart, once for all requests. */
  readonly to: RequestOptions;
  readonly agent: Agent;
}

/** Loaded at first use; `getBuiltinModule` spares most of the time that an import takes. */
export async function bind(target: URL, agent: Agent | undefined, idleSocketMs: number): Promise<Binding> {
  const options = { keepAlive: true, timeout: idleSocketMs };
  const { urlToHttpOptions } = process.getBuiltinModule?.("node:url") ?? (await import("node:url"));
  const { protocol, hostname, port, path, auth } = urlToHttpOptions(target);
  const to = {
    protocol,
    hostname,
    path,
    ...(port !== undefined && { port }),
    ...(auth !== undefined && { auth }),
  };
  if (target.protocol === "http:") {
    const http = process.getBuiltinModule?.("node:http") ?? (await import("node:http"));
    return { send: http.request, to, agent: agent ?? new http.Agent(options) };
  }
  const https = process.getBuiltinModule?.("node:https") ?? (await import("node:https"));
  return { send: https.request, to, agent: agent ?? new https.Agent(options) };
}

export interface Post {
  readonly headers: Record<string, string | number>;
  readonly body: string;
  readonly cancellation: Cancellation | undefined;
  /** Told of the headers of the answer, whatever its status. */
  readonly onHead?: ((headers: IncomingHttpHeaders) => void) | undefined;
  readonly context: AnswerContext;
}

/** A kept-alive connection was closed by the server: the request may or may not have reached it. */
export class StaleConnectionError extends Error {
  /** What the caller sees where the request cannot be repeated. */
  readonly seen: McpError;

  constructor(seen: McpError) {
    super(seen.message);
    this.seen = seen;
  }
}

/** Milliseconds between the probes of a quiet stream: it may outlive the path it runs on, and TCP finds out. */
const PROBE_MS = 15_000;

/**
 * @param running Holds the end of every request that is under way.
 * @param fresh Whether the request must not use a connection that was used before.
 * @throws McpError `connect_failed` or `connection_lost`; StaleConnectionError; what {@link readAnswer} throws;
 *   the reason of the cancellation.
 */
export function post(
  { send, to, agent }: Binding,
  { headers, body, cancellation, onHead, context }: Post,
  running: InFlightSet<(reason: unknown) => void>,
  fresh: boolean,
): Promise<JSONRPCResponse> {
  return new Promise((resolve, reject) => {
    const outgoing = send({ ...to, method: "POST", headers, agent: fresh ? false : agent });
    const release = () => {
      running.delete(slot, end);
      forget?.();
    };
    const fail = (error: unknown) => {
      release();
      reject(error);
    };
    const end = (reason: unknown) => {
      fail(reason);
      // Closing the connection is what cancels (Cancellation).
      outgoing.destroy();
    };
    const slot = running.add(end);
    const forget = cancellation?.onCancel(() => end(cancellation.reason));

    const isConnected = watchConnection(outgoing);
    outgoing.on("response", (incoming: IncomingMessage) => {
      onHead?.(incoming.headers);
      if (incoming.headers["content-type"]?.startsWith("text/event-stream")) {
        outgoing.setSocketKeepAlive(true, PROBE_MS);
      }
      readAnswer(incoming, context).then((response) => {
        release();
        resolve(response);
      }, fail);
    });
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      fail(connectionError(error, context, isConnected(), outgoing.reusedSocket));
    });
    outgoing.end(body);
  });
}

/** Whether there was a connection at all, which decides what an error means. */
export function watchConnection(outgoing: ClientRequest): () => boolean {
  let connected = false;
  outgoing.on("socket", (socket) => {
    const event = "encrypted" in socket ? "secureConnect" : "connect";
    if (outgoing.reusedSocket || !socket.connecting) connected = true;
    else {
      socket.once(event, () => {
        connected = true;
      });
    }
  });
  return () => connected;
}

function connectionError(
  error: NodeJS.ErrnoException,
  { endpoint, request }: AnswerContext,
  connected: boolean,
  reused: boolean,
): Error {
  const where = `${endpoint} (${request.method})`;
  // Node gives several addresses' failures as one error without a message.
  const why = error.message || error.code || "unknown error";
  if (error.code?.startsWith("HPE_")) {
    return new McpError("invalid_response", `${where} answered with something that is not HTTP: ${why}`, {
      cause: error,
    });
  }
  if (!connected)
    return new McpError("connect_failed", `Cannot connect to ${where}: ${why}`, { cause: error });
  const lost = new McpError(
    "connection_lost",
    `The connection to ${where} was lost before the response came: ${why}`,
    {
      cause: error,
    },
  );
  return reused && (error.code === "ECONNRESET" || error.code === "EPIPE")
    ? new StaleConnectionError(lost)
    : lost;
}
