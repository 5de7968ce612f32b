/** The command line of `incidents-mcp`. */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { dataFolder } from "./data-folder.js";

export const HELP = `incidents-mcp: an incident log as an MCP server

Usage: incidents-mcp [options]

Serves one client on stdin and stdout, or with --http any number of them.

  --database FILE      where the log is kept; made if missing
  --http [HOST:PORT]   serve at http://HOST:PORT/mcp (default 127.0.0.1:8931; port 0 takes any free one)
  --allow-host NAME    host name by which clients may call over HTTP; repeat it for more
  --help               show this
  --version            show the version

Environment:
  INCIDENTS_DATABASE   the file, where --database does not name one
`;

export interface HttpOptions {
  readonly host: string;
  readonly port: number;
  /** Host names that requests may bear besides those of the loopback. */
  readonly allowHosts: readonly string[];
}

export type Options =
  | { readonly show: "help" | "version" }
  | { readonly show?: undefined; readonly database: string; readonly http: HttpOptions | undefined };

/** The command line was wrong: the message says what, in one line. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const LOOPBACK = "127.0.0.1";
const PORT = 8931;

/**
 * Reads the command line, which beats the environment.
 *
 * @throws UsageError
 * @example readOptions(["--http", "[::1]:9000"], {})
 */
export function readOptions(argv: readonly string[], env: NodeJS.ProcessEnv): Options {
  const values = parse(argv);
  if (values.help) return { show: "help" };
  if (values.version) return { show: "version" };
  const http = values.http === undefined ? undefined : readAddress(values.http);
  const allowHosts = values["allow-host"] ?? [];
  if (http === undefined && allowHosts.length > 0)
    throw new UsageError("--allow-host has no meaning without --http");
  for (const host of allowHosts) {
    if (!/^(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.test(host)) {
      throw new UsageError(
        `--allow-host expects a host name such as incidents.example.com, got ${JSON.stringify(host)}`,
      );
    }
  }
  if (http !== undefined && !isLoopback(http.host) && allowHosts.length === 0) {
    throw new UsageError(
      `--http ${http.host}:${http.port} can be reached from other machines: name the host by which they call, with --allow-host incidents.example.com`,
    );
  }
  return { database: databaseFile(values.database, env), http: http && { ...http, allowHosts } };
}

/** Whether an address is one of this machine alone. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(host);
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: withAddress(argv),
      options: {
        database: { type: "string" },
        http: { type: "string" },
        "allow-host": { type: "string", multiple: true },
        help: { type: "boolean", short: "h" },
        version: { type: "boolean" },
      },
    }).values;
  } catch (error) {
    // The rest of its message explains positional arguments, of which there are none here.
    throw new UsageError(String((error as Error).message).split(/\. |\n/)[0]);
  }
}

/** The value of `--http` may be left out, which the parser does not know. */
function withAddress(argv: readonly string[]): string[] {
  return argv.flatMap((arg, index) => {
    const next = argv[index + 1];
    return arg === "--http" && (next === undefined || next.startsWith("-"))
      ? [`--http=${LOOPBACK}:${PORT}`]
      : [arg];
  });
}

function readAddress(text: string): { host: string; port: number } {
  const match = /^(?:(\[[0-9a-f:.]+\]|[a-z0-9._-]+)?:)?(\d{1,5})$|^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)$/i.exec(
    text,
  );
  const port = Number(match?.[2] ?? PORT);
  if (match === null || port > 65535) {
    throw new UsageError(
      `--http expects HOST:PORT, such as 127.0.0.1:8931 or [::1]:8931, got ${JSON.stringify(text)}`,
    );
  }
  return { host: (match[1] ?? match[3] ?? LOOPBACK).toLowerCase(), port };
}

function databaseFile(given: string | undefined, env: NodeJS.ProcessEnv): string {
  if (given !== undefined) return checkFile("--database", given);
  const named = env["INCIDENTS_DATABASE"];
  if (named) return checkFile("INCIDENTS_DATABASE", named);
  return join(dataFolder("incidents-mcp", { env }), "incidents.sqlite");
}

/** SQLite would take these for a database in memory, which is gone when the process ends. */
function checkFile(from: string, file: string): string {
  if (file === "" || file === ":memory:" || file.startsWith("file:")) {
    throw new UsageError(`${from} expects the path of a file, got ${JSON.stringify(file)}`);
  }
  return resolve(file);
}
