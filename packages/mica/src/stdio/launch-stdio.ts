/** `launchStdio`: a client transport to a server process. */
import type { ClientTransport } from "../transport.js";
import { checkLaunch, type LaunchOptions } from "./launch-options.js";

/**
 * Starts a server process and speaks to it over its standard streams. It starts at once; that it could not is
 * reported by the first exchange. Its exchanges reject with a McpError:
 *
 * - `connect_failed`: the process could not be started, or ended more than `maxRestarts` times in `restartWindowMs`;
 * - `connection_lost`: the process ended, or closed a pipe, before it answered; `cause` is a {@link ServerExit};
 * - `limit_exceeded`: request or answer is longer than `maxMessageBytes`; the connection goes on;
 * - `invalid_response`: the answer is none; the connection goes on;
 * - `closed`: {@link ClientTransport.close} was called.
 *
 * @throws TypeError where an option is unusable.
 * @example const transport = launchStdio({ command: "node", args: ["server.js"] });
 */
export function launchStdio(options: LaunchOptions): ClientTransport {
  checkLaunch(options);
  // Loaded late: most programs that load this entry serve, and start faster without it.
  const launched = import("./launch.js").then(({ launchServer }) => launchServer(options).transport);
  return {
    mirrorsArguments: false,
    exchange: (request, exchangeOptions) =>
      launched.then((transport) => transport.exchange(request, exchangeOptions)),
    close: () => launched.then((transport) => transport.close()),
  };
}
