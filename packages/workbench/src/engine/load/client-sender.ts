/** Sends by a client: over standard streams, where one process serves all requests. */
import type { Client } from "mica-mcp/client";
import { failureOfResult, type Sender, type SendFailure } from "./sender.js";

export interface LoadRequest {
  readonly method: string;
  readonly params: Record<string, unknown>;
}

export function clientSender(
  client: Client,
  { method, params }: LoadRequest,
  options: { readonly signal: AbortSignal; readonly timeoutMs: number | undefined },
): Sender {
  let closed = false;
  return {
    send(done) {
      client.request(method, params, { ...options, fulfil: false }).then(
        (result) => {
          if (!closed) done(failureOfResult(result));
        },
        (error: unknown) => {
          if (!closed) done(failureOfError(error));
        },
      );
    },
    close() {
      closed = true;
    },
  };
}

function failureOfError(error: unknown): SendFailure {
  const { message, code, cause } = error as Error & { code?: unknown; cause?: { code?: unknown } };
  const [firstLine = ""] = String(message).split("\n");
  if (code === "protocol_error") return { kind: `rpc_${cause?.code}`, message: firstLine };
  return { kind: typeof code === "string" ? code : "failed", message: firstLine };
}
