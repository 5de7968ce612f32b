/**
 * Sends a recorded request over sockets of its own, with as little work as can be, so that it is the server that is
 * measured: a client spends three times as long on a request.
 */
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { eventData } from "../event-blocks.js";
import { type HttpAnswer, readAnswers } from "./http-answer.js";
import type { RecordedRequest } from "./recorded-request.js";
import { failureIn, type Sender, type SendFailure } from "./sender.js";

interface Line {
  readonly socket: Socket;
  done: ((failure: SendFailure | undefined) => void) | undefined;
  sentAt: number;
}

/** Ids of as many digits each, so that all requests are of one length. */
const FIRST_ID = 1_000_000_000;
const SWEEP_MS = 50;
/** Less than servers commonly keep an unused connection. */
const IDLE_MS = 4_000;

/** @param timeoutMs Longest wait for an answer; its connection is closed then. */
export function httpSender(url: URL, { head, body }: RecordedRequest, timeoutMs: number): Sender {
  const mark = "\u0001";
  const [before = "", after = ""] = JSON.stringify({ ...(JSON.parse(body) as object), id: mark }).split(
    JSON.stringify(mark),
  );
  const length = Buffer.byteLength(before) + Buffer.byteLength(after) + String(FIRST_ID).length;
  const begin = `${head}connection: keep-alive\r\ncontent-length: ${length}\r\n\r\n${before}`;
  const idle: Line[] = [];
  const lines = new Set<Line>();
  let id = FIRST_ID;

  const sweep = setInterval(() => {
    const now = performance.now();
    for (const line of lines) {
      if (line.done !== undefined && now - line.sentAt > timeoutMs) {
        settle(line, { kind: "timeout", message: `no answer within ${timeoutMs} ms` });
        drop(line);
      }
    }
  }, SWEEP_MS);

  function drop(line: Line): void {
    lines.delete(line);
    const at = idle.indexOf(line);
    if (at >= 0) idle.splice(at, 1);
    line.socket.destroy();
  }

  function settle(line: Line, failure: SendFailure | undefined): void {
    const { done } = line;
    line.done = undefined;
    done?.(failure);
  }

  function open(): Line {
    const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const socket =
      url.protocol === "https:"
        ? connectTls({ port, host, ...(isIP(host) === 0 && { servername: host }) })
        : connect({ port, host });
    const line: Line = { socket, done: undefined, sentAt: 0 };
    const reader = readAnswers();
    let connected = false;
    let problem: Error | undefined;
    socket.setNoDelay(true);
    socket.once(url.protocol === "https:" ? "secureConnect" : "connect", () => {
      connected = true;
    });
    const take = (answer: HttpAnswer) => {
      if (answer.keepsAlive) {
        line.sentAt = performance.now();
        idle.push(line);
      } else drop(line);
      settle(line, failureOf(answer));
    };
    socket.on("data", (chunk) => {
      try {
        const answer = reader.feed(chunk);
        if (answer !== undefined) take(answer);
      } catch (error) {
        settle(line, { kind: "invalid_response", message: (error as Error).message });
        drop(line);
      }
    });
    socket.on("error", (error) => {
      problem = error;
    });
    socket.on("close", () => {
      drop(line);
      const last = line.done && reader.end();
      if (last !== undefined) return settle(line, failureOf(last));
      const kind = connected ? "connection_lost" : "connect_failed";
      settle(line, { kind, message: problem?.message || "the server closed the connection" });
    });
    lines.add(line);
    return line;
  }

  function free(): Line {
    for (let line = idle.pop(); line !== undefined; line = idle.pop()) {
      if (performance.now() - line.sentAt < IDLE_MS && line.socket.writable) return line;
      drop(line);
    }
    return open();
  }

  return {
    send(done) {
      const line = free();
      line.done = done;
      line.sentAt = performance.now();
      line.socket.write(`${begin}${id++}${after}`);
    },
    close() {
      clearInterval(sweep);
      for (const line of lines) {
        line.done = undefined;
        line.socket.destroy();
      }
      lines.clear();
      idle.length = 0;
    },
  };
}

function failureOf({ status, body, isEvents }: HttpAnswer): SendFailure | undefined {
  let message: unknown;
  try {
    message = isEvents ? responseIn(body) : JSON.parse(body);
  } catch {
    message = undefined;
  }
  const isOk = status >= 200 && status < 300;
  if (message === undefined) {
    return isOk
      ? { kind: "invalid_response", message: "the answer holds no response" }
      : { kind: `http_${status}`, message: `HTTP status ${status}` };
  }
  const failure = failureIn(message);
  if (isOk || failure?.kind.startsWith("rpc_")) return failure;
  return { kind: `http_${status}`, message: `HTTP status ${status}` };
}

/** The response at the end of a stream of events (transports/streamable-http, Sending Messages). */
function responseIn(events: string): unknown {
  return eventData(events)
    .map((text) => JSON.parse(text) as { id?: unknown; method?: unknown })
    .findLast(({ id, method }) => id !== undefined && method === undefined);
}
