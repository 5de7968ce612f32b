/**
 * What becomes of an error that a handler throws. The author decides what a failure may say, with `ToolError`
 * or `ProtocolError`; everything else stays on the server under a short reference, since the text of an
 * exception is the least reviewed text there is.
 */
import { ErrorCode, ProtocolError, ToolError } from "../protocol/errors.js";

/** Where failures are reported in full. */
export type OnError = (error: unknown, about: { readonly what: string; readonly reference: string }) => void;

/** To stderr: on stdio it is the only channel that is not the protocol. */
export const logToStderr: OnError = (error, { what, reference }) => {
  console.error(`${what} failed (reference ${reference}):`, error);
};

/** Who asked for what failed. */
interface Caller {
  readonly signal: AbortSignal;
}

/** Reports an error and returns the line that may be shown instead. */
export function concealed(error: unknown, what: string, onError: OnError, caller: Caller): string {
  if (isCancellation(error, caller)) return `${what} was cancelled.`;
  const reference = Math.floor(Math.random() * 36 ** 8)
    .toString(36)
    .padStart(8, "0");
  try {
    onError(error, { what, reference });
  } catch (failure) {
    console.error(`onError itself failed for reference ${reference}:`, failure);
  }
  return `${what} failed. The server's log has the details under reference ${reference}.`;
}

/** The error that a caller of a resource, prompt or completion sees. */
export function asProtocolError(
  error: unknown,
  what: string,
  onError: OnError,
  caller: Caller,
): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (error instanceof ToolError) return new ProtocolError(ErrorCode.InternalError, error.message);
  return new ProtocolError(ErrorCode.InternalError, concealed(error, what, onError, caller));
}

/** A handler that stops because its caller is gone has not failed: there is nothing to report, and nobody to read it. */
function isCancellation(error: unknown, { signal }: Caller): boolean {
  if (!signal.aborted) return false;
  return error === signal.reason || (error instanceof Error && error.name === "AbortError");
}
