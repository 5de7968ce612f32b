/** The requests of one session that are being worked on: each id once, each answered once or not at all. */
import { ErrorCode, ProtocolError } from "../protocol/errors.js";
import { InFlightMap } from "../protocol/in-flight.js";
import { errorResponse, isRequestId, resultResponse } from "../protocol/jsonrpc.js";
import type { JSONRPCNotification, JSONRPCRequest, RequestId, Result } from "../protocol/types.js";
import { type Channel, type OpenRequest, openRequest } from "./open-request.js";
import { errorFor } from "./results.js";
import type { Revision } from "./versions.js";

export interface InFlightOptions {
  readonly maxInFlight: number;
  /** Works on a request; undefined where it has been answered or is over. May throw a ProtocolError to be sent. */
  answer(open: OpenRequest): Promise<Result | undefined>;
  revision(): Revision | undefined;
  onProblem(text: string): void;
}

export interface InFlight {
  /** Resolves when the response has been sent, or the request is cancelled. Never rejects. */
  serve(request: JSONRPCRequest, channel: Channel): Promise<void>;
  cancel(notification: JSONRPCNotification): void;
  /** Resolves when no handler runs any more. */
  idle(): Promise<void>;
  /** Answers everything that is open with an error, and aborts it. */
  giveUp(): void;
  /** Aborts everything, and answers nothing. */
  dropAll(reason: string): void;
}

export function trackInFlight({ maxInFlight, answer, revision, onProblem }: InFlightOptions): InFlight {
  const all = new InFlightMap<RequestId, OpenRequest>();
  const whenIdle = new Set<() => void>();
  // Handlers at work: those of cancelled requests too, until they return.
  let running = 0;

  function refusal(id: RequestId): ProtocolError | undefined {
    if (all.has(id)) {
      const why = `Invalid request: a request with the id ${JSON.stringify(id)} is in flight already`;
      return new ProtocolError(ErrorCode.InvalidRequest, why);
    }
    if (running < maxInFlight) return undefined;
    const why = `Internal error: ${maxInFlight} requests are in flight, the most that are served at once (maxInFlight)`;
    return new ProtocolError(ErrorCode.InternalError, why);
  }

  async function work(open: OpenRequest): Promise<void> {
    const { id, method } = open.request;
    try {
      const result = await answer(open);
      if (result !== undefined) open.respond(resultResponse(id, result));
    } catch (error) {
      if (error instanceof ProtocolError) {
        open.respond(errorResponse(id, errorFor(error.toErrorObject(), open.request)));
        return;
      }
      onProblem(`${method} ${JSON.stringify(id)} failed: ${describe(error)}`);
      open.respond(errorResponse(id, { code: ErrorCode.InternalError, message: "Internal error" }));
    }
  }

  return {
    async serve(request, channel) {
      const { id } = request;
      const refused = refusal(id);
      if (refused !== undefined) {
        channel.send(errorResponse(id, refused.toErrorObject()));
        return;
      }
      const open = openRequest(request, channel, { revision, onProblem, onOver: () => void all.delete(id) });
      all.add(id, open);
      running++;
      void work(open).then(() => {
        running--;
        if (running > 0) return;
        for (const resolve of whenIdle) resolve();
        whenIdle.clear();
      });
      await open.over;
    },
    cancel({ params }) {
      const id = params?.["requestId"];
      const open = isRequestId(id) ? all.get(id) : undefined;
      // "The `initialize` request MUST NOT be cancelled"; other "invalid cancellation notifications SHOULD be ignored".
      if (open === undefined || open.request.method === "initialize") return;
      const reason = params?.["reason"];
      open.drop(`The client cancelled the request${typeof reason === "string" ? `: ${reason}` : ""}`);
    },
    idle: () => (running === 0 ? Promise.resolve() : new Promise((resolve) => whenIdle.add(resolve))),
    giveUp() {
      const why = "Internal error: the server shut down before the request was done";
      for (const open of all) {
        const { id } = open.request;
        open.channel.send(errorResponse(id, { code: ErrorCode.InternalError, message: why }));
        open.drop("The server is shutting down");
      }
    },
    dropAll(reason) {
      for (const open of all) open.drop(reason);
    },
  };
}

/** An error for the log: with its stack, where it has one. */
export function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
