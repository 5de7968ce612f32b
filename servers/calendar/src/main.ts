/** What `calendar-mcp` does: reads the command line, opens the calendar, serves it until it is told to stop. */
import type { Server } from "mica-mcp";
import manifest from "../package.json" with { type: "json" };
import { DatabaseError } from "./database-errors.js";
import { HELP, type HttpOptions, isLoopback, readOptions, UsageError } from "./options.js";

/**
 * Runs the command. What is wrong goes to stderr in one line; the exit code is then 1, or 2 for a wrong command line.
 *
 * @param argv without the names of Node and of the script
 * @example await main(["--http", "127.0.0.1:0", "--database", "calendar.sqlite"]);
 */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    await run(argv);
  } catch (error) {
    if (error instanceof UsageError) fail(2, `${error.message}. See calendar-mcp --help`);
    else if (error instanceof DatabaseError) fail(1, error.message);
    else throw error;
  }
}

async function run(argv: readonly string[]): Promise<void> {
  const options = readOptions(argv, process.env);
  if (options.show !== undefined) {
    process.stdout.write(options.show === "help" ? HELP : `${manifest.version}\n`);
    return;
  }
  // Loaded only now, so that the above and a wrong command line are answered at once.
  const [{ createCalendar }, { openStore }] = await Promise.all([
    import("./server.js"),
    import("./store.js"),
  ]);
  const { database, http } = options;
  const store = openStore(database);
  // However the process ends: closing takes effect at once, and leaves one whole file behind.
  process.once("exit", () => void store.close());
  const server = createCalendar({ store, version: manifest.version });
  if (http !== undefined) return serveOverHttp(server, http, database);
  const { serveStdio } = await import("mica-mcp/stdio");
  serveStdio(server);
}

async function serveOverHttp(server: Server, options: HttpOptions, database: string): Promise<void> {
  const { serveHttp } = await import("mica-mcp/http");
  const { host, port, allowHosts } = options;
  const allowedHosts = allowHosts.length > 0 ? ["localhost", "127.0.0.1", "[::1]", ...allowHosts] : undefined;
  const running = await serveHttp(server, { host, port, allowedHosts }).catch((error: unknown) => {
    const reason = listenFailures[String((error as { code?: unknown }).code)];
    if (reason === undefined) throw error;
    fail(1, `Cannot listen on ${host}:${port}: ${reason}`);
  });
  if (running === undefined) return;
  process.stdout.write(announcement(running.url, database));
  if (!isLoopback(host)) {
    process.stderr.write(
      "Whoever can reach this address can read and write the calendar: put a proxy that signs people in before it.\n",
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
  return `Calendar at ${url}\nKept in ${database}\nAdd that URL to an MCP host, or look around with: npx -p mica-workbench mica tools ${url}\nCtrl+C stops it.\n`;
}

function fail(exitCode: 1 | 2, line: string): void {
  process.stderr.write(`calendar-mcp: ${line}\n`);
  process.exitCode = exitCode;
}
