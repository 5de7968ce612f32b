/** What a client tells its owner without failing: things left out, unchecked or cut short. */

/** Stable codes of {@link ClientWarning}. */
export type ClientWarningCode =
  /** A tool (or another entry of a list) was left out, because its definition is invalid. */
  | "entry_left_out"
  /** A tool's output cannot be checked, because its schema cannot be used. */
  | "output_unchecked"
  /** Arguments could not be mirrored into headers, because the tool's definition could not be had. */
  | "headers_unknown"
  /** The server agreed to less than a subscription asked for. */
  | "subscription_reduced"
  /** A server process wrote something to its stdout that is no message. */
  | "stray_output"
  /** A callback of yours (`onProgress`, `onLog`, ...) threw. */
  | "callback_failed";

export interface ClientWarning {
  readonly code: ClientWarningCode;
  readonly message: string;
  readonly cause?: unknown;
}

export type Warn = (code: ClientWarningCode, message: string, cause?: unknown) => void;

/** Reports to `onWarning`, or on the console where there is none. Never throws. */
export function warner(onWarning: ((warning: ClientWarning) => void) | undefined): Warn {
  return (code, message, cause) => {
    const warning: ClientWarning = cause === undefined ? { code, message } : { code, message, cause };
    try {
      if (onWarning) onWarning(warning);
      else console.warn(`mica: ${message}`);
    } catch (thrown) {
      console.error("mica: onWarning threw", thrown);
    }
  };
}

/** Calls a callback of the owner; what it throws becomes a warning, so that it cannot break an exchange. */
export function callBack<T>(warn: Warn, name: string, callback: (value: T) => void, value: T): void {
  try {
    callback(value);
  } catch (cause) {
    warn(
      "callback_failed",
      `${name} threw: ${cause instanceof Error ? cause.message : String(cause)}`,
      cause,
    );
  }
}
