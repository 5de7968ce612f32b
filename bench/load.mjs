/** A closed-loop HTTP load over keep-alive sockets: as little work of its own as can be, so that servers differ, not it. */
import { connect } from "node:net";

/**
 * Sends the same request over and over on `connections` sockets for `ms` milliseconds.
 *
 * @returns {Promise<{ requests: number, seconds: number, latencies: Float64Array }>}
 */
export async function load({ port, path = "/mcp", headers, body, connections, ms }) {
  const bytes = Buffer.from(
    [
      `POST ${path} HTTP/1.1`,
      `host: 127.0.0.1:${port}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      `content-length: ${Buffer.byteLength(body)}`,
      "",
      body,
    ].join("\r\n"),
  );
  const latencies = [];
  const began = performance.now();
  const deadline = began + ms;
  await Promise.all(Array.from({ length: connections }, () => drive(port, bytes, deadline, latencies)));
  return {
    requests: latencies.length,
    seconds: (performance.now() - began) / 1000,
    latencies: Float64Array.from(latencies).sort(),
  };
}

function drive(port, bytes, deadline, latencies) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.setNoDelay(true);
    let sent = 0;
    let received = "";
    const send = () => {
      sent = performance.now();
      socket.write(bytes);
    };
    socket.on("connect", send);
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("the server closed the connection")));
    socket.on("data", (data) => {
      received += data.latin1Slice();
      if (!isWhole(received)) return;
      if (!received.startsWith("HTTP/1.1 200")) return reject(new Error(received.slice(0, 400)));
      received = "";
      const now = performance.now();
      latencies.push(now - sent);
      if (now < deadline) return send();
      socket.removeAllListeners("close");
      socket.destroy();
      resolve();
    });
  });
}

function isWhole(text) {
  const head = text.indexOf("\r\n\r\n");
  if (head < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, head));
  if (length !== null) return text.length >= head + 4 + Number(length[1]);
  return text.endsWith("\r\n0\r\n\r\n");
}
