/** Whose message was it, when it was too long to be read? Its two ends usually tell. */
import { isRequestId } from "../protocol/jsonrpc.js";
import type { RequestId } from "../protocol/types.js";

const ID = String.raw`"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")`;
const OTHER = String.raw`"(?:jsonrpc|method)"\s*:\s*"(?:[^"\\]|\\.)*"`;
/** Members before anything that nests, so the id is that of the message. */
const ID_FIRST = new RegExp(String.raw`^\s*\{\s*(?:${OTHER}\s*,\s*)*${ID}\s*[,}]`);
/** Members after which only the message itself ends, so the id is that of the message. */
const ID_LAST = new RegExp(String.raw`${ID}\s*(?:,\s*${OTHER}\s*)*\}\s*$`);

/** The id of a message of which only the first and last characters are known; undefined where they do not show it. */
export function idOfOverlong(head: string, tail: string): RequestId | undefined {
  const found = (ID_FIRST.exec(head.replace(/^\ufeff/, "")) ?? ID_LAST.exec(tail))?.[1];
  if (found === undefined) return undefined;
  try {
    const id: unknown = JSON.parse(found);
    return isRequestId(id) ? id : undefined;
  } catch {
    return undefined;
  }
}
