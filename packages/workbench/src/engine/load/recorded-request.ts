/**
 * The bytes of one request as a client sends it over HTTP, whatever the era, session, credentials or headers: an agent
 * that writes down what leaves through it.
 */
import { type Agent, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Socket } from "node:net";

export interface RequestRecorder {
  /** For the client whose requests are to be recorded. */
  readonly agent: Agent;
  /** The last POST; undefined before there was one. */
  last(): RecordedRequest | undefined;
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
      if (bytes.toString("latin1", 0, 5) === "POST ") written = [];
      written.push(bytes);
      return write.apply(socket, given);
    }) as Socket["write"];
    return socket;
  };
  Object.assign(agent, { createConnection: recording });
  return {
    agent,
    last() {
      const text = Buffer.concat(written).toString("utf8");
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) return undefined;
      const lines = text.slice(0, end).split("\r\n");
      const kept = lines.filter((line) => !/^(content-length|connection):/i.test(line));
      return { head: kept.map((line) => `${line}\r\n`).join(""), body: text.slice(end + 4) };
    },
  };
}
