/** A closed-loop HTTP load over keep-alive sockets: as little work of its own as can be, so that servers differ, not it. */
import { connect } from "node:net";

/** One POST as bytes, made once and sent over and over. */
export function post({ port, path = "/mcp", headers, body }) {
  return Buffer.from(
    [
      `POST ${path} HTTP/1.1`,
      `host: 127.0.0.1:${port}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      `content-length: ${Buffer.byteLength(body)}`,
      "",
      body,
    ].join("\r\n"),
  );
}

/**
 * Sends the same request on `connections` sockets for `ms` milliseconds, or until `requests` are answered.
 *
 * @returns {Promise<{ requests: number, seconds: number, latencies: Float64Array }>} latencies in milliseconds, sorted
 */
export async function load({ port, bytes, connections, ms = Number.POSITIVE_INFINITY, requests }) {
  const latencies = requests === undefined ? [] : undefined;
  const began = performance.now();
  const run = { left: requests ?? Number.POSITIVE_INFINITY, deadline: began + ms, answered: 0, latencies };
  await Promise.all(Array.from({ length: connections }, () => drive(port, bytes, run)));
  return {
    requests: run.answered,
    seconds: (performance.now() - began) / 1000,
    latencies: Float64Array.from(latencies ?? []).sort(),
  };
}

const END_OF_HEAD = "\r\n\r\n";
const LAST_CHUNK = Buffer.from("0\r\n\r\n");

function drive(port, bytes, run) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.setNoDelay(true);
    let sent = 0;
    /** Bytes of the answer that are still to come; undefined before its head, infinite where it is chunked. */
    let missing;
    const send = () => {
      if (run.left-- <= 0) return finish();
      sent = performance.now();
      socket.write(bytes);
    };
    const finish = () => {
      socket.removeAllListeners("close");
      socket.destroy();
      resolve();
    };
    socket.on("connect", send);
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("the server closed the connection")));
    socket.on("data", (data) => {
      if (missing === undefined) {
        const head = data.latin1Slice(0, Math.min(2048, data.length));
        const end = head.indexOf(END_OF_HEAD);
        if (end < 0 || !head.startsWith("HTTP/1.1 200")) return reject(new Error(head.slice(0, 400)));
        const length = /\r\ncontent-length: (\d+)/i.exec(head);
        missing = length ? Number(length[1]) + end + 4 : Number.POSITIVE_INFINITY;
      }
      missing -= data.length;
      if (missing > 0 && !(missing === Number.POSITIVE_INFINITY && endsWith(data, LAST_CHUNK))) return;
      missing = undefined;
      const now = performance.now();
      run.answered++;
      run.latencies?.push(now - sent);
      if (now < run.deadline) send();
      else finish();
    });
  });
}

function endsWith(data, end) {
  return data.length >= end.length && data.compare(end, 0, end.length, data.length - end.length) === 0;
}

/** The answer to one POST, as text, for whoever has to look at it. */
export function answerTo({ port, bytes }) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    let text = "";
    socket.setTimeout(10_000, () => socket.destroy(new Error(`no whole answer within 10 s: ${text}`)));
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
    socket.on("data", (data) => {
      text += data.latin1Slice();
      const end = text.indexOf(END_OF_HEAD);
      const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end));
      if (end >= 0 && (length ? text.length >= end + 4 + Number(length[1]) : text.endsWith("0\r\n\r\n"))) {
        socket.destroy();
      }
    });
  });
}
