/** HTTP as the wires of earlier revisions use it: requests of any method, their answers, and event streams. */
import type { IncomingMessage } from "node:http";
import {
  checkHeaders,
  type HttpClientLimits,
  type HttpTransportOptions,
  readLimits,
  readUrl,
} from "../../http/client.js";
import { bind, watchConnection } from "../../http/post.js";
import { createSseParser, type SseEvent, type SseParserOptions } from "../../http/sse.js";
import { HttpStatusError } from "../../http/status-error.js";
import { McpError } from "../../protocol/errors.js";
import { InFlightSet } from "../../protocol/in-flight.js";
import type { Hold } from "./clocks.js";

export interface HttpSend {
  readonly method: "POST" | "GET" | "DELETE";
  /** Default: the URL of the server. */
  readonly url?: URL | undefined;
  readonly headers?: Record<string, string> | undefined;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Stops the clock of whoever waits for it, while a person signs in. */
  readonly hold?: Hold | undefined;
  /** Asked for whenever the request is sent, again as well. */
  readonly credentials?: (() => Promise<Readonly<Record<string, string>>>) | undefined;
  /** Whether it may be sent again where a connection that was kept alive turns out to be closed. */
  readonly repeatable: boolean;
}

export interface HttpClient {
  readonly url: URL;
  /** The URL as it may stand in messages: without user, password and query, which may be secrets. */
  readonly endpoint: string;
  readonly limits: HttpClientLimits;
  /** Resolves with the head of the answer. @throws McpError `connect_failed` or `connection_lost`; the signal's reason. */
  send(request: HttpSend): Promise<IncomingMessage>;
  /** Ends everything that is under way. */
  close(): void;
}

export function httpClient(given: string | URL, options: HttpTransportOptions): HttpClient {
  const url = readUrl(given);
  const endpoint = `${url.origin}${url.pathname}`;
  const limits = readLimits(options.limits);
  /** The ends of what is under way. */
  const running = new InFlightSet<(reason: unknown) => void>();
  let closed: McpError | undefined;
  let binding: ReturnType<typeof bind> | undefined;

  async function send(request: HttpSend, fresh: boolean): Promise<IncomingMessage> {
    const own =
      typeof options.headers === "function" ? checkHeaders(await options.headers()) : options.headers;
    const credentials = await request.credentials?.();
    binding ??= bind(url, options.agent, limits.idleSocketMs);
    const { send: open, agent } = await binding;
    if (closed) throw closed;
    request.signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const { method, body, signal } = request;
      const headers = {
        ...own,
        ...credentials,
        "accept-encoding": "identity",
        ...request.headers,
        ...(body !== undefined && {
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
        }),
      };
      const outgoing = open(request.url ?? url, { method, headers, agent: fresh ? false : agent });
      const end = (reason: unknown) => {
        reject(reason);
        outgoing.destroy();
      };
      const abort = () => end(signal?.reason);
      const slot = running.add(end);
      signal?.addEventListener("abort", abort, { once: true });
      outgoing.on("close", () => {
        running.delete(slot, end);
        signal?.removeEventListener("abort", abort);
      });
      const isConnected = watchConnection(outgoing);
      outgoing.on("response", resolve);
      outgoing.on("error", (error: NodeJS.ErrnoException) => {
        const isStale = outgoing.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
        if (isStale && request.repeatable && !fresh) send(request, true).then(resolve, reject);
        else reject(connectionError(error, `${endpoint} (${method})`, isConnected()));
      });
      outgoing.end(body);
    });
  }

  return {
    url,
    endpoint,
    limits,
    send: (request) => send(request, false),
    close() {
      closed ??= new McpError("closed", `The connection to ${endpoint} is closed`);
      for (const end of running) end(closed);
      // An agent that was given belongs to whoever gave it.
      if (options.agent === undefined) binding?.then(({ agent }) => agent.destroy()).catch(() => {});
    },
  };
}

function connectionError(cause: NodeJS.ErrnoException, where: string, isConnected: boolean): McpError {
  const why = cause.message || cause.code || "unknown error";
  return isConnected
    ? new McpError("connection_lost", `The connection to ${where} was lost: ${why}`, { cause })
    : new McpError("connect_failed", `Cannot connect to ${where}: ${why}`, { cause });
}

export function contentType(incoming: IncomingMessage): string {
  return (incoming.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

export function isEventStream(incoming: IncomingMessage): boolean {
  return incoming.statusCode === 200 && contentType(incoming) === "text/event-stream";
}

/** @throws McpError `limit_exceeded`, or `connection_lost` where it breaks off. */
export function readBody(incoming: IncomingMessage, { endpoint, limits }: HttpClient): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    incoming.on("data", (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length <= limits.maxResponseBytes) return;
      incoming.destroy();
      const limit = `maxResponseBytes, ${limits.maxResponseBytes}`;
      reject(new McpError("limit_exceeded", `The answer of ${endpoint} is longer than ${limit} bytes`));
    });
    incoming.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
    incoming.on("error", (cause) => reject(brokenOff(endpoint, cause)));
    incoming.on("close", () => reject(brokenOff(endpoint)));
  });
}

/**
 * Reads events until the stream ends, in whatever way.
 *
 * @throws McpError `limit_exceeded` where an event is too long, and what `onEvent` throws.
 */
export function readEvents(
  incoming: IncomingMessage,
  { limits }: HttpClient,
  onEvent: (event: SseEvent) => void,
  more: Pick<SseParserOptions, "onId" | "onRetry"> = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    const parser = createSseParser(onEvent, { ...more, maxEventLength: limits.maxResponseBytes });
    incoming.on("data", (chunk: Buffer) => {
      try {
        parser.push(chunk);
      } catch (error) {
        incoming.destroy();
        reject(error);
      }
    });
    incoming.on("error", () => {});
    incoming.on("close", resolve);
  });
}

export function brokenOff(endpoint: string, cause?: unknown): McpError {
  const message = `The connection to ${endpoint} was lost before the response came`;
  return new McpError("connection_lost", message, cause === undefined ? undefined : { cause });
}

/** Characters of a body that stand in a message. */
const SNIPPET = 200;

/** An answer that is none of the protocol, as an error. */
export function statusError(
  { statusCode = 0, statusMessage, headers }: IncomingMessage,
  what: string,
  body: string,
): McpError {
  const line = body.replace(/\s+/g, " ").trim();
  const snippet = line.length > SNIPPET ? `${line.slice(0, SNIPPET)}...` : line;
  const cause = new HttpStatusError(
    `HTTP ${statusCode} ${statusMessage ?? ""}`.trim(),
    statusCode,
    headers,
    snippet,
  );
  const isElsewhere = statusCode < 400 || statusCode === 401 || statusCode === 403 || statusCode >= 500;
  const code = isElsewhere && statusCode !== 200 ? "connect_failed" : "invalid_response";
  return new McpError(code, `${what} answered ${cause.message}${snippet === "" ? "" : `: ${snippet}`}`, {
    cause,
  });
}
