/** Streamable HTTP on node:http, the fast path: no web streams, no `Request`, one write per answer. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { checkOptionNames } from "../protocol/option-names.js";
import type { AuthInfo, RequestHandler } from "../transport.js";
import { type AcceptedForms, authorityOf } from "./admit.js";
import type { Answer } from "./answer.js";
import type { AuthorizationOptions } from "./authorization.js";
import { createEndpoint, type EarlierClientOptions, ENDPOINT_OPTIONS, type Endpoint } from "./endpoint.js";
import { HttpExchange, serve } from "./exchange.js";
import type { GuardOptions } from "./guard.js";
import { createKeepAlive } from "./keep-alive.js";
import type { HttpLimits } from "./limits.js";
import { readBody, refuseBody } from "./node-body.js";
import { NodeOutlet, onClose, send } from "./node-outlet.js";

/** Who may call, whether earlier clients are served, and every limit; see {@link DEFAULT_HTTP_LIMITS} for the defaults. */
export interface NodeHandlerOptions
  extends GuardOptions,
    AuthorizationOptions,
    EarlierClientOptions,
    Partial<HttpLimits> {}

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
  checkOptionNames(options, ENDPOINT_OPTIONS, "createNodeHandler");
  return nodeListener(handler, createEndpoint(handler, options, undefined));
}

/** The listener of an endpoint. */
export function nodeListener(handler: RequestHandler, endpoint: Endpoint): NodeHandler {
  const { limits } = endpoint;
  const keepAlive = createKeepAlive(limits.keepAliveMs);

  return (req, res) => {
    const header = (name: string): string | undefined => req.headers[name] as string | undefined;
    const { method = "", url: target = "" } = req;
    const head = { method, target, hosts: hostsOf(req, target), header };
    const refuse = (answer: Answer): void => {
      if (answer.status === 413) refuseBody(req, res, answer);
      else send(res, answer);
    };
    const { forms, answer } = endpoint.admit(head);
    if (answer) {
      refuse(answer);
      return;
    }

    const outlet = new NodeOutlet(res, req.headers.origin, limits, keepAlive);
    const exchange = new HttpExchange(outlet, forms);
    let isClosed = false;
    let onGone: (() => void) | undefined;
    endpoint.enter();
    onClose(req, res, () => {
      isClosed = true;
      endpoint.leave();
      keepAlive.delete(outlet);
      exchange.abort();
      onGone?.();
    });

    const proceed = (auth: AuthInfo | undefined, forms: AcceptedForms): void => {
      exchange.auth = auth;
      exchange.forms = forms;
      if (method !== "POST") {
        onGone = endpoint.earlier?.handle({
          method: method as "GET" | "DELETE",
          header,
          forms,
          outlet,
          auth,
        });
        return;
      }
      readBody(
        req,
        limits.maxBodyBytes,
        (text) => {
          const received = endpoint.receive(text, header, forms, auth);
          if (received.answer) send(res, received.answer);
          else if (received.request) serve(received.request, exchange, handler);
          else {
            onGone = endpoint.earlier?.handle({
              method,
              body: received.earlier,
              header,
              forms,
              outlet,
              auth,
            });
          }
        },
        () => refuseBody(req, res, endpoint.tooLarge(header)),
      );
    };

    if (!endpoint.identify) {
      proceed(undefined, forms);
      return;
    }
    const authorization = valuesOf(req, "authorization");
    void endpoint.identify({ authorization, target }, head).then((caller) => {
      if (isClosed) return;
      if (caller.answer) refuse(caller.answer);
      else proceed(caller.auth, caller.forms);
    });
  };
}

/** Every value of a header of which node:http keeps the first alone. */
function valuesOf({ rawHeaders }: IncomingMessage, name: string): string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]!.toLowerCase() === name);
}

/**
 * Every `Host` of a request, of which node:http keeps the first; the authority of HTTP/2; and that of a target
 * which is a whole URL, for it overrules `Host` (RFC 9112, section 3.2.2).
 */
function hostsOf({ rawHeaders }: IncomingMessage, target: string): string[] {
  const hosts: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if ((name.length === 4 && name.toLowerCase() === "host") || name === ":authority") {
      hosts.push(rawHeaders[at + 1]!);
    }
  }
  if (!target.startsWith("/") && target !== "*") hosts.push(authorityOf(target) ?? "");
  return hosts;
}
