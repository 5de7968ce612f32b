/**
 * A client transport that starts a new server process for every message: what a server keeps in memory is gone by
 * the next one, so a test that passes here shows that the server processes "each request independently" (basic,
 * Statelessness) and that any replica can finish what another began (patterns/mrtr).
 */
import { McpError } from "../protocol/errors.js";
import type { LaunchOptions } from "../stdio/launch-options.js";
import { launchStdio } from "../stdio/launch-stdio.js";
import type { ClientTransport } from "../transport.js";

/** How each process is started; see `launchStdio`. */
export type FreshProcessOptions = Omit<LaunchOptions, "restart" | "maxRestarts" | "restartWindowMs">;

export interface FreshProcessTransport extends ClientTransport {
  /** Processes started so far: one per request. */
  readonly processes: number;
  /** Processes that have not ended yet: none, once every exchange has settled. */
  readonly running: number;
}

/**
 * Starts a process for each request, sends it that request, closes its stdin, and hands over the answer once the
 * process has ended with all that it started. One that outlives its stdin is ended as `launchStdio` does it.
 * Requests made at the same time get processes that run at the same time.
 *
 * Its exchanges reject as those of `launchStdio` do; with a TypeError where an option is unusable.
 *
 * @example
 * const transport = freshProcessPerMessage({ command: "node", args: ["server.js"] });
 * const client = await connect({ transport }, { name: "test", version: "1.0.0", onElicit });
 * await client.callTool("create_event", { title: "Dentist" }); // asks in one process, goes on in another
 */
export function freshProcessPerMessage(options: FreshProcessOptions): FreshProcessTransport {
  const open = new Set<ClientTransport>();
  let processes = 0;
  let closed: Promise<void> | undefined;

  return {
    mirrorsArguments: false,
    get processes() {
      return processes;
    },
    get running() {
      return open.size;
    },
    async exchange(request, exchangeOptions = {}) {
      if (closed) throw new McpError("closed", "the transport is closed: no more processes are started");
      exchangeOptions.signal?.throwIfAborted();
      const server = launchStdio({ ...options, restart: false });
      processes++;
      open.add(server);
      try {
        return await server.exchange(request, exchangeOptions);
      } finally {
        await server.close();
        open.delete(server);
      }
    },
    close() {
      closed ??= Promise.all([...open].map((server) => server.close())).then(() => {});
      return closed;
    },
  };
}
