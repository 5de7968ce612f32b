/** What the tests of the server side share: a handler made by hand, and a client that speaks lines by hand. */
import type { Readable, Writable } from "node:stream";
import { PassThrough } from "node:stream";
import type { JSONRPCRequest, JSONRPCResponse, Result } from "../../src/protocol/types.js";
import { type ServeStdioOptions, serveStdio } from "../../src/stdio/serve.js";
import type { RequestHandler, ServerExchange } from "../../src/transport.js";

export type Message = Record<string, unknown> & {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
};

export type Handle = (
  request: JSONRPCRequest,
  exchange: ServerExchange,
) => Promise<Result | JSONRPCResponse> | Result | JSONRPCResponse;

/** A handler from a function that returns a result or a whole response. */
export function handlerOf(handle: Handle, endSubscriptions = () => {}): RequestHandler {
  return {
    async handle(request, exchange) {
      const made = await handle(request, exchange);
      return "jsonrpc" in made
        ? (made as JSONRPCResponse)
        : { jsonrpc: "2.0", id: request.id, result: made as Result };
    },
    mirroredHeaders: () => [],
    supportedVersions: ["2026-07-28"],
    endSubscriptions,
  };
}

export interface LineClient {
  /** Writes one message, or a text as it is. */
  send(message: Message | string | Buffer): void;
  /** The next message of the server. */
  next(): Promise<Message>;
  take(count: number): Promise<Message[]>;
  /** What has arrived and was not taken. */
  readonly arrived: Message[];
}

/** Reads one message per line, and fails on anything else. */
export function lineClient(toServer: Writable, fromServer: Readable): LineClient {
  const arrived: Message[] = [];
  const waiting: ((message: Message) => void)[] = [];
  let rest = "";
  fromServer.on("data", (chunk) => {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop() as string;
    for (const line of lines) {
      const message = JSON.parse(line) as Message;
      const waiter = waiting.shift();
      if (waiter) waiter(message);
      else arrived.push(message);
    }
  });
  const next = () => {
    const message = arrived.shift();
    return message ? Promise.resolve(message) : new Promise<Message>((resolve) => waiting.push(resolve));
  };
  return {
    arrived,
    next,
    async take(count) {
      const messages: Message[] = [];
      while (messages.length < count) messages.push(await next());
      return messages;
    },
    send: (message) =>
      void toServer.write(
        typeof message === "string" || Buffer.isBuffer(message)
          ? message
          : `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`,
      ),
  };
}

/** A handler served on a channel in memory. */
export function open(handler: RequestHandler, options: ServeStdioOptions = {}) {
  const input = new PassThrough();
  const output = new PassThrough();
  const problems: string[] = [];
  const onProblem = (text: string) => problems.push(text);
  const service = serveStdio(handler, { input, output, onProblem, ...options });
  return { input, output, problems, service, ...lineClient(input, output) };
}

/** Something that a test resolves itself. */
export function gate<T = void>(): { readonly opened: Promise<T>; open(value: T): void } {
  let open!: (value: T) => void;
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
