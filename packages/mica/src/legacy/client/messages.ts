/** Reading what a server of an earlier revision sends: one message, or several in one array (2025-03-26, Batching). */
import { isTextTooDeep } from "../../protocol/depth.js";
import { ErrorCode, McpError } from "../../protocol/errors.js";
import { checkMessage, DEFAULT_MAX_DEPTH, DecodeError, isObject } from "../../protocol/jsonrpc.js";
import type { JSONRPCMessage, RequestId } from "../../protocol/types.js";
import type { WireReceiver } from "./wire.js";

/** What a text turned out to be. */
export type Read =
  | { readonly message: JSONRPCMessage }
  | { readonly error: DecodeError; readonly id: RequestId | undefined };

/** Every message of a text, and in the place of one that is none, why. Arrays are taken from any revision. */
export function readMessages(text: string, maxDepth = DEFAULT_MAX_DEPTH): Read[] {
  let value: unknown;
  try {
    if (isTextTooDeep(text, maxDepth + 1)) throw new Error(`nested deeper than ${maxDepth} levels`);
    value = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (error) {
    const why = `Parse error: ${(error as Error).message}`;
    return [{ error: new DecodeError(ErrorCode.ParseError, why), id: undefined }];
  }
  return (Array.isArray(value) ? value : [value]).map((one: unknown): Read => {
    try {
      return { message: checkMessage(one, maxDepth) };
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      // Something that was merely printed may have an `id`, too.
      const isAnswer = isObject(one) && (one["result"] ?? one["error"]) !== undefined;
      return { error, id: isAnswer ? error.id : undefined };
    }
  });
}

/**
 * Hands over everything that a text says.
 *
 * @param from Who sent it, for messages of errors.
 * @returns Whether all of it belonged to something.
 */
export function deliver(
  text: string,
  receiver: WireReceiver,
  from: string,
  about?: RequestId,
  maxDepth?: number,
): boolean {
  let belongs = true;
  for (const read of readMessages(text, maxDepth)) {
    if ("message" in read) belongs = receiver.message(read.message, about) && belongs;
    else belongs = receiver.unreadable(read.id ?? about, unreadable(from, read.error)) && belongs;
  }
  return belongs;
}

function unreadable(from: string, cause: DecodeError): McpError {
  return new McpError(
    "invalid_response",
    `${from} answered with no message of the protocol: ${cause.message}`,
    {
      cause,
    },
  );
}
