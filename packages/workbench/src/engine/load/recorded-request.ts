/**
 * The bytes of one request as a client sends it over HTTP, whatever the era, session, credentials or headers: an agent
 * that writes down what leaves through it.
 */
import { type Agent, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Socket } from "node:net";
import { isObject, readJson } from "../json.js";

export interface RequestRecorder {
  /** For the client whose requests are to be recorded. */
  readonly agent: Agent;
  /** The last request of that method; undefined where the last that left was another. */
  last(method: string): RecordedRequest | undefined;
}

export interface RecordedRequest {
  /** Request line and headers, without `content-length`, each line with its end. */
  readonly head: string;
  readonly body: string;
}

export function recordRequests(protocol: string): RequestRecorder {
  const agent =
    protocol === "https:" ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  let written: Buffer[] = [];
  /** Which connection the last POST took; others may be open, for events. */
  let writing: Socket | undefined;
  const connect = (agent as unknown as { createConnection: (...args: unknown[]) => Socket }).createConnection;
  const recording = (...args: unknown[]): Socket => {
    const socket = connect.apply(agent, args);
    const write = socket.write as (...args: unknown[]) => boolean;
    socket.write = ((...given: unknown[]) => {
      const [chunk, encoding] = given;
      const bytes =
        typeof chunk === "string"
          ? Buffer.from(chunk, typeof encoding === "string" ? (encoding as BufferEncoding) : "utf8")
          : Buffer.from(chunk as Uint8Array);
      if (bytes.toString("latin1", 0, 5) === "POST ") {
        written = [];
        writing = socket;
      }
      if (socket === writing) written.push(bytes);
      return write.apply(socket, given);
    }) as Socket["write"];
    return socket;
  };
  Object.assign(agent, { createConnection: recording });
  return {
    agent,
    last(method) {
      const text = Buffer.concat(written).toString("utf8");
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) return undefined;
      const lines = text.slice(0, end).split("\r\n");
      const kept = lines.filter((line) => !/^(content-length|connection):/i.test(line));
      const body = text.slice(end + 4);
      const { value } = readJson(body) ?? {};
      if (!isObject(value) || value["method"] !== method) return undefined;
      return { head: kept.map((line) => `${line}\r\n`).join(""), body };
    },
  };
}
