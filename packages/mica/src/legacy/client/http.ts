/** A server of an earlier revision at a URL: Streamable HTTP first, then HTTP+SSE of 2024-11-05 as the last resort. */
import type { HttpTransportOptions } from "../../http/client.js";
import { challengeIn } from "../../http/client-auth.js";
import { HttpStatusError } from "../../http/status-error.js";
import { McpError } from "../../protocol/errors.js";
import { authorizedHttp } from "./authorized-http.js";
import { httpClient } from "./http-client.js";
import { sseWire } from "./sse-wire.js";
import { streamableWire } from "./streamable-wire.js";
import { type LegacyTransport, type LegacyTransportOptions, legacyTransport } from "./transport.js";

/** URLs that were found to speak HTTP+SSE, which are not asked for anything else first. */
const knownSse = new Set<string>();
const MAX_KNOWN = 1_000;

/**
 * @param note Told what was found on the way.
 * @throws McpError as {@link legacyTransport} does.
 */
export async function legacyHttp(
  url: string | URL,
  http: HttpTransportOptions,
  options: LegacyTransportOptions,
  note: (text: string) => void,
): Promise<LegacyTransport> {
  const { client, opening } = authorizedHttp(httpClient(url, http), http.auth);
  const key = client.url.href;
  const { roots, sampling, elicitation } = options.clientCapabilities;
  const isAsked = (roots ?? sampling ?? elicitation) !== undefined;

  const overSse = async () => {
    const transport = await legacyTransport((signal, hold) => sseWire(client, signal, hold), options);
    if (knownSse.size >= MAX_KNOWN) knownSse.clear();
    knownSse.add(key);
    return transport;
  };
  const open = async () => {
    if (knownSse.delete(key)) {
      try {
        return await overSse();
      } catch (error) {
        note(`GET, as before: ${(error as Error).message}`);
      }
    }
    try {
      return await legacyTransport(async () => streamableWire(client, isAsked), options);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      note(`POST of initialize: ${error.message}`);
      return overSse().catch((sse: unknown) => {
        if (!(sse instanceof McpError) || sse.code === "aborted" || sse.code === "timeout") throw sse;
        if (challengeIn(sse) !== undefined) throw sse;
        note(`GET: ${sse.message}`);
        const nor = `nor does it speak HTTP+SSE: ${sse.message}`;
        throw new McpError(error.code, `${error.message}; ${nor}`, { cause: error.cause });
      });
    }
  };

  try {
    const transport = await opening(options.signal, open);
    return {
      ...transport,
      async close() {
        await transport.close();
        client.close();
      },
    };
  } catch (error) {
    client.close();
    throw error;
  }
}

/** Whether this may be a server that wants a GET first: it refused the POST itself, not who made it. */
function isRefusal(error: unknown): error is McpError {
  if (!(error instanceof McpError)) return false;
  if (!(error.cause instanceof HttpStatusError)) return error.code === "protocol_error";
  const { status } = error.cause;
  return status >= 400 && status < 500 && ![401, 403, 407, 408, 425, 429].includes(status);
}
