/** A whole HTTP server for one MCP endpoint: listens, and shuts down without cutting answers off. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { checkOptionNames } from "../protocol/option-names.js";
import type { RequestHandler } from "../transport.js";
import { createEndpoint, ENDPOINT_OPTIONS, type Endpoint, type EndpointOptions } from "./endpoint.js";
import { type GuardOptions, isLoopback, LOOPBACK_HOSTS } from "./guard.js";
import { nodeListener } from "./node.js";

/** Where to listen, who may call, and every limit; see {@link DEFAULT_HTTP_LIMITS} for the defaults. */
export interface ServeHttpOptions extends EndpointOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** The address to listen on. Default `127.0.0.1`; any that is not loopback needs `allowedHosts`. */
  readonly host?: string | undefined;
  /** Where the endpoint is. Default `/mcp`. */
  readonly path?: string | undefined;
  /**
   * Processes to serve from (node:cluster), one for each core that requests can keep busy. The program is started
   * again in each of them and serves there; in the process that starts them nothing is served. Default: this process.
   */
  readonly workers?: number | undefined;
}

const SERVE_HTTP_OPTIONS = {
  port: true,
  host: true,
  path: true,
  workers: true,
  ...ENDPOINT_OPTIONS,
} satisfies Record<keyof ServeHttpOptions, unknown>;

/** A server that listens. */
export interface HttpServer extends AsyncDisposable {
  /** The endpoint as this machine reaches it. */
  readonly url: string;
  readonly port: number;
  /** The node:http server, to add listeners to; it has no other routes. Where workers serve, each has its own. */
  readonly server: Server;
  /**
   * Stops accepting, ends subscriptions gracefully, lets requests in flight finish for up to `drainMs`, and then
   * closes what is left. Safe to call twice.
   */
  close(): Promise<void>;
}

/**
 * Serves MCP over HTTP at one path. Only pages and clients on this machine reach it unless options say otherwise.
 *
 * @throws TypeError naming the option that is wrong; the error of the system where it cannot listen.
 * @example const { url, close } = await serveHttp(server, { port: 3000 });
 */
export async function serveHttp(handler: RequestHandler, options: ServeHttpOptions): Promise<HttpServer> {
  checkOptionNames(options, SERVE_HTTP_OPTIONS, "serveHttp");
  const { host = "127.0.0.1", path = "/mcp", port } = options;
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw new TypeError(`port must be an integer from 0 to 65535, got ${String(port)}`);
  }
  if (!/^\/[^?#\s]*$/.test(path))
    throw new TypeError(`path must look like "/mcp", got ${JSON.stringify(path)}`);
  const workers = readWorkers(options);
  const cluster = workers === 1 ? undefined : await import("./cluster.js");
  const sessions = cluster?.workerSessionsHere();
  const allowedHosts = hostsFor(host, options);
  const endpoint = createEndpoint(handler, { ...options, allowedHosts }, path, sessions?.prefix);
  const { limits } = endpoint;

  // By import, node:http would cost ten times as much at start on newer versions.
  const http = process.getBuiltinModule?.("node:http") ?? (await import("node:http"));
  const timeouts = {
    headersTimeout: Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs),
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.idleTimeoutMs,
    connectionsCheckingInterval: Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs, 5_000),
  };
  const own = nodeListener(handler, endpoint);
  const server = http.createServer(timeouts, sessions ? sessions.route(own, endpoint) : own);
  const urlAt = (bound: number) => `http://${urlHost(host)}:${bound}${path}`;
  const serve = async (servers: readonly Server[]) => {
    await listen(server, port, host);
    const bound = (server.address() as AddressInfo).port;
    return listening(server, urlAt(bound), bound, () => shutDown(servers, handler, endpoint));
  };
  if (cluster === undefined) return serve([server]);

  if (cluster.isWorker()) {
    const between = sessions && http.createServer(timeouts, own);
    if (between) await sessions.listen(between);
    const served = await serve(between ? [server, between] : [server]);
    cluster.serveAsWorker(handler, served.close);
    return served;
  }
  // What keeps this process from listening keeps all of them, and is said once.
  await listen(server, port, host);
  await new Promise((resolve) => server.close(resolve));
  endpoint.close();
  const started = await cluster.startWorkers(
    handler,
    workers,
    limits.drainMs,
    endpoint.earlier?.keepsSessions ?? false,
  );
  return listening(server, urlAt(started.port), started.port, started.close);
}

function listening(server: Server, url: string, port: number, end: () => Promise<void>): HttpServer {
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= end();
    return closing;
  };
  return { url, port, server, close, [Symbol.asyncDispose]: close };
}

/** A million processes are a slip. */
const MAX_WORKERS = 1_024;

function readWorkers({ workers = 1 }: ServeHttpOptions): number {
  if (!Number.isInteger(workers) || workers < 1 || workers > MAX_WORKERS) {
    throw new TypeError(`workers must be an integer from 1 to ${MAX_WORKERS}, got ${String(workers)}`);
  }
  return workers;
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host.replace(/^\[|\]$/g, ""), () => {
      server.off("error", reject);
      resolve();
    });
  });
}

async function shutDown(
  servers: readonly Server[],
  handler: RequestHandler,
  endpoint: Endpoint,
): Promise<void> {
  const closed = Promise.all(
    servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))),
  );
  const drained = endpoint.drain();
  handler.endSubscriptions();
  for (const server of servers) server.closeIdleConnections();
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([
    drained,
    new Promise<void>((resolve) => {
      timer = setTimeout(resolve, endpoint.limits.drainMs);
    }),
  ]);
  clearTimeout(timer);
  for (const server of servers) server.closeAllConnections();
  // By then every handler has heard that its caller is gone.
  await Promise.all([closed, drained]);
  endpoint.close();
}

/** The hosts that requests may name, by where the server listens. */
function hostsFor(host: string, { allowedHosts }: GuardOptions): readonly string[] | "any" {
  if (allowedHosts !== undefined) return allowedHosts;
  if (isLoopback(host)) return [...LOOPBACK_HOSTS, urlHost(host)];
  throw new TypeError(
    `allowedHosts must be given to listen on ${JSON.stringify(host)}: name the hosts that clients use, such as ["mcp.example.com"], or "any"`,
  );
}

/** The host as it stands in a URL: for an address that means all of them, the nearest one. */
function urlHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}
