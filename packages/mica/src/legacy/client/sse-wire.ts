/**
 * HTTP+SSE (2024-11-05, basic/transports, HTTP with SSE): one stream for everything that the server says, and a POST to
 * wherever it says for each message to it.
 */
import { McpError } from "../../protocol/errors.js";
import { encodeMessage } from "../../protocol/jsonrpc.js";
import type { JSONRPCRequest } from "../../protocol/types.js";
import type { Hold } from "./clocks.js";
import { type HttpClient, isEventStream, readBody, readEvents, statusError } from "./http-client.js";
import { deliver } from "./messages.js";
import { type LegacyWire, SessionGone, type WireReceiver } from "./wire.js";

/**
 * Opens the stream, and waits for the place that messages go to.
 *
 * @throws McpError `invalid_response` where this is no such server, or it sends messages to another origin.
 */
export async function sseWire(http: HttpClient, signal: AbortSignal, hold?: Hold): Promise<LegacyWire> {
  const { endpoint } = http;
  const closing = new AbortController();
  const giveUp = () => closing.abort(signal.reason);
  signal.addEventListener("abort", giveUp, { once: true });
  let receiver: WireReceiver | undefined;
  let isOver = false;

  try {
    const incoming = await http.send({
      method: "GET",
      headers: { accept: "text/event-stream" },
      signal: closing.signal,
      hold,
      repeatable: true,
    });
    if (!isEventStream(incoming)) {
      throw statusError(incoming, `${endpoint} (GET)`, await readBody(incoming, http));
    }
    const target = await new Promise<URL>((resolve, reject) => {
      readEvents(incoming, http, ({ event, data }) => {
        if (event === "endpoint") {
          try {
            resolve(placeOf(data, http.url));
          } catch (error) {
            reject(error);
          }
        } else if (event === "message" && receiver !== undefined) {
          deliver(data, receiver, endpoint, undefined, http.limits.maxDepth);
        }
      }).then(
        () => lose(reject, new McpError("connection_lost", `The stream of ${endpoint} has ended`)),
        (error: McpError) => lose(reject, error),
      );
    });
    return wireTo(target);
  } catch (error) {
    closing.abort(error);
    throw error;
  } finally {
    signal.removeEventListener("abort", giveUp);
  }

  function lose(reject: (error: unknown) => void, error: McpError): void {
    isOver = true;
    reject(closing.signal.aborted ? closing.signal.reason : error);
    const why = ({ method }: JSONRPCRequest) =>
      new McpError(error.code, `${method}: ${error.message}`, { cause: error });
    receiver?.closed(why);
  }

  function wireTo(target: URL): LegacyWire {
    return {
      remark: `HTTP+SSE, with messages to ${target.pathname}`,
      receive(by) {
        receiver = by;
      },
      async send(message, hold) {
        if (isOver) throw new McpError("connection_lost", `The stream of ${endpoint} has ended`);
        const incoming = await http.send({
          method: "POST",
          url: target,
          body: encodeMessage(message),
          hold,
          repeatable: false,
        });
        const body = await readBody(incoming, http);
        const { statusCode = 0 } = incoming;
        if (statusCode >= 200 && statusCode < 300) return;
        const error = statusError(incoming, `${target.origin}${target.pathname}`, body);
        throw statusCode === 404 ? new SessionGone(error.message, { cause: error.cause }) : error;
      },
      retire: () => closing.abort(new McpError("connection_lost", `${endpoint} has ended the session`)),
      async close() {
        receiver = undefined;
        closing.abort(new McpError("closed", `The connection to ${endpoint} is closed`));
      },
    };
  }
}

/** Messages carry credentials, which go to the server's own origin only. */
function placeOf(data: string, base: URL): URL {
  const place = URL.canParse(data, base.href) ? new URL(data, base) : undefined;
  if (place?.origin === base.origin) return place;
  const expected = `expected an endpoint of ${base.origin}`;
  throw new McpError(
    "invalid_response",
    `${base.origin}${base.pathname}: ${expected}, got ${JSON.stringify(data)}`,
  );
}
