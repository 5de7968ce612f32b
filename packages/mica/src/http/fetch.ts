/** Streamable HTTP on web standards alone: `Request` in, `Response` out. No node: module is loaded here. */
import { checkOptionNames } from "../protocol/option-names.js";
import type { AuthInfo, RequestHandler } from "../transport.js";
import { type AcceptedForms, authorityOf } from "./admit.js";
import type { AuthorizationOptions } from "./authorization.js";
import type { ReadHeader } from "./check.js";
import { createEndpoint, type EarlierClientOptions, ENDPOINT_OPTIONS } from "./endpoint.js";
import { HttpExchange, serve } from "./exchange.js";
import { createOutlet, responseOf } from "./fetch-outlet.js";
import type { GuardOptions } from "./guard.js";
import type { HttpLimits } from "./limits.js";
import type { Received } from "./receive.js";

/**
 * Who may call, whether earlier clients are served, and every limit; see {@link DEFAULT_HTTP_LIMITS} for the
 * defaults. Where it listens is not known here, so anything but loopback hosts must be named in `allowedHosts`.
 */
export interface FetchHandlerOptions
  extends GuardOptions,
    AuthorizationOptions,
    EarlierClientOptions,
    Partial<HttpLimits> {}

export type FetchHandler = (request: Request) => Promise<Response>;

/**
 * Makes a function that serves MCP on Node, Bun, Deno and Workers. It answers at every path that is routed to it.
 *
 * @throws TypeError naming the option that is wrong.
 * @example export default { fetch: createFetchHandler(server, { allowedHosts: ["mcp.example.com"] }) };
 */
export function createFetchHandler(handler: RequestHandler, options: FetchHandlerOptions = {}): FetchHandler {
  checkOptionNames(options, ENDPOINT_OPTIONS, "createFetchHandler");
  const endpoint = createEndpoint(handler, options, undefined);
  const { limits } = endpoint;

  async function receive(
    request: Request,
    header: ReadHeader,
    forms: AcceptedForms,
    auth: AuthInfo | undefined,
  ): Promise<Received> {
    const body = await readBody(request.body, limits.maxBodyBytes);
    return body === TOO_LARGE
      ? { answer: endpoint.tooLarge(header) }
      : endpoint.receive(body, header, forms, auth);
  }

  return async (request) => {
    const header = (name: string): string | undefined => request.headers.get(name) ?? undefined;
    const hosts = [authorityOf(request.url), header("host")].filter((host) => host !== undefined);
    const { method, url: target, signal } = request;
    const head = { method, target, hosts, header };
    const admission = endpoint.admit(head);
    if (admission.answer) return responseOf(admission.answer);

    endpoint.enter();
    const authorization = [header("authorization")].filter((value) => value !== undefined);
    const caller = endpoint.identify && (await endpoint.identify({ authorization, target }, head));
    const auth = caller?.auth;
    const forms = caller?.forms ?? admission.forms;
    const received: Received = caller?.answer
      ? { answer: caller.answer }
      : method === "POST"
        ? await receive(request, header, forms, auth)
        : { earlier: undefined };
    if (received.answer) {
      endpoint.leave();
      return responseOf(received.answer);
    }
    return new Promise((resolve) => {
      let isClosed = false;
      let onGone: (() => void) | undefined;
      const outlet = createOutlet({
        origin: header("origin"),
        limits,
        resolve,
        onClose() {
          isClosed = true;
          signal.removeEventListener("abort", outlet.abandon);
          exchange.abort();
          endpoint.leave();
          onGone?.();
        },
      });
      const exchange = new HttpExchange(outlet, forms);
      exchange.auth = auth;
      signal.addEventListener("abort", outlet.abandon);
      if (signal.aborted) outlet.abandon();
      else if (received.request) serve(received.request, exchange, handler);
      else {
        const call = { method: method as "POST", body: received.earlier, header, forms, outlet, auth };
        onGone = endpoint.earlier?.handle(call);
        // It may have been answered already.
        if (isClosed) onGone?.();
      }
    });
  };
}

const TOO_LARGE = Symbol("too large");

/** Reads a whole body: undefined where it is not UTF-8, or where the client broke off and nobody will hear. */
async function readBody(
  body: ReadableStream<Uint8Array> | null,
  limit: number,
): Promise<string | undefined | typeof TOO_LARGE> {
  if (!body) return "";
  const reader = body.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      size += value.byteLength;
      if (size > limit) {
        await reader.cancel();
        return TOO_LARGE;
      }
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    return undefined;
  }
}
