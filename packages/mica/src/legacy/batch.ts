/** Several messages in one array (2025-03-26, basic, Batching). */
import { ErrorCode } from "../protocol/errors.js";
import { checkMessage, DecodeError, errorResponse, isRequest } from "../protocol/jsonrpc.js";
import type { ErrorObject, JSONRPCMessage } from "../protocol/types.js";
import type { Channel } from "./open-request.js";
import type { LegacySession } from "./session.js";
import type { Revision } from "./versions.js";

/** Why a batch is not looked into at all; undefined where it is. */
export function refuseBatch(
  values: readonly unknown[],
  revision: Revision | undefined,
  maxBatch: number,
): ErrorObject | undefined {
  if (revision === undefined) return invalid("a batch came before initialize");
  if (!revision.batches) return invalid(`MCP ${revision.version} has no batches: send one message at a time`);
  if (values.length === 0) return invalid("a batch must hold at least one message");
  if (values.length <= maxBatch) return undefined;
  return invalid(`the batch has ${values.length} messages, and at most ${maxBatch} are accepted (maxBatch)`);
}

/** Takes every message of a batch. Resolves once all of them are dealt with; responses leave one by one. */
export async function receiveBatch(
  values: readonly unknown[],
  session: LegacySession,
  channel: Channel,
  maxDepth: number,
): Promise<void> {
  await Promise.all(
    values.map(async (value) => {
      let message: JSONRPCMessage;
      try {
        message = checkMessage(value, maxDepth);
      } catch (error) {
        if (!(error instanceof DecodeError)) throw error;
        channel.send(errorResponse(error.id, error.toErrorObject()));
        return;
      }
      if (isRequest(message) && message.method === "initialize") {
        // "The initialize request MUST NOT be part of a JSON-RPC batch" (2025-03-26, basic/lifecycle).
        channel.send(errorResponse(message.id, invalid("initialize must not be part of a batch")));
        return;
      }
      await session.receive(message, channel);
    }),
  );
}

function invalid(why: string): ErrorObject {
  return { code: ErrorCode.InvalidRequest, message: `Invalid request: ${why}` };
}
