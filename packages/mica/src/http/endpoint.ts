/** One MCP endpoint: everything that is decided alike on node:http and on web standards. */

import { type LegacyHttpOptions, readLegacy } from "../legacy-options.js";
import type { AuthInfo, PresentedCredentials, RequestHandler } from "../transport.js";
import {
  type AcceptedForms,
  answerBefore,
  notAcceptable,
  pathOf,
  type RequestHead,
  readAccept,
  refuseHead,
  tooLarge,
} from "./admit.js";
import { type Answer, refuse, withCors } from "./answer.js";
import {
  type AuthorizationOptions,
  identify,
  metadataAnswer,
  readProtection,
  refuseBody,
} from "./authorization.js";
import type { ReadHeader } from "./check.js";
import { type EarlierClients, earlierClients } from "./earlier-clients.js";
import { createGuard, type GuardOptions } from "./guard.js";
import { DEFAULT_HTTP_LIMITS, type HttpServerLimits, httpLimits } from "./limits.js";
import { type Received, receive } from "./receive.js";

/** Whether the body of a request is worth reading, and if not, what to answer. */
export type Admission =
  | { readonly forms: AcceptedForms; readonly answer?: undefined }
  | { readonly answer: Answer; readonly forms?: undefined };

/** The forms of a request that is looked at once its caller is known. */
const ANY: AcceptedForms = { json: true, stream: true };

/** Who calls, and in which forms they take answers, or what to answer in place of that. */
export type AdmittedCaller =
  | { readonly auth: AuthInfo | undefined; readonly forms: AcceptedForms; readonly answer?: undefined }
  | { readonly answer: Answer; readonly auth?: undefined; readonly forms?: undefined };

export interface EarlierClientOptions {
  /**
   * Clients of earlier revisions, which begin with `initialize`: with `"reject"` they are told the revisions of the
   * server. Default: each of their requests is served for itself, without sessions.
   */
  readonly legacy?: "reject" | LegacyHttpOptions | undefined;
}

/** Who may call, whether earlier clients are served, and every limit. */
export interface EndpointOptions
  extends GuardOptions,
    AuthorizationOptions,
    EarlierClientOptions,
    Partial<HttpServerLimits> {}

/** Every one of {@link EndpointOptions}, by name. */
export const ENDPOINT_OPTIONS = {
  allowedHosts: true,
  allowedOrigins: true,
  auth: true,
  legacy: true,
  ...DEFAULT_HTTP_LIMITS,
} satisfies Record<keyof EndpointOptions, unknown>;

/** A binding calls `admit`, and for what is admitted `enter`, `identify`, `receive` or `tooLarge`, and `leave` in the end. */
export interface Endpoint {
  readonly limits: HttpServerLimits;
  /** Undefined where earlier clients are refused. */
  readonly earlier: EarlierClients | undefined;
  /** Undefined where nobody is asked who they are. */
  readonly identify:
    | ((credentials: PresentedCredentials, head: RequestHead) => Promise<AdmittedCaller>)
    | undefined;
  admit(head: RequestHead): Admission;
  /** @param auth Who calls, where that was asked. */
  receive(
    text: string | undefined,
    header: ReadHeader,
    forms: AcceptedForms,
    auth: AuthInfo | undefined,
  ): Received;
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
 * @param idPrefix What the ids of sessions begin with.
 * @throws TypeError naming the option that is wrong.
 */
export function createEndpoint(
  handler: RequestHandler,
  options: EndpointOptions,
  path: string | undefined,
  idPrefix?: string,
): Endpoint {
  const limits = httpLimits(options);
  const guard = createGuard(options);
  const protection = readProtection(options, handler);
  const legacy = readLegacy(options.legacy, true);
  const sessions = legacy?.sessions && { ...legacy.sessions, idPrefix };
  const earlier = legacy && earlierClients(handler, { ...legacy, sessions }, limits.maxDepth);
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

  /** What a head alone says, of whoever may call. */
  function judgeHead(head: RequestHead): Admission {
    const refused = refuseHead(head, handler, limits, earlier);
    if (refused) return { answer: refused };
    const accept = head.header("accept");
    const forms = readAccept(accept);
    return forms ? { forms } : { answer: notAcceptable(accept) };
  }

  return {
    limits,
    earlier,
    identify:
      protection &&
      (async (credentials, head) => {
        const origin = head.header("origin");
        const caller = await identify(protection, credentials, head.method !== "POST");
        if (caller.answer) return { answer: withCors(caller.answer, origin) };
        const { forms, answer } = judgeHead(head);
        return answer ? { answer: withCors(answer, origin) } : { auth: caller.auth, forms };
      }),
    admit(head) {
      const origin = head.header("origin");
      const isMetadata = protection?.metadata.paths.includes(pathOf(head.target));
      const stranger = guard(head.hosts, isMetadata ? undefined : origin);
      if (stranger !== undefined) return { answer: refuse(403, stranger) };
      if (protection && isMetadata) {
        const requested = head.header("access-control-request-headers");
        return { answer: metadataAnswer(protection.metadata, head.method, requested) };
      }
      const before = answerBefore(head, path, earlier);
      if (before) return { answer: withCors(before, origin) };
      // Whoever has not shown who they are learns nothing else.
      const judged = protection ? { forms: ANY } : judgeHead(head);
      const answer = judged.answer ?? refuseBusy();
      return answer ? { answer: withCors(answer, origin) } : judged;
    },
    receive(text, header, forms, auth) {
      let received = receive(text, header, forms, handler, limits, earlier);
      if (protection && auth && !received.answer) {
        const denied = refuseBody(protection, auth, handler, received.request ?? received.earlier);
        if (denied) received = { answer: denied };
      }
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
