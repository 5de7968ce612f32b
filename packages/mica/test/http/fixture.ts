/** A hand-made server seam, and clients that speak HTTP by hand, for the tests of the HTTP bindings. */
import http from "node:http";
import net from "node:net";
import { createFetchHandler, type FetchHandlerOptions } from "../../src/http/fetch.js";
import { requestHeaders } from "../../src/http/headers.js";
import { type ServeHttpOptions, serveHttp } from "../../src/http/serve.js";
import { createSseParser } from "../../src/http/sse.js";
import {
  ErrorCode,
  missingCapability,
  ProtocolError,
  unsupportedVersion,
} from "../../src/protocol/errors.js";
import { errorResponse, resultResponse } from "../../src/protocol/jsonrpc.js";
import { MetaKey, readRequestMeta } from "../../src/protocol/meta.js";
import { METHODS } from "../../src/protocol/methods.js";
import type {
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
  Result,
} from "../../src/protocol/types.js";
import type { MirroredHeader, RequestHandler, ServerExchange } from "../../src/transport.js";

export const VERSION = "2026-07-28";

export const META = {
  [MetaKey.protocolVersion]: VERSION,
  [MetaKey.clientInfo]: { name: "test", version: "1.0.0" },
  [MetaKey.clientCapabilities]: {},
};

export function request(
  method: string,
  params: Record<string, unknown> = {},
  id: string | number = 1,
): JSONRPCRequest {
  return { jsonrpc: "2.0", id, method, params: { _meta: META, ...params } };
}

export function call(
  name: string,
  args: Record<string, unknown> = {},
  id: string | number = 1,
): JSONRPCRequest {
  return request("tools/call", { name, arguments: args }, id);
}

export function headersOf(
  of: JSONRPCRequest,
  mirrored: readonly MirroredHeader[] = [],
): Record<string, string> {
  return {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...requestHeaders(of, mirrored),
  };
}

export function progress(step: number, padding = ""): JSONRPCNotification {
  return {
    jsonrpc: "2.0",
    method: "notifications/progress",
    params: { progressToken: 1, progress: step, message: padding },
  };
}

type Tool = (args: Record<string, unknown>, exchange: ServerExchange) => Promise<Result> | Result;

export interface TestHandler extends RequestHandler {
  readonly tools: Record<string, Tool>;
  /** Requests that `handle` was called with. */
  readonly served: JSONRPCRequest[];
  /** Subscriptions that are open. */
  readonly open: Set<() => void>;
  mirrored: readonly (Omit<MirroredHeader, "value"> & { argument: string })[];
}

/** Serves `tools/call` from a table, `subscriptions/listen`, and the errors of the protocol. */
export function testHandler(tools: Record<string, Tool> = {}): TestHandler {
  const open = new Set<() => void>();
  const served: JSONRPCRequest[] = [];
  const table: Record<string, Tool> = {
    echo: (args) => ({ resultType: "complete", args }),
    count(args, exchange) {
      for (let step = 1; step <= Number(args["to"]); step++) exchange.notify(progress(step));
      return { resultType: "complete", counted: args["to"] };
    },
    needy() {
      throw missingCapability({ sampling: {} }, "needy");
    },
    picky() {
      throw new ProtocolError(ErrorCode.InvalidParams, "Unknown tool: picky");
    },
    broken() {
      throw new ProtocolError(ErrorCode.InternalError, "Internal error");
    },
    unencodable: () => ({ resultType: "complete", size: 1n }),
    ...tools,
  };

  async function answer(given: JSONRPCRequest, exchange: ServerExchange): Promise<JSONRPCResponse> {
    try {
      const meta = readRequestMeta(given.params);
      if (meta.protocolVersion !== VERSION) throw unsupportedVersion(meta.protocolVersion, [VERSION]);
      if (!METHODS.has(given.method)) {
        throw new ProtocolError(ErrorCode.MethodNotFound, `Method not found: ${given.method}`);
      }
      if (given.method === "subscriptions/listen") return await listen(given, exchange);
      if (given.method !== "tools/call") return resultResponse(given.id, { resultType: "complete" });
      const tool = table[String(given.params?.["name"])];
      if (!tool) throw new ProtocolError(ErrorCode.InvalidParams, "Unknown tool");
      const args = (given.params?.["arguments"] ?? {}) as Record<string, unknown>;
      return resultResponse(given.id, await tool(args, exchange));
    } catch (error) {
      if (error instanceof ProtocolError) return errorResponse(given.id, error.toErrorObject());
      throw error;
    }
  }

  async function listen(given: JSONRPCRequest, exchange: ServerExchange): Promise<JSONRPCResponse> {
    exchange.notify({
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { _meta: { [MetaKey.subscriptionId]: given.id }, notifications: {} },
    });
    await new Promise<void>((resolve) => {
      open.add(resolve);
      exchange.signal.addEventListener("abort", () => {
        open.delete(resolve);
        resolve();
      });
    });
    return resultResponse(given.id, {
      resultType: "complete",
      _meta: { [MetaKey.subscriptionId]: given.id },
    });
  }

  return {
    tools: table,
    served,
    open,
    mirrored: [],
    supportedVersions: [VERSION],
    handle(given, exchange) {
      served.push(given);
      return answer(given, exchange);
    },
    mirroredHeaders(given) {
      const args = (given.params?.["arguments"] ?? {}) as Record<string, unknown>;
      return this.mirrored.map(({ header, type, argument }) => ({
        header,
        type,
        value: args[argument] ?? undefined,
      }));
    },
    endSubscriptions() {
      for (const end of open) end();
      open.clear();
    },
  };
}

export interface Reply {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** A way to send one request, so that the same tables run on every binding. */
export interface Sender {
  send(method: string, headers: Record<string, string>, body?: string): Promise<Reply>;
  close(): Promise<void>;
}

export const BINDINGS: Record<string, (handler: RequestHandler, options?: object) => Promise<Sender>> = {
  async "node:http"(handler, options: Partial<ServeHttpOptions> = {}) {
    const { url, close } = await serveHttp(handler, { port: 0, ...options });
    return {
      close,
      send: (method, headers, body) =>
        new Promise((resolve, reject) => {
          const sent = http.request(url, { method, headers, agent: false }, (res) => {
            res.setEncoding("utf8");
            let text = "";
            res.on("data", (chunk: string) => {
              text += chunk;
            });
            res.on("error", reject);
            res.on("end", () =>
              resolve({ status: res.statusCode ?? 0, headers: res.headers as Record<string, string>, text }),
            );
          });
          sent.on("error", reject);
          sent.end(body);
        }),
    };
  },
  async "web standards"(handler, options: FetchHandlerOptions = {}) {
    const serve = createFetchHandler(handler, options);
    return {
      close: async () => {},
      async send(method, headers, body) {
        const url = `http://${headers["host"] ?? "127.0.0.1"}/mcp`;
        const init: RequestInit = { method, headers };
        if (body !== undefined) init.body = body;
        const response = await serve(new Request(url, init));
        return {
          status: response.status,
          headers: Object.fromEntries(response.headers),
          text: await response.text(),
        };
      },
    };
  },
};

/** The messages of an event stream. */
export function eventsOf(text: string): Record<string, unknown>[] {
  const events: Record<string, unknown>[] = [];
  createSseParser(({ data }) => events.push(JSON.parse(data))).push(text);
  return events;
}

/** A connection that is written to by hand. */
export interface RawConnection {
  readonly socket: net.Socket;
  write(text: string): void;
  /** Everything received so far. */
  received(): string;
  /** Resolves once what was received satisfies the condition; rejects if the connection closes before. */
  until(condition: (received: string) => boolean): Promise<string>;
  /** Resolves once the other side has closed, with everything received. */
  closed(): Promise<string>;
}

export async function connectRaw(port: number): Promise<RawConnection> {
  const socket = net.connect(port, "127.0.0.1");
  let received = "";
  let check = (): void => {};
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    received += chunk;
    check();
  });
  const closed = new Promise<string>((resolve) => socket.on("close", () => resolve(received)));
  // A reset is one way for the other side to close.
  socket.on("error", () => {});
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  return {
    socket,
    write: (text) => void socket.write(text, "latin1"),
    received: () => received,
    closed: () => closed,
    until(condition) {
      return new Promise((resolve, reject) => {
        check = () => {
          if (condition(received)) resolve(received);
        };
        check();
        void closed.then((all) => reject(new Error(`The connection closed after: ${all}`)));
      });
    },
  };
}

/** A request, one character for each byte, with its length unless another framing is given. */
export function rawPost(
  of: JSONRPCRequest,
  { headers = {}, target = "/mcp", host = "127.0.0.1" as string | string[] } = {},
): string {
  const body = JSON.stringify(of);
  const lines = [`POST ${target} HTTP/1.1`];
  for (const name of [host].flat()) lines.push(`Host: ${name}`);
  const all = { ...headersOf(of), "content-length": String(Buffer.byteLength(body)), ...headers };
  for (const [name, value] of Object.entries(all)) lines.push(`${name}: ${value}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`).toString("latin1");
}

/** Resolves once the condition holds. The test's own time limit is the deadline. */
export async function eventually(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
