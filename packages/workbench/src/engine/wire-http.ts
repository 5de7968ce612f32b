/** The wire to a URL: one message is one POST (transports/streamable-http). Redirects are not followed. */
import * as http from "node:http";
import * as https from "node:https";
import type { AuthorizedRequest, HttpAuth } from "mica-mcp/client";
import { keptAuth } from "./credentials.js";
import { type EventBlock, readEvents } from "./event-blocks.js";
import { createHttpSession } from "./http-session.js";
import { isObject, readJson } from "./json.js";
import { createMasker, givenSecrets } from "./secrets.js";
import type { UrlTarget } from "./target.js";
import type { Wire, WireSettings } from "./wire.js";

/** Bytes of one body that are read. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Milliseconds in which the session of an earlier revision may be ended. */
const PARTING_MS = 2_000;

interface Sending {
  readonly method: "POST" | "GET" | "DELETE";
  readonly text: string;
  readonly headers: Record<string, string>;
}

export async function openHttp(to: UrlTarget, settings: WireSettings): Promise<Wire> {
  const { url, headers: given } = to;
  const { signal, onEvent } = settings;
  const target = new URL(url);
  target.hash = "";
  const masker = createMasker(givenSecrets(given));
  const session = createHttpSession();
  const isGiven = (name: string) =>
    Object.keys(given).some((one) => one.toLowerCase() === name.toLowerCase());
  const auth = await keptAuth(to);
  const open = new Map<object, { readonly id: unknown; readonly end: () => void }>();
  let isClosed = false;

  async function send(sending: Sending): Promise<boolean> {
    if (isClosed) return false;
    const headers = await allHeaders(sending, auth);
    return new Promise((resolve) => perform(sending, headers, resolve));
  }

  async function allHeaders({ method, headers }: Sending, from: HttpAuth | undefined) {
    const request: AuthorizedRequest = { server: target, url: target, method, signal };
    const credentials = await from?.authorize(request).catch((error: Error) => {
      onEvent({ kind: "failed", message: error.message });
      return {};
    });
    // A header that was given takes the place of the same header of the protocol, to see what a server says to it.
    const own = Object.entries({ ...headers, ...credentials }).filter(([name]) => !isGiven(name));
    return { Host: target.host, Connection: "close", ...Object.fromEntries(own), ...given };
  }

  function perform(
    { method, text }: Sending,
    headers: Record<string, string>,
    settle: (sent: boolean) => void,
  ): void {
    const { request } = target.protocol === "https:" ? https : http;
    const body = Buffer.from(text);
    const all: Record<string, string> = {
      ...headers,
      ...(method === "POST" && { "Content-Length": String(body.length) }),
    };
    // A connection of its own, so that nothing is sent that is not shown.
    const outgoing = request(target, { method, headers: all, agent: false });
    const key = {};
    const done = (answered: boolean) => {
      open.delete(key);
      settle(answered);
    };
    const fail = (error: Error & { code?: string }) => {
      if (open.has(key) && !isClosed)
        onEvent({ kind: "failed", message: error.message || error.code || "lost" });
      done(false);
    };
    open.set(key, { id: idOf(text), end: () => outgoing.destroy() });
    const head = [
      `${method} ${masker.text(target.pathname + target.search)} HTTP/1.1`,
      ...Object.entries(all).map(([name, value]) => `${name}: ${masker.header(name, value)}`),
    ];
    onEvent({ kind: "sent", text, head });
    outgoing.on("error", fail);
    outgoing.on("response", (incoming) => {
      const status = incoming.statusCode ?? 0;
      onEvent({ kind: "head", status, head: answerHead(incoming, masker.header) });
      receive(incoming, (block) => {
        if (block.data !== undefined) session.learn(text, block.data, incoming.headers);
        const isAside = method !== "POST";
        // A refusal to stream is no message to anybody.
        const data = isAside && status !== 200 ? undefined : block.data;
        onEvent({ kind: "received", text: block.text, data, status, isAside });
      }).then(() => done(true), fail);
    });
    outgoing.end(method === "POST" ? body : undefined);
  }

  /** Messages that belong to no request; a server need not offer them. */
  async function listen(): Promise<void> {
    const headers = { Accept: "text/event-stream", ...session.sessionHeaders() };
    await send({ method: "GET", text: "", headers });
  }

  const endAll = () => {
    for (const { end } of open.values()) end();
  };
  const close = async () => {
    if (isClosed) return;
    if (session.id !== undefined) {
      const parting = send({ method: "DELETE", text: "", headers: session.sessionHeaders() });
      await Promise.race([parting, new Promise((resolve) => setTimeout(resolve, PARTING_MS).unref())]);
    }
    isClosed = true;
    endAll();
  };
  signal.addEventListener("abort", endAll, { once: true });

  return {
    kind: "http",
    async send(text) {
      const answered = await send({ method: "POST", text, headers: session.headersFor(text) });
      const message = readJson(text)?.value;
      const isGreeting = isObject(message) && message["method"] === "notifications/initialized";
      if (answered && isGreeting && session.isEarlier) void listen();
      return answered;
    },
    cancel(id) {
      const found = session.isEarlier ? [] : [...open.values()].filter((one) => one.id === id);
      for (const { end } of found) end();
      return found.length > 0;
    },
    close,
  };
}

function idOf(text: string): unknown {
  const message = readJson(text)?.value;
  return isObject(message) ? message["id"] : undefined;
}

function answerHead(
  incoming: http.IncomingMessage,
  masked: (name: string, value: string) => string,
): string[] {
  const { rawHeaders } = incoming;
  const lines = [`HTTP/${incoming.httpVersion} ${incoming.statusCode} ${incoming.statusMessage}`.trimEnd()];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    lines.push(`${name}: ${masked(name, rawHeaders[at + 1] as string)}`);
  }
  return lines;
}

async function receive(incoming: http.IncomingMessage, onBlock: (block: EventBlock) => void): Promise<void> {
  const type = incoming.headers["content-type"] ?? "";
  if (/^text\/event-stream\b/i.test(type)) return readEvents(incoming, MOST_BYTES, onBlock);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MOST_BYTES) throw new Error(`the answer is longer than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString("utf8");
  if (text !== "") onBlock({ text, data: /^application\/json\b/i.test(type) ? text : undefined });
}
