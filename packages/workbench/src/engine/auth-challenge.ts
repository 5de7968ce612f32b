/** Asking a server without credentials, to see whether it wants some. */
import { type AuthChallenge, connect, type HttpAuth } from "mica-mcp/client";
import { NAME, VERSION } from "../version.js";
import type { UrlTarget } from "./target.js";

export interface Asked {
  /** What the server said to somebody without a token; undefined where it answered. */
  readonly challenge: AuthChallenge | undefined;
}

/** @throws McpError where it fails for another reason. */
export async function askWithout(
  { url, headers }: UrlTarget,
  { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number | undefined },
): Promise<Asked> {
  let challenge: AuthChallenge | undefined;
  const nothing: HttpAuth = {
    authorize: async () => ({}),
    async onChallenge(_request, given) {
      challenge = given;
      return false;
    },
  };
  try {
    const client = await connect(
      { url, headers: { ...headers } },
      {
        name: NAME,
        version: VERSION,
        signal,
        auth: nothing,
        onWarning: () => {},
        ...(timeoutMs !== undefined && { limits: { timeoutMs } }),
      },
    );
    await client.close();
    return { challenge: undefined };
  } catch (error) {
    if (challenge?.status === 401) return { challenge };
    throw error;
  }
}
