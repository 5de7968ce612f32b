/** One request of an initialize-era client as one or more modern exchanges, up to a result that the client can read. */

import type { LegacyLimits } from "../legacy-options.js";
import { ErrorCode, ProtocolError } from "../protocol/errors.js";
import { isErrorResponse } from "../protocol/jsonrpc.js";
import type { JSONRPCRequest, LoggingLevel, Result } from "../protocol/types.js";
import type { RequestHandler } from "../transport.js";
import type { Asking } from "./asking.js";
import { askRound } from "./input.js";
import type { OpenRequest } from "./open-request.js";
import { type ClientTraits, modernParams } from "./requests.js";
import { resultFor } from "./results.js";
import type { Revision } from "./versions.js";

/** What the session says about every request. */
export interface Terms {
  readonly handler: RequestHandler;
  readonly revision: Revision;
  readonly client: ClientTraits;
  readonly logLevel: LoggingLevel;
  readonly asking: Asking;
  readonly limits: LegacyLimits;
  onNote(text: string): void;
}

/**
 * Serves a request, asking the client for whatever input the server requires and trying again with the answers.
 * Resolves to undefined where the request is over before there is a result.
 *
 * @throws ProtocolError the error of the server, in the words of the current revision.
 */
export async function exchange(open: OpenRequest, terms: Terms): Promise<Result | undefined> {
  const { request, channel } = open;
  const { handler, revision, asking, limits, onNote } = terms;
  const capabilities = channel.canAsk ? terms.client.capabilities : {};
  const params = modernParams(request.params, { ...terms.client, capabilities }, terms.logLevel);
  let attempt: JSONRPCRequest = { ...request, params };

  for (let round = 1; ; round++) {
    const response = await handler.handle(attempt, open);
    if (open.isOver) return undefined;
    if (isErrorResponse(response)) {
      const { code, message, data } = response.error;
      throw new ProtocolError(code, message, data);
    }
    const { result } = response;
    if (result.resultType !== "input_required") return resultFor(request.method, result, revision);
    if (round > limits.maxRounds) {
      const why = `Gave up after ${limits.maxRounds} rounds of questions without a result (maxRounds)`;
      throw new ProtocolError(ErrorCode.InternalError, why);
    }
    const { inputRequests, requestState } = result;
    const send = channel.send.bind(channel);
    const asked = askRound(inputRequests, { asking, revision, capabilities, send, onNote });
    open.onDrop(asked.withdraw);
    const inputResponses = await asked.responses;
    if (open.isOver) return undefined;
    attempt = {
      ...request,
      // "The JSON-RPC `id` MUST be different between the initial request and the retry" (patterns/mrtr).
      id: `${request.id}.${round}`,
      params: {
        ...params,
        ...(inputRequests !== undefined && { inputResponses }),
        ...(requestState !== undefined && { requestState }),
      },
    };
  }
}
