/** The command line of a server: where its database is, and whether it serves over stdio or HTTP. */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { AUTH_HELP, AUTH_OPTIONS, type AuthChoice, readAuth } from "./auth-options.js";
import { dataFolder } from "./data-folder.js";
import { isLoopback, LOOPBACK, UsageError } from "./usage.js";

export type { AuthChoice } from "./auth-options.js";
export { isLoopback, UsageError } from "./usage.js";

/** What the command lines of two servers differ in. */
export interface CommandLine {
  /** Name of the command and of its data folder, e.g. `incidents-mcp`. */
  readonly command: string;
  /** What it serves, e.g. `an incident log`. */
  readonly serves: string;
  /** What that is called from then on, e.g. `log`. */
  readonly noun: string;
  /** Where nobody names a database: the file in the data folder, e.g. `incidents.sqlite`. */
  readonly databaseFile: string;
  /** The environment variable that names the database, e.g. `INCIDENTS_DATABASE`. */
  readonly databaseVariable: string;
  /** Where `--http` names none, e.g. 8931. */
  readonly port: number;
  /** A host name to show in messages, e.g. `incidents.example.com`. */
  readonly exampleHost: string;
  /** Whether `--auth` is there: whether callers over HTTP can be asked who they are. */
  readonly authenticates?: boolean | undefined;
}

export interface HttpOptions {
  readonly host: string;
  readonly port: number;
  /** Host names that requests may bear besides those of the loopback. */
  readonly allowHosts: readonly string[];
  /** Undefined: whoever reaches the address is served. */
  readonly auth: AuthChoice | undefined;
}

export type Options =
  | { readonly show: "help" | "version" }
  | { readonly show?: undefined; readonly database: string; readonly http: HttpOptions | undefined };

/** What `--help` prints. */
export function helpOf(spec: CommandLine): string {
  const { command, serves, noun, databaseVariable, port } = spec;
  return `${command}: ${serves} as an MCP server

Usage: ${command} [options]

Serves one client on stdin and stdout, or with --http any number of them.

  --database FILE      where the ${noun} is kept; made if missing
  --http [HOST:PORT]   serve at http://HOST:PORT/mcp (default ${LOOPBACK}:${port}; port 0 takes any free one)
  --allow-host NAME    host name by which clients may call over HTTP; repeat it for more
${spec.authenticates ? AUTH_HELP : ""}  --help               show this
  --version            show the version

Environment:
  ${databaseVariable.padEnd(20)} the file, where --database does not name one
`;
}

/**
 * Reads the command line, which beats the environment.
 *
 * @throws UsageError
 * @example readOptions(INCIDENTS, ["--http", "[::1]:9000"], {})
 */
export function readOptions(spec: CommandLine, argv: readonly string[], env: NodeJS.ProcessEnv): Options {
  const values = parse(spec, argv);
  if (values.help) return { show: "help" };
  if (values.version) return { show: "version" };
  const http = values.http === undefined ? undefined : readAddress(values.http, spec.port);
  const allowHosts = values["allow-host"] ?? [];
  if (http === undefined && allowHosts.length > 0)
    throw new UsageError("--allow-host has no meaning without --http");
  for (const host of allowHosts) {
    if (!/^(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.test(host)) {
      throw new UsageError(
        `--allow-host expects a host name such as ${spec.exampleHost}, got ${JSON.stringify(host)}`,
      );
    }
  }
  if (http !== undefined && !isLoopback(http.host) && allowHosts.length === 0) {
    throw new UsageError(
      `--http ${http.host}:${http.port} can be reached from other machines: name the host by which they call, with --allow-host ${spec.exampleHost}`,
    );
  }
  const auth = readAuth(spec.exampleHost, http, values);
  return { database: databaseOf(spec, values.database, env), http: http && { ...http, allowHosts, auth } };
}

function parse({ port, authenticates }: CommandLine, argv: readonly string[]) {
  try {
    return parseArgs({
      args: withAddress(argv, port),
      options: {
        database: { type: "string" },
        http: { type: "string" },
        "allow-host": { type: "string", multiple: true },
        // Where they are not there, the parser says so.
        ...((authenticates ? AUTH_OPTIONS : {}) as typeof AUTH_OPTIONS),
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
function withAddress(argv: readonly string[], port: number): string[] {
  return argv.flatMap((arg, index) => {
    const next = argv[index + 1];
    return arg === "--http" && (next === undefined || next.startsWith("-"))
      ? [`--http=${LOOPBACK}:${port}`]
      : [arg];
  });
}

function readAddress(text: string, defaultPort: number): { host: string; port: number } {
  const match = /^(?:(\[[0-9a-f:.]+\]|[a-z0-9._-]+)?:)?(\d{1,5})$|^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)$/i.exec(
    text,
  );
  const port = Number(match?.[2] ?? defaultPort);
  if (match === null || port > 65535) {
    throw new UsageError(
      `--http expects HOST:PORT, such as ${LOOPBACK}:${defaultPort} or [::1]:${defaultPort}, got ${JSON.stringify(text)}`,
    );
  }
  return { host: (match[1] ?? match[3] ?? LOOPBACK).toLowerCase(), port };
}

function databaseOf(spec: CommandLine, given: string | undefined, env: NodeJS.ProcessEnv): string {
  if (given !== undefined) return checkFile("--database", given);
  const named = env[spec.databaseVariable];
  if (named) return checkFile(spec.databaseVariable, named);
  return join(dataFolder(spec.command, { env }), spec.databaseFile);
}

/** SQLite would take these for a database in memory, which is gone when the process ends. */
function checkFile(from: string, file: string): string {
  if (file === "" || file === ":memory:" || file.startsWith("file:")) {
    throw new UsageError(`${from} expects the path of a file, got ${JSON.stringify(file)}`);
  }
  return resolve(file);
}
