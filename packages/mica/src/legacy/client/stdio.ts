/** A server of an earlier revision on the standard streams of a process (2025-11-25, basic/transports, stdio). */
import { McpError } from "../../protocol/errors.js";
import { encodeMessage, isResponse } from "../../protocol/jsonrpc.js";
import type { JSONRPCRequest } from "../../protocol/types.js";
import { describeRequest, tooLong } from "../../stdio/in-flight.js";
import type { LaunchedServer, TakenLines } from "../../stdio/launch.js";
import type { LineProblem } from "../../stdio/lines.js";
import { idOfOverlong } from "../../stdio/overlong.js";
import type { LineTaker } from "../../stdio/server-process.js";
import { deliver, readMessages } from "./messages.js";
import { HANDSHAKE_ID } from "./pending.js";
import { type LegacyTransport, type LegacyTransportOptions, legacyTransport } from "./transport.js";
import type { LegacyWire, WireReceiver } from "./wire.js";

/** What stands in messages of errors where a process must be started for a handshake. */
const INITIALIZE: JSONRPCRequest = { jsonrpc: "2.0", id: HANDSHAKE_ID, method: "initialize" };

/**
 * Speaks to a launched server in an earlier revision, on the process that it was probed in. On failure the lines are
 * the transport's again, as they were.
 *
 * @throws McpError as {@link legacyTransport} does.
 */
export async function legacyStdio(
  server: LaunchedServer,
  options: LegacyTransportOptions,
): Promise<LegacyTransport & { release(): void }> {
  let taken: TakenLines | undefined;
  let receiver: WireReceiver | undefined;

  const taker: LineTaker = {
    receive(line) {
      // What answers the probe belongs to the transport, however late it comes.
      if (receiver === undefined || !deliver(line, receiver, "The server")) taken?.rest.receive(line);
    },
    receiveProblem(problem) {
      if (!refuse(problem)) taken?.rest.receiveProblem(problem);
    },
    lose(why) {
      const lost = receiver;
      receiver = undefined;
      taken?.rest.lose(why);
      lost?.closed(why);
    },
  };

  /** A line that cannot be read, though it may have been meant as an answer. */
  function refuse(problem: LineProblem): boolean {
    if (receiver === undefined) return false;
    if (problem.kind === "not_utf8") {
      const [read] = readMessages(problem.text);
      const id = read && "message" in read && isResponse(read.message) ? read.message.id : undefined;
      const why = "The server's answer is not valid UTF-8";
      return id !== undefined && receiver.unreadable(id, new McpError("invalid_response", why));
    }
    const { head, tail, bytes, limit } = problem;
    const id = idOfOverlong(head, tail);
    return id !== undefined && receiver.unreadable(id, tooLong("The server's answer", bytes, limit));
  }

  async function openWire(): Promise<LegacyWire> {
    // A process that did not survive the probe is started again, whatever is to happen after later ends.
    if (taken === undefined) taken = server.takeOver(taker, INITIALIZE, true);
    else taken.revive(INITIALIZE);
    const { send } = taken;
    return {
      receive(by) {
        receiver = by;
      },
      async send(message) {
        const line = encodeMessage(message);
        const bytes = line.length * 3 > server.maxMessageBytes ? Buffer.byteLength(line) : 0;
        if (bytes > server.maxMessageBytes) {
          const what =
            "method" in message && "id" in message ? `The request ${describeRequest(message)}` : "A message";
          throw tooLong(what, bytes, server.maxMessageBytes);
        }
        send(line);
      },
      // The process is the session: it ends with the transport.
      async close() {
        receiver = undefined;
      },
    };
  }

  try {
    const transport = await legacyTransport(openWire, options);
    return {
      ...transport,
      release: () => taken?.release([]),
      async close() {
        await transport.close();
        await taken?.close();
      },
    };
  } catch (error) {
    taken?.release([HANDSHAKE_ID]);
    throw error;
  }
}
