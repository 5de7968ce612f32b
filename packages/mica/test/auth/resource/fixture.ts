/** A protected server over real sockets, on both bindings, and a client that speaks HTTP by hand. */
import http from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { expect, onTestFinished } from "vitest";
import { createFetchHandler } from "../../../src/http/fetch.js";
import { serveHttp } from "../../../src/http/serve.js";
import type { HandlerContext } from "../../../src/server/context.js";
import { createServer, type Server } from "../../../src/server/server.js";
import type { RequestHandler } from "../../../src/transport.js";
import { headersOf, request } from "../../http/fixture.js";

export interface Sent {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly challenge: string | undefined;
  readonly text: string;
  readonly json: {
    id?: unknown;
    error?: { code: number; message: string; data?: unknown };
    result?: unknown;
  };
}

export interface SendOptions {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string;
}

export interface Endpoint {
  readonly port: number;
  send(options: SendOptions): Promise<Sent>;
  /** `tools/call` as a current client sends it. */
  call(tool: string, token?: string, options?: SendOptions): Promise<Sent>;
  /** Any request of the current revision. */
  ask(method: string, params: Record<string, unknown>, token?: string): Promise<Sent>;
  close(): Promise<void>;
}

type Start = (handler: RequestHandler, options?: object) => Promise<Endpoint>;

export const BINDINGS: Record<string, Start> = {
  async "node:http"(handler, options = {}) {
    const { port, close } = await serveHttp(handler, { port: 0, ...options });
    return endpoint(port, close);
  },
  async "web standards"(handler, options = {}) {
    const serve = createFetchHandler(handler, options);
    const listener = http.createServer((req, res) => {
      void respond(req, res, serve);
    });
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    return endpoint((listener.address() as AddressInfo).port, async () => {
      listener.closeAllConnections();
      await new Promise<void>((resolve) => listener.close(() => resolve()));
    });
  },
};

async function respond(
  req: http.IncomingMessage,
  res: http.ServerResponse,
  serve: (request: Request) => Promise<Response>,
): Promise<void> {
  const headers = new Headers();
  for (let at = 0; at < req.rawHeaders.length; at += 2) {
    headers.append(req.rawHeaders[at]!, req.rawHeaders[at + 1]!);
  }
  const method = req.method ?? "GET";
  const hasBody = method !== "GET" && method !== "HEAD";
  const response = await serve(
    new Request(`http://${req.headers.host}${req.url}`, {
      method,
      headers,
      ...(hasBody && { body: Readable.toWeb(req) as unknown as ReadableStream, duplex: "half" }),
    } as RequestInit),
  );
  res.writeHead(response.status, Object.fromEntries(response.headers));
  res.end(Buffer.from(await response.arrayBuffer()));
}

function endpoint(port: number, close: () => Promise<void>): Endpoint {
  onTestFinished(close);
  const send: Endpoint["send"] = ({ method = "POST", path = "/mcp", headers = {}, body }) =>
    new Promise((resolve, reject) => {
      const options = { port, host: "127.0.0.1", method, path, agent: false, headers };
      const sent = http.request(options, (res) => {
        res.setEncoding("utf8");
        let text = "";
        res.on("data", (chunk: string) => {
          text += chunk;
        });
        res.on("error", reject);
        res.on("end", () => {
          resolve({
            status: res.statusCode ?? 0,
            headers: res.headers,
            challenge: res.headers["www-authenticate"],
            text,
            json: text.startsWith("{") ? JSON.parse(text) : {},
          });
        });
      });
      sent.on("error", reject);
      sent.end(body);
    });
  const ask: Endpoint["ask"] = (method, params, token) => {
    const message = request(method, params);
    const credentials = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return send({ headers: { ...headersOf(message), ...credentials }, body: JSON.stringify(message) });
  };
  return {
    port,
    send,
    ask,
    close,
    call(tool, token, { headers = {}, ...rest } = {}) {
      const message = request("tools/call", { name: tool, arguments: {} });
      const credentials = token === undefined ? {} : { authorization: `Bearer ${token}` };
      return send({
        body: JSON.stringify(message),
        ...rest,
        headers: { ...headersOf(message), ...credentials, ...headers },
      });
    },
  };
}

export interface Incidents extends Server {
  /** The context of every call that a handler saw. */
  readonly seen: HandlerContext[];
}

/** Two tools, one resource, one template and one prompt, each with scopes of its own; and one tool without. */
export function incidentServer(options: { filterByScope?: boolean } = {}): Incidents {
  const server = createServer({ name: "incidents", version: "1.0.0", onError: () => {}, ...options });
  const seen: HandlerContext[] = [];
  const say = (ctx: HandlerContext) => {
    seen.push(ctx);
    return `hello ${ctx.auth?.principal}`;
  };
  server.tool("list_incidents", {}, (_args, ctx) => say(ctx));
  server.tool("close_incident", { scopes: ["incidents:write"] }, (_args, ctx) => say(ctx));
  server.tool("purge", { scopes: ["incidents:write", "incidents:admin", "audit:write"] }, (_args, ctx) =>
    say(ctx),
  );
  server.resource("incidents://open", { name: "open" }, (ctx) => say(ctx));
  server.resource("incidents://audit", { name: "audit", scopes: ["audit:read"] }, (ctx) => say(ctx));
  server.resourceTemplate(
    "incidents://{id}/log",
    { name: "log", scopes: ["logs:read"], complete: { id: ["1", "2"] } },
    (_variables, ctx) => say(ctx),
  );
  server.prompt("report", { scopes: ["reports:write"] }, (_args, ctx) => say(ctx));
  return { ...server, seen };
}

/** The text of a tool's result. @throws where it is another answer */
export function textOf({ status, json }: Sent): string {
  expect(status).toBe(200);
  return (json.result as { content: { text: string }[] }).content[0]!.text;
}
