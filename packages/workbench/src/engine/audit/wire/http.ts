/** One HTTP request at wire level: headers and body exactly as they are given, the answer exactly as it came. */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { McpError } from "mica-mcp/client";
import { eventData } from "../../event-blocks.js";
import type { HttpAnswer } from "./raw.js";

export interface HttpSending {
  readonly url: string;
  readonly method: string;
  /** Names are written in the case that they have here. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called with each event's data; true says that nothing more is wanted. */
  readonly isEnough: (data: readonly string[]) => boolean;
  /** Whether a stream of events is not waited for. */
  readonly headOnly?: boolean;
}

export interface HttpReceived extends HttpAnswer {
  /** The data of the events, where it is an event stream; else the body, if there is one. */
  readonly texts: readonly string[];
  readonly ended: "timeout" | "closed" | undefined;
}

/** Bytes of an answer that are read. */
const MOST_BYTES = 32 << 20;

const agents = {
  "http:": new HttpAgent({ keepAlive: false }),
  "https:": new HttpsAgent({ keepAlive: false }),
};

/** @throws McpError `connect_failed` or `connection_lost` where there was no answer at all. */
export function sendHttp(sending: HttpSending): Promise<HttpReceived> {
  const { method, headers, body, timeoutMs, signal, isEnough, headOnly } = sending;
  const url = new URL(sending.url);
  const secure = url.protocol === "https:";
  const all = body === undefined ? headers : { ...headers, "Content-Length": String(body.byteLength) };
  return new Promise((resolve, reject) => {
    const options = { method, headers: all, agent: secure ? agents["https:"] : agents["http:"], signal };
    const outgoing = (secure ? httpsRequest : httpRequest)(url, options);
    const timer = setTimeout(() => outgoing.destroy(new TimedOut()), timeoutMs);
    let answer: IncomingMessage | undefined;
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = (ended: HttpReceived["ended"]) => {
      clearTimeout(timer);
      if (answer) resolve({ ...read(answer, chunks), ended });
    };
    outgoing.on("error", (error: Error & { code?: string }) => {
      clearTimeout(timer);
      if (answer) return settle(error instanceof TimedOut ? "timeout" : "closed");
      if (signal.aborted) return reject(signal.reason);
      if (error instanceof TimedOut) {
        return reject(
          new McpError("timeout", `No answer to a ${method} of ${url.pathname} within ${timeoutMs} ms`),
        );
      }
      const code =
        error.code === "ECONNRESET" || error.code === "EPIPE" ? "connection_lost" : "connect_failed";
      reject(new McpError(code, `${url.origin} could not be asked: ${error.message}`, { cause: error }));
    });
    outgoing.on("response", (response) => {
      answer = response;
      const stream = /^text\/event-stream\b/i.test(response.headers["content-type"] ?? "");
      if (stream && headOnly) {
        settle(undefined);
        outgoing.destroy();
        return;
      }
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length > MOST_BYTES || (stream && isEnough(eventData(Buffer.concat(chunks).toString("utf8"))))) {
          settle(length > MOST_BYTES ? "closed" : undefined);
          outgoing.destroy();
        }
      });
      response.on("end", () => settle(undefined));
      response.on("error", () => settle("closed"));
    });
    outgoing.end(body);
  });
}

class TimedOut extends Error {}

function read(answer: IncomingMessage, chunks: readonly Buffer[]): Omit<HttpReceived, "ended"> {
  const body = Buffer.concat(chunks).toString("utf8");
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  const stream = /^text\/event-stream\b/i.test(headers["content-type"] ?? "");
  const texts = stream ? eventData(body) : body.trim() === "" ? [] : [body];
  return { status: answer.statusCode ?? 0, headers, body, texts };
}
