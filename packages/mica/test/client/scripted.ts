/** A transport whose server is a table of functions, for tests that say exactly what is answered. */
import { type Client, createClient } from "../../src/client/client.js";
import type { ClientOptions } from "../../src/client/options.js";
import type { ClientWarning } from "../../src/client/warnings.js";
import { ProtocolError } from "../../src/protocol/errors.js";
import type {
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
  RequestId,
} from "../../src/protocol/types.js";
import type { ClientTransport, MirroredHeader } from "../../src/transport.js";

export interface Scene {
  readonly id: RequestId;
  readonly request: JSONRPCRequest;
  readonly signal: AbortSignal;
  readonly mirrored: readonly MirroredHeader[] | undefined;
  notify(method: string, params?: Record<string, unknown>): void;
}

/** Returns a result; throws a ProtocolError for an error response, anything else to fail the exchange. */
export type Act = (params: Record<string, unknown>, scene: Scene) => unknown;

export interface Scripted {
  readonly transport: ClientTransport;
  /** Every request that was sent, as it came over the wire. */
  readonly requests: JSONRPCRequest[];
  /** The requests of one method. */
  sent(method: string): JSONRPCRequest[];
  /** Exchanges under way. */
  readonly open: number;
  /** Ids whose exchange was cancelled by its signal. */
  readonly cancelled: RequestId[];
  readonly closes: number;
}

export const DISCOVERED = {
  resultType: "complete",
  supportedVersions: ["2026-07-28"],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: "public",
  _meta: { "io.modelcontextprotocol/serverInfo": { name: "scripted", version: "1.2.3" } },
};

export function scripted(acts: Record<string, Act>, { mirrors = false } = {}): Scripted {
  const script: Record<string, Act> = { "server/discover": () => DISCOVERED, ...acts };
  const requests: JSONRPCRequest[] = [];
  const cancelled: RequestId[] = [];
  let open = 0;
  let closes = 0;
  const transport: ClientTransport = {
    mirrorsArguments: mirrors,
    async exchange(sent, { signal = new AbortController().signal, onNotification, mirrored } = {}) {
      const request = JSON.parse(JSON.stringify(sent)) as JSONRPCRequest;
      requests.push(request);
      open += 1;
      let settled = false;
      const onAbort = () => cancelled.push(request.id);
      signal.addEventListener("abort", onAbort, { once: true });
      try {
        const act = script[request.method];
        const answer = async (): Promise<JSONRPCResponse> => {
          if (!act) throw new ProtocolError(-32601, `Method not found: ${request.method}`);
          const notify = (method: string, params?: Record<string, unknown>) => {
            if (settled) return;
            const notification = { jsonrpc: "2.0", method, ...(params && { params }) };
            onNotification?.(JSON.parse(JSON.stringify(notification)) as JSONRPCNotification);
          };
          const result = await act(request.params ?? {}, {
            id: request.id,
            request,
            signal,
            mirrored,
            notify,
          });
          return JSON.parse(JSON.stringify({ jsonrpc: "2.0", id: request.id, result })) as JSONRPCResponse;
        };
        const aborted = new Promise<never>((_, reject) => {
          if (signal.aborted) reject(signal.reason);
          signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        });
        return await Promise.race([answer(), aborted]);
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
        return { jsonrpc: "2.0", id: request.id, error: error.toErrorObject() };
      } finally {
        settled = true;
        open -= 1;
        signal.removeEventListener("abort", onAbort);
      }
    },
    async close() {
      closes += 1;
    },
  };
  return {
    transport,
    requests,
    cancelled,
    sent: (method) => requests.filter((request) => request.method === method),
    get open() {
      return open;
    },
    get closes() {
      return closes;
    },
  };
}

/** A client of a scripted server, which collects its warnings. */
export async function clientOf(
  server: Scripted,
  options: Partial<ClientOptions> = {},
): Promise<Client & { warnings: ClientWarning[] }> {
  const warnings: ClientWarning[] = [];
  const client = await createClient(server.transport, {
    name: "test",
    version: "1.0.0",
    onWarning: (warning) => warnings.push(warning),
    ...options,
  });
  return Object.assign(Object.create(client) as Client, { warnings });
}

/** A promise to settle from outside. */
export function gate<T = void>() {
  let open!: (value: T) => void;
  const passed = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { open, passed };
}

/** Never settles by itself. */
export const never = (): Promise<never> => new Promise(() => {});
