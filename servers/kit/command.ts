/** What the command of a server does: reads the command line, opens the database, serves it until it is told to stop. */
import type { Server } from "mica-mcp";
import type { Protection } from "mica-mcp/auth";
import {
  type AuthChoice,
  type CommandLine,
  type HttpOptions,
  helpOf,
  isLoopback,
  readOptions,
  UsageError,
} from "./options.js";
import { StoreError } from "./store-error.js";

export interface ServerCommand extends CommandLine {
  readonly version: string;
  /** What is announced over HTTP, e.g. `Incident log`. */
  readonly title: string;
  /**
   * Opens the database and makes the server over it. Called once, for a command line that is right: what takes time
   * to load is loaded here. A {@link StoreError} ends the command in one line.
   */
  open(database: string): Promise<Opened>;
  /** Makes what asks callers for tokens. Called once, before it listens; there where `authenticates` is. */
  authorize?(choice: AuthChoice): Promise<Authorization>;
}

export interface Authorization {
  readonly issuer: string;
  /** A command that gets a token, where the issuer gives one to everybody. */
  readonly tokenCommand?: string | undefined;
  /** What whoever starts it must not miss, in lines. */
  readonly warning?: string | undefined;
  /** Called once, when it listens: only then the port is known. */
  protect(url: string): Protection;
  close(): Promise<void>;
}

export interface Opened {
  readonly server: Server;
  /** Called when the process ends, however it ends; has taken effect when it returns. */
  close(): unknown;
}

/** Makes the lines to print once the server is there over HTTP; `authorization` is there where it asks for tokens. */
export type Announce = (
  url: string,
  database: string,
  authorization?: Pick<Authorization, "issuer" | "tokenCommand">,
) => string;

/**
 * Runs the command. What is wrong goes to stderr in one line; the exit code is then 1, or 2 for a wrong command line.
 *
 * @param argv without the names of Node and of the script
 * @param announce default: the address, the file, and what to do next
 * @example await runServerCommand(INCIDENTS, ["--http", "127.0.0.1:0", "--database", "incidents.sqlite"]);
 */
export async function runServerCommand(
  spec: ServerCommand,
  argv: readonly string[],
  announce: Announce = (url, database, authorization) =>
    announcement(spec.title, url, database, authorization),
): Promise<void> {
  try {
    await run(spec, argv, announce);
  } catch (error) {
    if (error instanceof UsageError) fail(spec, 2, `${error.message}. See ${spec.command} --help`);
    else if (error instanceof StoreError) fail(spec, 1, error.message);
    else throw error;
  }
}

async function run(spec: ServerCommand, argv: readonly string[], announce: Announce): Promise<void> {
  const options = readOptions(spec, argv, process.env);
  // Over stdio it is the protocol's, and looked after there.
  if (options.show !== undefined || options.http !== undefined) watchStdout(spec);
  if (options.show !== undefined) {
    process.stdout.write(options.show === "help" ? helpOf(spec) : `${spec.version}\n`);
    return;
  }
  const { database, http } = options;
  const opened = await spec.open(database);
  // However the process ends: closing takes effect at once, and leaves one whole file behind.
  process.once("exit", () => void opened.close());
  if (http !== undefined)
    return serveOverHttp(spec, opened.server, http, (url, authorization) =>
      announce(url, database, authorization),
    );
  const { serveStdio } = await import("mica-mcp/stdio");
  serveStdio(opened.server);
}

async function serveOverHttp(
  spec: ServerCommand,
  server: Server,
  { host, port, allowHosts, auth }: HttpOptions,
  announce: (url: string, authorization: Authorization | undefined) => string,
): Promise<void> {
  const { serveHttp } = await import("mica-mcp/http");
  const allowedHosts = allowHosts.length > 0 ? ["localhost", "127.0.0.1", "[::1]", ...allowHosts] : undefined;
  const authorization = auth && (await spec.authorize?.(auth));
  let protection: Protection | undefined;
  const running = await serveHttp(server, {
    host,
    port,
    allowedHosts,
    auth: authorization && protectionOnceKnown(() => protection!),
  }).catch((error: unknown) => {
    const reason = listenFailures[String((error as { code?: unknown }).code)];
    if (reason === undefined) throw error;
    fail(spec, 1, `Cannot listen on ${host}:${port}: ${reason}`);
  });
  if (running === undefined) return authorization?.close();
  // Nothing comes in between: requests are first read when this function waits again.
  protection = authorization?.protect(running.url);
  let signals = 0;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (++signals > 1) process.exit(signal === "SIGINT" ? 130 : 143);
    void Promise.all([running.close(), authorization?.close()]).then(() => process.exit());
  };
  // Before the announcement: whoever reads it may stop the command at once.
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  process.stdout.write(announce(running.url, authorization));
  if (authorization?.warning !== undefined) process.stderr.write(authorization.warning);
  if (!isLoopback(host) && authorization === undefined) {
    process.stderr.write(
      `Whoever can reach this address can read and write the ${spec.noun}: put a proxy that signs people in before it.\n`,
    );
  }
}

/** A reader that has read enough is no failure; a disk that is full is one. */
function watchStdout(spec: ServerCommand): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") return;
    fail(spec, 1, `Cannot write to stdout: ${error.message}`);
    process.exit();
  });
}

function protectionOnceKnown(protection: () => Protection): Protection {
  return {
    get metadata() {
      return protection().metadata;
    },
    authenticate: (credentials) => protection().authenticate(credentials),
    refuseScopes: (auth, required) => protection().refuseScopes(auth, required),
  };
}

const listenFailures: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is in use. Stop what listens there, or choose another port with --http",
  EACCES: "permission denied. Ports below 1024 are reserved: choose a higher one with --http",
  EADDRNOTAVAIL: "this machine does not have that address",
  EAFNOSUPPORT: "this machine does not have addresses of that kind",
  ENOTFOUND: "no such host name",
  EAI_AGAIN: "the host name cannot be looked up",
};

function announcement(
  title: string,
  url: string,
  database: string,
  authorization: Parameters<Announce>[2],
): string {
  const { issuer, tokenCommand } = authorization ?? {};
  const signIn = issuer === undefined ? "" : `Asks for access tokens of ${issuer}\n`;
  const token = tokenCommand === undefined ? "" : `Get one with: ${tokenCommand}\n`;
  return `${title} at ${url}\nKept in ${database}\n${signIn}${token}Add that URL to an MCP host, or look around with: npx -p mica-workbench mica tools ${url}\nCtrl+C stops it.\n`;
}

function fail({ command }: ServerCommand, exitCode: 1 | 2, line: string): void {
  process.stderr.write(`${command}: ${line}\n`);
  process.exitCode = exitCode;
}
