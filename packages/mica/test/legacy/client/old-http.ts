/** Hand-written HTTP servers of earlier revisions on real sockets, and clients of them. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { Client } from "../../../src/client/client.js";
import type { ClientOptions } from "../../../src/client/options.js";
import { connect, type UrlTarget } from "../../../src/connect.js";
import type { Message } from "./old-server.js";

export interface Received {
  readonly verb: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** The message of a POST; empty otherwise. */
  readonly body: Message;
}

export type Respond = (received: Received, response: ServerResponse) => unknown;

export interface Endpoint {
  readonly url: string;
  readonly received: Received[];
  /** The methods of the messages, in order. */
  readonly posted: string[];
  of(method: string): Received[];
  readonly sockets: Set<Socket>;
}

/** A server that lives until the end of the test, and by then must have lost every connection to its clients. */
export async function endpoint(respond: Respond, path = "/mcp"): Promise<Endpoint> {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      const { method: verb = "", url = "", headers } = incoming;
      const entry = { verb, url, headers, body: (text === "" ? {} : JSON.parse(text)) as Message };
      received.push(entry);
      respond(entry, response);
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    // Nothing but the client ends its connections: one that it leaves open keeps the test from ending.
    while (sockets.size > 0) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    received,
    sockets,
    get posted() {
      return received.flatMap(({ verb, body }) => (verb === "POST" ? [body.method ?? "(response)"] : []));
    },
    of: (method) => received.filter(({ verb, body }) => body.method === method || verb === method),
  };
}

export async function open(
  target: string | UrlTarget,
  options: Partial<ClientOptions> = {},
): Promise<Client> {
  const client = await connect(target, { name: "test", version: "1.0.0", ...options });
  onTestFinished(() => client.close());
  return client;
}

export const json = (response: ServerResponse, message: unknown, status = 200, headers = {}) => {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(message));
};
export const plain = (response: ServerResponse, status: number, body = "") =>
  response.writeHead(status, { "content-type": "text/plain" }).end(body);

export interface Stream {
  send(message: unknown, id?: string): void;
  raw(text: string): void;
  end(): void;
}

/** Begins an event stream. */
export function stream(response: ServerResponse): Stream {
  response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
  return {
    send: (message, id) =>
      response.write(`${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`),
    raw: (text) => response.write(text),
    end: () => response.end(),
  };
}

/** Answers what it matches. */
export const when =
  (
    matches: (received: Received) => boolean,
    answer: (response: ServerResponse, received: Received) => unknown,
  ) =>
  (received: Received, response: ServerResponse): boolean => {
    if (!matches(received)) return false;
    answer(response, received);
    return true;
  };

export interface OldHttp {
  readonly version?: string;
  /** Ids to assign, one for each handshake; none where it is left out. */
  readonly sessions?: readonly string[];
  /** What else there is; true where it has answered. */
  readonly respond?: (received: Received, response: ServerResponse) => unknown;
  /** Answers GET. Default: 405. */
  readonly listen?: Respond;
  readonly capabilities?: object;
}

/** Streamable HTTP of an earlier revision: a handshake, and whatever else the test says. */
export function streamable({
  version = "2025-11-25",
  sessions = [],
  respond,
  listen,
  capabilities,
}: OldHttp = {}): Respond {
  let handshakes = 0;
  return (received, response) => {
    const { verb, body } = received;
    if (verb === "GET") return listen ? listen(received, response) : plain(response, 405);
    if (respond?.(received, response) === true) return undefined;
    if (verb === "DELETE") return plain(response, 200);
    if (body.id === undefined || body.method === undefined) return response.writeHead(202).end();
    if (body.method === "initialize") {
      const session = sessions[handshakes++];
      const result = {
        protocolVersion: version,
        capabilities: capabilities ?? { tools: {}, resources: { subscribe: true } },
        serverInfo: { name: "old", version: "1" },
      };
      const headers = session === undefined ? {} : { "mcp-session-id": session };
      return json(response, { jsonrpc: "2.0", id: body.id, result }, 200, headers);
    }
    if (body.method === "server/discover") return plain(response, 400);
    const result = { content: [{ type: "text", text: body.method }], tools: [] };
    return json(response, { jsonrpc: "2.0", id: body.id, result });
  };
}
