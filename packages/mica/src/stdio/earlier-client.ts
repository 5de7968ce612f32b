/**
 * Which lines are those of an initialize-era client (basic/versioning, Backward Compatibility), and what serves them.
 * It is loaded with the first of them, so that it costs nothing where there is none.
 */
import type { LegacyLines, LineOutlet } from "../legacy/lines.js";
import type { LegacyLimits } from "../legacy-options.js";
import { ErrorCode } from "../protocol/errors.js";
import { DEFAULT_MAX_DEPTH, encodeMessage, errorResponse, isObject, isRequest } from "../protocol/jsonrpc.js";
import { MetaKey } from "../protocol/meta.js";
import type { JSONRPCMessage, JSONRPCRequest } from "../protocol/types.js";
import type { RequestHandler } from "../transport.js";

export interface EarlierClient {
  /** Whether a handshake has begun here. Before that, only `initialize` says that it does. */
  readonly hasBegun: boolean;
  /** Whether a request is one of that era. */
  sends(request: JSONRPCRequest): boolean;
  receive(message: JSONRPCMessage): void;
  receiveBatch(values: readonly unknown[]): void;
  /** Resolves when no handler runs any more. */
  idle(): Promise<void>;
  hangUp(): void;
  giveUp(): void;
  abandon(): void;
}

export function earlierClient(
  handler: RequestHandler,
  outlet: LineOutlet,
  limits: LegacyLimits,
  onProblem: (text: string) => void,
): EarlierClient {
  let loading: Promise<LegacyLines> | undefined;
  let loaded: LegacyLines | undefined;

  async function load(): Promise<LegacyLines> {
    const { legacyLines } = await import("../legacy/lines.js");
    loaded = legacyLines(handler, outlet, { limits, maxDepth: DEFAULT_MAX_DEPTH, onProblem });
    return loaded;
  }

  /** In the order of the calls, whether it is loaded yet or not. */
  function whenLoaded(action: (lines: LegacyLines) => void, instead: () => void = () => {}): void {
    if (loaded !== undefined) action(loaded);
    else loading?.then(action, instead);
  }

  return {
    get hasBegun() {
      return loading !== undefined;
    },
    sends(request) {
      if (loading === undefined && request.method !== "initialize") return false;
      const meta = request.params?.["_meta"];
      return !isObject(meta) || meta[MetaKey.protocolVersion] === undefined;
    },
    receive(message) {
      loading ??= load().catch((error: unknown) => {
        onProblem(`clients of earlier revisions cannot be served: ${String(error)}`);
        throw error;
      });
      whenLoaded(
        (lines) => lines.receive(message),
        () => {
          if (!isRequest(message)) return;
          outlet.send(
            encodeMessage(
              errorResponse(message.id, { code: ErrorCode.InternalError, message: "Internal error" }),
            ),
          );
        },
      );
    },
    receiveBatch: (values) => whenLoaded((lines) => lines.receiveBatch(values)),
    async idle() {
      const lines = await loading?.catch(() => undefined);
      await lines?.idle();
    },
    hangUp: () => whenLoaded((lines) => lines.hangUp()),
    giveUp: () => whenLoaded((lines) => lines.giveUp()),
    abandon: () => whenLoaded((lines) => lines.abandon()),
  };
}
