/** Clients of earlier revisions that speak HTTP by hand, to both bindings. */
import http from "node:http";
import type { AddressInfo } from "node:net";
import { createFetchHandler } from "../../src/http/fetch.js";
import { serveHttp } from "../../src/http/serve.js";
import type { LegacyHttpOptions } from "../../src/legacy-options.js";
import type { RequestHandler } from "../../src/transport.js";

type Options = { legacy?: "reject" | LegacyHttpOptions } & Record<string, unknown>;

/** An endpoint, however it is served. */
export interface Endpoint {
  readonly url: string;
  close(): Promise<void>;
}

/** The same endpoint on node:http and on web standards; the latter behind a thin server, so that all is real HTTP. */
export const ENDPOINTS: Record<string, (handler: RequestHandler, options?: Options) => Promise<Endpoint>> = {
  async "node:http"(handler, options = {}) {
    const { url, close } = await serveHttp(handler, { port: 0, ...options });
    return { url, close };
  },
  async "web standards"(handler, options = {}) {
    const serve = createFetchHandler(handler, options);
    const server = http.createServer(async (req, res) => {
      const body: Buffer[] = [];
      for await (const chunk of req) body.push(chunk as Buffer);
      const aborted = new AbortController();
      res.on("close", () => aborted.abort());
      const headers = new Headers();
      for (const [name, value] of Object.entries(req.headers)) headers.set(name, String(value));
      const init: RequestInit = { method: req.method ?? "GET", headers, signal: aborted.signal };
      if (body.length > 0) init.body = Buffer.concat(body);
      const response = await serve(new Request(`http://${req.headers.host}${req.url}`, init));
      res.writeHead(response.status, Object.fromEntries(response.headers));
      try {
        for await (const chunk of response.body ?? []) res.write(chunk);
      } catch {
        res.destroy();
      }
      res.end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
      async close() {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  },
};

export type Json = Record<string, unknown>;

export interface SseEvent {
  readonly id: string | undefined;
  readonly data: string;
}

/** What came back: headers at once, the rest as it arrives. */
export interface Reply {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  /** Events so far, of an event stream. */
  readonly events: SseEvent[];
  /** The messages in them. */
  readonly messages: Json[];
  /** Resolves with the next message that fits. Rejects where the stream ends before. */
  until(fits: (message: Json) => boolean): Promise<Json>;
  /** Resolves with the whole text, once it has ended. */
  text(): Promise<string>;
  json(): Promise<Json>;
  /** Breaks the connection. */
  break(): void;
  readonly isEnded: boolean;
}

export interface SendOptions {
  method?: string;
  body?: unknown;
  headers?: Record<string, string | undefined>;
}

/** Sends one request on a connection of its own. */
export function send(url: string, { method = "POST", body, headers = {} }: SendOptions): Promise<Reply> {
  const all: Record<string, string> = { accept: "application/json, text/event-stream" };
  if (body !== undefined) all["content-type"] = "application/json";
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) delete all[name];
    else all[name] = value;
  }
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method, headers: all, agent: false }, (response) => {
      response.setEncoding("utf8");
      let text = "";
      let read = 0;
      let isEnded = false;
      const events: SseEvent[] = [];
      const messages: Json[] = [];
      const waiting = new Set<() => void>();
      const look = () => {
        for (const check of [...waiting]) check();
      };
      response.on("data", (chunk: string) => {
        text += chunk;
        for (let end = text.indexOf("\n\n", read); end >= 0; end = text.indexOf("\n\n", read)) {
          const event = readEvent(text.slice(read, end));
          read = end + 2;
          if (event === undefined) continue;
          events.push(event);
          if (event.data !== "") messages.push(JSON.parse(event.data) as Json);
        }
        look();
      });
      response.on("close", () => {
        isEnded = true;
        look();
      });
      response.on("error", () => {});
      const reply: Reply = {
        status: response.statusCode ?? 0,
        headers: response.headers,
        events,
        messages,
        get isEnded() {
          return isEnded;
        },
        until: (fits) =>
          new Promise((found, lost) => {
            const check = () => {
              const message = messages.find(fits);
              if (message === undefined && !isEnded) return;
              waiting.delete(check);
              if (message !== undefined) found(message);
              else lost(new Error(`the stream ended after: ${text}`));
            };
            waiting.add(check);
            check();
          }),
        text: () =>
          new Promise((found) => {
            const check = () => {
              if (!isEnded) return;
              waiting.delete(check);
              found(text);
            };
            waiting.add(check);
            check();
          }),
        json: async () => JSON.parse(await reply.text()) as Json,
        break: () => request.destroy(),
      };
      resolve(reply);
    });
    request.on("error", reject);
    request.end(body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body));
  });
}

function readEvent(block: string): SseEvent | undefined {
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const [, field, value = ""] = /^([a-z]+):? ?(.*)$/.exec(line) ?? [];
    if (field === "id") id = value;
    if (field === "data") data.push(value);
  }
  return data.length === 0 && id === undefined ? undefined : { id, data: data.join("\n") };
}

export const initialize = (version: string, capabilities: Json = {}, id: number | string = 0): Json => ({
  jsonrpc: "2.0",
  id,
  method: "initialize",
  params: { protocolVersion: version, capabilities, clientInfo: { name: "old", version: "1.0.0" } },
});
export const request = (id: number | string, method: string, params?: Json): Json => ({
  jsonrpc: "2.0",
  id,
  method,
  ...(params && { params }),
});
export const notification = (method: string, params?: Json): Json => ({
  jsonrpc: "2.0",
  method,
  ...(params && { params }),
});
export const call = (id: number | string, name: string, more: Json = {}): Json =>
  request(id, "tools/call", { name, ...more });

/** A client with a session. */
export interface Session {
  readonly id: string;
  readonly headers: Record<string, string>;
  post(body: unknown, headers?: Record<string, string | undefined>): Promise<Reply>;
  get(headers?: Record<string, string | undefined>): Promise<Reply>;
  remove(): Promise<Reply>;
}

export async function openSession(url: string, version: string, capabilities: Json = {}): Promise<Session> {
  const opened = await send(url, { body: initialize(version, capabilities) });
  const id = opened.headers["mcp-session-id"];
  if (opened.status !== 200 || typeof id !== "string") throw new Error(`no session: ${await opened.text()}`);
  await opened.text();
  const headers: Record<string, string> = { "mcp-session-id": id };
  // Older clients do not know this header.
  if (version >= "2025-06-18") headers["mcp-protocol-version"] = version;
  const session: Session = {
    id,
    headers,
    post: (body, more = {}) => send(url, { body, headers: { ...headers, ...more } }),
    get: (more = {}) =>
      send(url, { method: "GET", headers: { ...headers, accept: "text/event-stream", ...more } }),
    remove: () => send(url, { method: "DELETE", headers }),
  };
  const ready = await session.post(notification("notifications/initialized"));
  if (ready.status !== 202) throw new Error(`not initialized: ${await ready.text()}`);
  return session;
}
