/** Streamable HTTP on node:http, the fast path: no web streams, no `Request`, one write per answer. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestHandler } from "../transport.js";
import { notAcceptable, readAccept, receive, refuseHead, tooLarge, unavailable } from "./admit.js";
import { type Answer, corsHeaders, refuse } from "./answer.js";
import { HttpExchange, type Outlet, serve } from "./exchange.js";
import { createGuard, type GuardOptions } from "./guard.js";
import { createKeepAlive, type KeepAlive } from "./keep-alive.js";
import { type HttpLimits, type HttpServerLimits, httpLimits } from "./limits.js";
import { readBody, refuseBody } from "./node-body.js";
import { KEEP_ALIVE } from "./sse.js";

/** Who may call, and every limit; see {@link DEFAULT_HTTP_LIMITS} for the defaults. */
export interface NodeHandlerOptions extends GuardOptions, Partial<HttpLimits> {}

/** A listener for the `request` event of a node:http server, or a route of a framework on top of one. */
export type NodeHandler = (req: IncomingMessage, res: ServerResponse) => void;

/**
 * Makes a request listener that serves MCP, to mount in a server of your own. It reads the body itself, or takes
 * what a body parser left in `req.body`. It answers at every path that is routed to it.
 *
 * @throws TypeError naming the option that is wrong.
 * @example http.createServer(createNodeHandler(server, { allowedHosts: ["mcp.example.com"] })).listen(8080);
 */
export function createNodeHandler(handler: RequestHandler, options: NodeHandlerOptions = {}): NodeHandler {
  return createNodeBinding(handler, options, undefined).listener;
}

/** A listener, with what its server needs to shut down. */
export interface NodeBinding {
  readonly listener: NodeHandler;
  /** Refuses new requests from now on, and resolves when those in flight are done. */
  drain(): Promise<void>;
}

/** The binding behind {@link createNodeHandler}; with a path, other paths are answered 404. */
export function createNodeBinding(
  handler: RequestHandler,
  options: GuardOptions & Partial<HttpServerLimits>,
  path: string | undefined,
): NodeBinding {
  const limits = httpLimits(options);
  const guard = createGuard(options);
  const keepAlive = createKeepAlive(limits.keepAliveMs);
  let inFlight = 0;
  let draining = false;
  let onIdle: (() => void) | undefined;

  function listener(req: IncomingMessage, res: ServerResponse): void {
    const headers = req.headers as Record<string, string | undefined>;
    const target = req.url ?? "";
    const refusal = duplicateHost(req) ?? guardTarget(target) ?? guard(headers["host"], headers["origin"]);
    if (refusal !== undefined) return send(res, refuse(403, refusal), undefined);
    const origin = headers["origin"];
    const header = (name: string): string | undefined => headers[name];
    const refused = refuseHead(req.method ?? "", target, header, path, handler, limits);
    if (refused?.status === 413) return refuseBody(req, res, withCors(refused, origin));
    if (refused) return send(res, refused, origin);
    const forms = readAccept(headers["accept"]);
    if (!forms) return send(res, notAcceptable(headers["accept"]), origin);
    if (draining) return send(res, unavailable("The server is shutting down"), origin);
    if (inFlight >= limits.maxInFlight) {
      return send(res, unavailable(`More than maxInFlight, ${limits.maxInFlight}, requests at once`), origin);
    }

    inFlight += 1;
    const outlet = new NodeOutlet(res, origin, limits, keepAlive);
    const exchange = new HttpExchange(outlet, forms);
    onClose(req, res, () => {
      inFlight -= 1;
      keepAlive.delete(outlet);
      exchange.abort();
      if (inFlight === 0) onIdle?.();
    });
    readBody(
      req,
      limits.maxBodyBytes,
      (text) => {
        const received = receive(text, header, forms, handler, limits);
        if (received.answer) send(res, received.answer, origin);
        else serve(received.request, exchange, handler);
      },
      () => refuseBody(req, res, withCors(tooLarge(limits), origin)),
    );
  }

  /** A target that is a whole URL overrules Host (RFC 9112, section 3.2.2), so it must pass as well. */
  function guardTarget(target: string): string | undefined {
    if (target.startsWith("/")) return undefined;
    return guard(/^[a-z]+:\/\/([^/?#]*)/i.exec(target)?.[1], undefined);
  }

  return {
    listener,
    drain() {
      draining = true;
      return new Promise((resolve) => {
        onIdle = resolve;
        if (inFlight === 0) resolve();
      });
    },
  };
}
