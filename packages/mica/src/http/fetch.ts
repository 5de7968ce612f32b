/** Streamable HTTP on web standards alone: `Request` in, `Response` out. No node: module is loaded here. */
import type { RequestHandler } from "../transport.js";
import { authorityOf } from "./admit.js";
import type { Answer } from "./answer.js";
import { createEndpoint } from "./endpoint.js";
import { HttpExchange, serve } from "./exchange.js";
import { createOutlet } from "./fetch-outlet.js";
import type { GuardOptions } from "./guard.js";
import type { HttpLimits } from "./limits.js";

/**
 * Who may call, and every limit; see {@link DEFAULT_HTTP_LIMITS} for the defaults. Where it listens is not known
 * here, so anything but loopback hosts must be named in `allowedHosts`.
 */
export interface FetchHandlerOptions extends GuardOptions, Partial<HttpLimits> {}

export type FetchHandler = (request: Request) => Promise<Response>;

/**
 * Makes a function that serves MCP on Node, Bun, Deno and Workers. It answers at every path that is routed to it.
 *
 * @throws TypeError naming the option that is wrong.
 * @example export default { fetch: createFetchHandler(server, { allowedHosts: ["mcp.example.com"] }) };
 */
export function createFetchHandler(handler: RequestHandler, options: FetchHandlerOptions = {}): FetchHandler {
  const endpoint = createEndpoint(handler, options, undefined);
  const { limits } = endpoint;

  return async (request) => {
    const header = (name: string): string | undefined => request.headers.get(name) ?? undefined;
    const hosts = [authorityOf(request.url), header("host")].filter((host) => host !== undefined);
    const { forms, answer } = endpoint.admit({ method: request.method, target: request.url, hosts, header });
    if (answer) return respond(answer);

    endpoint.enter();
    const body = await readBody(request.body, limits.maxBodyBytes);
    const received =
      body === TOO_LARGE ? { answer: endpoint.tooLarge(header) } : endpoint.receive(body, header, forms);
    if (received.answer) {
      endpoint.leave();
      return respond(received.answer);
    }
    return new Promise((resolve) => {
      const outlet = createOutlet({
        origin: header("origin"),
        limits,
        resolve,
        onClose() {
          request.signal.removeEventListener("abort", outlet.abandon);
          exchange.abort();
          endpoint.leave();
        },
      });
      const exchange = new HttpExchange(outlet, forms);
      request.signal.addEventListener("abort", outlet.abandon);
      if (request.signal.aborted) outlet.abandon();
      else serve(received.request, exchange, handler);
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

function respond({ status, headers, body }: Answer): Response {
  return new Response(body === "" ? null : body, { status, headers });
}
