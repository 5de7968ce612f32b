/** Writing on node:http: one answer at once, or an event stream; and hearing that the client is gone. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type Answer, corsHeaders, streamHeaders, withCors } from "./answer.js";
import type { Outlet } from "./exchange.js";
import type { KeepAlive, KeptAlive } from "./keep-alive.js";
import type { HttpLimits } from "./limits.js";
import { KEEP_ALIVE } from "./sse.js";

/** A class for the same reason as the exchange that writes here. */
export class NodeOutlet implements Outlet, KeptAlive {
  private readonly res: ServerResponse;
  private readonly origin: string | undefined;
  private readonly limits: HttpLimits;
  private readonly keepAlive: KeepAlive;

  constructor(res: ServerResponse, origin: string | undefined, limits: HttpLimits, keepAlive: KeepAlive) {
    this.res = res;
    this.origin = origin;
    this.limits = limits;
    this.keepAlive = keepAlive;
  }

  document(status: number, json: string): void {
    const length = String(Buffer.byteLength(json));
    const headers = ["content-type", "application/json", "content-length", length];
    if (this.origin !== undefined) headers.push(...Object.entries(corsHeaders(this.origin)).flat());
    this.res.writeHead(status, headers);
    this.finish(json);
  }

  answer(answer: Answer): void {
    send(this.res, withCors(answer, this.origin));
  }

  open(headers?: Record<string, string>): void {
    this.res.writeHead(200, { ...streamHeaders(this.origin), ...headers });
    this.keepAlive.add(this);
  }

  event(event: string): void {
    // Judged by what waits already, so that one large message alone never ends a stream.
    if (this.res.writableLength > this.limits.maxBufferedBytes) this.res.destroy();
    else this.res.write(event);
  }

  ready(): Promise<void> | undefined {
    const { res } = this;
    if (!res.writableNeedDrain || res.destroyed) return undefined;
    return new Promise((resolve) => {
      const settle = (): void => {
        res.off("drain", settle).off("close", settle);
        resolve();
      };
      res.on("drain", settle).on("close", settle);
    });
  }

  end(lastEvent: string): void {
    this.keepAlive.delete(this);
    this.finish(lastEvent);
  }

  ping(): void {
    this.event(KEEP_ALIVE);
  }

  private finish(text: string): void {
    const { res } = this;
    res.end(text);
    // The system took all of it, or else the client has to read on: one that stops would hold it for ever.
    if (res.writableLength > 0) res.setTimeout(this.limits.unreadTimeoutMs, () => res.destroy());
  }
}

/** Sends an answer that needed no handler. */
export function send(res: ServerResponse, { status, headers, body }: Answer): void {
  const length = status === 204 ? {} : { "content-length": String(Buffer.byteLength(body)) };
  res.writeHead(status, { ...headers, ...length });
  res.end(body);
}

const queued = new WeakMap<Socket, Set<() => void>>();

/** Calls back once, when the response is sent or can no longer be: the client has disconnected. */
export function onClose(req: IncomingMessage, res: ServerResponse, callback: () => void): void {
  if (res.socket !== null) {
    res.on("close", callback);
    return;
  }
  // Pipelined behind another answer, a response has no socket yet and would not hear that it closed.
  const { socket } = req;
  let waiting = queued.get(socket);
  if (!waiting) {
    const all = new Set<() => void>();
    socket.on("close", () => {
      for (const close of all) close();
    });
    queued.set(socket, all);
    waiting = all;
  }
  const set = waiting;
  const close = (): void => {
    if (set.delete(close)) callback();
  };
  set.add(close);
  res.on("close", close);
}
