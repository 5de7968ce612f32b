/** How the same request is sent again and again: the seam between load and whatever carries it. */

/** What went wrong with one request. */
export interface SendFailure {
  /**
   * `connect_failed`, `connection_lost`, `timeout`, `invalid_response`, `http_STATUS`, `rpc_CODE`, `tool_error`
   * (`isError`), or `input_required`.
   */
  readonly kind: string;
  readonly message: string;
}

export interface Sender {
  /** Sends the request once. `done` is called once, later, and never where the sender was closed before. */
  send(done: (failure: SendFailure | undefined) => void): void;
  close(): void;
}

/** What a message that answers a request says of its failure. */
export function failureIn(message: unknown): SendFailure | undefined {
  const { error, result } = (message ?? {}) as {
    error?: { code?: unknown; message?: unknown };
    result?: { isError?: unknown; resultType?: unknown };
  };
  if (error !== undefined) return { kind: `rpc_${error?.code}`, message: String(error?.message) };
  if (typeof result !== "object" || result === null) {
    return { kind: "invalid_response", message: "neither a result nor an error" };
  }
  return failureOfResult(result);
}

export function failureOfResult(result: {
  readonly isError?: unknown;
  readonly resultType?: unknown;
}): SendFailure | undefined {
  if (result.isError === true) {
    return { kind: "tool_error", message: "the tool answered that it failed (isError)" };
  }
  if (result.resultType === "input_required") {
    return { kind: "input_required", message: "the server asks for input" };
  }
  return undefined;
}
