/** One MCP endpoint: everything that is decided alike on node:http and on web standards. */
import type { RequestHandler } from "../transport.js";
import {
  type AcceptedForms,
  notAcceptable,
  type RequestHead,
  readAccept,
  refuseHead,
  tooLarge,
} from "./admit.js";
import { type Answer, refuse, withCors } from "./answer.js";
import type { ReadHeader } from "./check.js";
import { type LegacyHttpOptions, readLegacy } from "../legacy-options.js";
import { type EarlierClients, earlierClients } from "./earlier-clients.js";
import { createGuard, type GuardOptions } from "./guard.js";
import { type HttpServerLimits, httpLimits } from "./limits.js";
import { type Received, receive } from "./receive.js";

/** Whether the body of a request is worth reading, and if not, what to answer. */
export type Admission =
  | { readonly forms: AcceptedForms; readonly answer?: undefined }
  | { readonly answer: Answer; readonly forms?: undefined };

/** Who may call, whether earlier clients are served, and every limit. */
export interface EndpointOptions extends GuardOptions, Partial<HttpServerLimits> {
  /**
   * Clients of earlier revisions, which begin with `initialize`: with `"reject"` they are told the revisions of the
   * server. Default: each of their requests is served for itself, without sessions.
   */
  readonly legacy?: "reject" | LegacyHttpOptions | undefined;
}

/** A binding calls `admit`, and for what is admitted `enter`, `receive` or `tooLarge`, and `leave` in the end. */
export interface Endpoint {
  readonly limits: HttpServerLimits;
  /** Undefined where earlier clients are refused. */
  readonly earlier: EarlierClients | undefined;
  admit(head: RequestHead): Admission;
  receive(text: string | undefined, header: ReadHeader, forms: AcceptedForms): Received;
  tooLarge(header: ReadHeader): Answer;
  enter(): void;
  leave(): void;
  /** Refuses new requests from now on, and resolves when those in flight are done. */
  drain(): Promise<void>;
  /** Ends what outlives requests. */
  close(): void;
}

/**
 * @param path Where the endpoint is, or undefined where the author's own router decides that.
 * @throws TypeError naming the option that is wrong.
 */
export function createEndpoint(
  handler: RequestHandler,
  options: EndpointOptions,
  path: string | undefined,
): Endpoint {
  const limits = httpLimits(options);
  const guard = createGuard(options);
  const legacy = readLegacy(options.legacy, true);
  const earlier = legacy && earlierClients(handler, legacy, limits.maxDepth);
  let inFlight = 0;
  let draining = false;
  let onIdle: (() => void) | undefined;

  function refuseBusy(): Answer | undefined {
    if (draining) return refuse(503, "The server is shutting down", { connection: "close" });
    if (inFlight < limits.maxInFlight) return undefined;
    return refuse(503, `${limits.maxInFlight} requests are in flight, which is maxInFlight`, {
      "retry-after": "1",
    });
  }

  return {
    limits,
    earlier,
    admit(head) {
      const origin = head.header("origin");
      const stranger = guard(head.hosts, origin);
      if (stranger !== undefined) return { answer: refuse(403, stranger) };
      const refused = refuseHead(head, path, handler, limits, earlier?.keepsSessions) ?? refuseBusy();
      if (refused) return { answer: withCors(refused, origin) };
      const accept = head.header("accept");
      const forms = readAccept(accept);
      return forms ? { forms } : { answer: withCors(notAcceptable(accept), origin) };
    },
    receive(text, header, forms) {
      const received = receive(text, header, forms, handler, limits, earlier);
      return received.answer ? { answer: withCors(received.answer, header("origin")) } : received;
    },
    tooLarge: (header) => withCors(tooLarge(limits), header("origin")),
    enter() {
      inFlight += 1;
    },
    leave() {
      inFlight -= 1;
      if (inFlight === 0) onIdle?.();
    },
    drain() {
      draining = true;
      earlier?.hangUp();
      return new Promise((resolve) => {
        onIdle = resolve;
        if (inFlight === 0) resolve();
      });
    },
    close: () => earlier?.close(),
  };
}
