/** What `incidents-mcp` does: reads the command line, opens the log, serves it until it is told to stop. */
import type { Server } from "mica-mcp";
import manifest from "../package.json" with { type: "json" };
import { HELP, type HttpOptions, isLoopback, readOptions, UsageError } from "./options.js";
import { StoreError } from "./store.js";

/** Makes the lines to print once the log is served over HTTP. */
export type Announce = (url: string, database: string) => string;

/**
 * Runs the command. What is wrong goes to stderr in one line; the exit code is then 1, or 2 for a wrong command line.
 *
 * @param argv without the names of Node and of the script
 * @example await main(["--http", "127.0.0.1:0", "--database", "incidents.sqlite"]);
 */
export async function main(argv: readonly string[], announce: Announce = announcement): Promise<void> {
  try {
    await run(argv, announce);
  } catch (error) {
    if (error instanceof UsageError) fail(2, `${error.message}. See incidents-mcp --help`);
    else if (error instanceof StoreError) fail(1, error.message);
    else throw error;
  }
}

async function run(argv: readonly string[], announce: Announce): Promise<void> {
  const options = readOptions(argv, process.env);
  if (options.show !== undefined) {
    process.stdout.write(options.show === "help" ? HELP : `${manifest.version}\n`);
    return;
  }
  // Loaded only now, so that the above and a wrong command line are answered at once.
  const [{ createIncidentServer }, { openSqliteStore }] = await Promise.all([
    import("./server.js"),
    import("./sqlite-store.js"),
  ]);
  const { database, http } = options;
  const store = openSqliteStore(database);
  // However the process ends: closing takes effect at once, and leaves one whole file behind.
  process.once("exit", () => void store.close());
  const server = createIncidentServer(store);
  if (http !== undefined) return serveOverHttp(server, http, (url) => announce(url, database));
  const { serveStdio } = await import("mica-mcp/stdio");
  serveStdio(server);
}

async function serveOverHttp(
  server: Server,
  options: HttpOptions,
  announce: (url: string) => string,
): Promise<void> {
  const { serveHttp } = await import("mica-mcp/http");
  const { host, port, allowHosts } = options;
  const allowedHosts = allowHosts.length > 0 ? ["localhost", "127.0.0.1", "[::1]", ...allowHosts] : undefined;
  const running = await serveHttp(server, { host, port, allowedHosts }).catch((error: unknown) => {
    const reason = listenFailures[String((error as { code?: unknown }).code)];
    if (reason === undefined) throw error;
    fail(1, `Cannot listen on ${host}:${port}: ${reason}`);
  });
  if (running === undefined) return;
  process.stdout.write(announce(running.url));
  if (!isLoopback(host)) {
    process.stderr.write(
      "Whoever can reach this address can read and write the log: put a proxy that signs people in before it.\n",
    );
  }
  let signals = 0;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (++signals > 1) process.exit(signal === "SIGINT" ? 130 : 143);
    void running.close().then(() => process.exit());
  };
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
}

const listenFailures: Record<string, string> = {
  EADDRINUSE: "the port is in use. Stop what listens there, or choose another port with --http",
  EACCES: "permission denied. Ports below 1024 are reserved: choose a higher one with --http",
  EADDRNOTAVAIL: "this machine does not have that address",
  EAFNOSUPPORT: "this machine does not have addresses of that kind",
  ENOTFOUND: "no such host name",
  EAI_AGAIN: "the host name cannot be looked up",
};

function announcement(url: string, database: string): string {
  return `Incident log at ${url}\nKept in ${database}\nAdd that URL to an MCP host, or look around with: npx -p mica-workbench mica tools ${url}\nCtrl+C stops it.\n`;
}

function fail(exitCode: 1 | 2, line: string): void {
  process.stderr.write(`incidents-mcp: ${line}\n`);
  process.exitCode = exitCode;
}
