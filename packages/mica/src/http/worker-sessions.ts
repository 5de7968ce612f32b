/**
 * Sessions of earlier clients where several workers serve (2025-11-25, basic/transports, Session Management): each lives in
 * the worker that opened it, its id says in which, and whatever another worker gets for it is passed on there, as it came.
 */
import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from "node:http";
import type { Endpoint } from "./endpoint.js";
import type { NodeHandler } from "./node.js";

/** One worker, as the place of sessions. */
export interface WorkerSessions {
  /** What the ids of its sessions begin with. */
  readonly prefix: string;
  /** Serves what is this worker's own with `serve`, and passes on the rest; `endpoint` hears of that, too. */
  route(serve: NodeHandler, endpoint: Pick<Endpoint, "enter" | "leave">): NodeHandler;
  /** Takes what other workers pass on. */
  listen(server: Server): Promise<void>;
}

const WORKER = /^w(\d+)-/;
/** Of one connection alone (RFC 9110, section 7.6.1). */
const HOP_BY_HOP = /^(connection|keep-alive|transfer-encoding|upgrade|proxy-connection|te)$/i;

/**
 * @param folder Where the workers' sockets are; nobody else may enter it.
 * @param own The number of this worker.
 */
export function workerSessions(folder: string, own: number): WorkerSessions {
  return {
    prefix: `w${own}-`,
    route: (serve, endpoint) => (req, res) => {
      const [, owner] = WORKER.exec(String(req.headers["mcp-session-id"])) ?? [];
      // With several hosts or none it is refused here.
      const isStrange = req.headersDistinct["host"]?.length !== 1;
      if (owner === undefined || Number(owner) === own || isStrange) {
        serve(req, res);
        return;
      }
      // Under way here, too: this worker waits for its end before it ends itself.
      endpoint.enter();
      res.on("close", () => endpoint.leave());
      passOn(socketOf(folder, Number(owner)), req, res, serve);
    },
    listen: (server) =>
      new Promise((resolve, reject) => {
        server.once("error", reject);
        // Of this worker alone: cluster would share it.
        server.listen({ path: socketOf(folder, own), exclusive: true }, () => {
          server.off("error", reject);
          resolve();
        });
      }),
  };
}

/** Where one worker takes what is passed on: a socket in the file system, a named pipe on Windows. */
function socketOf(folder: string, worker: number): string {
  const { join, basename } = process.getBuiltinModule("node:path");
  return process.platform === "win32"
    ? `\\\\.\\pipe\\${basename(folder)}-${worker}`
    : join(folder, `${worker}.sock`);
}

/** @param serve Answers where the other worker is no more: the session is not known, so the client begins another. */
function passOn(socketPath: string, req: IncomingMessage, res: ServerResponse, serve: NodeHandler): void {
  const { request } = process.getBuiltinModule("node:http");
  const outgoing = request({
    socketPath,
    method: req.method,
    path: req.url,
    headers: forwarded(req),
    setHost: false,
    agent: false,
  });
  const stop = (): void => void outgoing.destroy();
  let connected = false;
  outgoing.on("socket", (socket) =>
    socket.on("connect", () => {
      connected = true;
      req.pipe(outgoing);
    }),
  );
  outgoing.on("response", (incoming) => {
    const { rawHeaders } = incoming;
    const kept = rawHeaders.filter((_, at) => !HOP_BY_HOP.test(rawHeaders[at - (at % 2)]!));
    res.writeHead(incoming.statusCode!, kept);
    res.flushHeaders();
    incoming.on("error", () => res.destroy());
    incoming.pipe(res);
  });
  outgoing.on("error", () => {
    if (connected) {
      // As if the connection had been to the worker itself.
      res.destroy();
      return;
    }
    res.off("close", stop);
    serve(req, res);
  });
  res.on("close", stop);
}

/** As they came: the worker that answers judges them all. */
function forwarded({ headersDistinct }: IncomingMessage): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {};
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    if (!HOP_BY_HOP.test(name)) headers[name] = values.length === 1 ? values[0] : values;
  }
  return headers;
}
